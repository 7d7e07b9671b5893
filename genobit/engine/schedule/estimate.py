"""The estimate of a call: time, tasks and memory, before anything is computed."""

from __future__ import annotations

import html
from dataclasses import dataclass

from genobit.engine.options import in_units
from genobit.engine.schedule.costs import duration


@dataclass(frozen=True)
class Estimate:
    """Estimated time, tasks and memory of a call.

    The methods of ``ds.genobit.estimate`` and ``da.genobit.estimate`` return it.

    Attributes
    ----------
    what
        Description of the work, such as "1,225 combinations".
    seconds
        Duration on ``workers`` threads, without compilation and without reading files.
    workers
        Threads of this machine or of the active cluster that have work.
    tasks
        Number of dask tasks. For a search, number of units of work.
    memory
        Bytes of memory while the call is computed, without the result.
    result
        Bytes of the result; 0 if its size depends on the data.
    disk
        Bytes of temporary files.
    details
        Further lines, such as tile sizes or kernels with their costs.

    Examples
    --------
    >>> Estimate("1,225 combinations", 0.5, 2, 3, 2**20, 4096)
    1,225 combinations
      time    0.5 s on 2 threads
      tasks   3
      memory  1.0 MiB
      result  4.0 KiB
    """

    what: str
    seconds: float
    workers: int
    tasks: int
    memory: int
    result: int = 0
    disk: int = 0
    details: tuple[str, ...] = ()

    @property
    def rows(self) -> dict[str, str]:
        """Time, tasks, memory and size of the result as text, by name."""
        threads = f"{self.workers:,} thread{'' if self.workers == 1 else 's'}"
        return {
            "time": f"{duration(self.seconds)} on {threads}",
            "tasks": f"{self.tasks:,}",
            "memory": in_units(self.memory),
            "result": in_units(self.result) if self.result else "depends on the data",
            **({"disk": in_units(self.disk)} if self.disk else {}),
        }

    def __repr__(self) -> str:
        """List the figures, one a line."""
        lines = [f"{name:<6}  {text}" for name, text in self.rows.items()]
        return "\n  ".join([self.what, *lines, *self.details])

    def _repr_html_(self) -> str:
        """Return the figures as a table."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in self.rows.items()
        )
        details = html.escape("\n".join(self.details))
        below = f"<pre>{details}</pre>" if details else ""
        return f"<p><b>{html.escape(self.what)}</b></p><table>{rows}</table>{below}"
