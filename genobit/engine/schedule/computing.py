"""``dask.compute`` with a progress bar for computations of more than a second.

Callbacks are passed to the call they count. Callbacks in dask's ``Callback.active`` receive the
tasks of all threads of the process.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from dask import base
from dask.callbacks import Callback  # noqa: TID251 - hands on what the user has set

from genobit.engine.progress import bar, wanted, within
from genobit.engine.schedule.as_completed import TELLING


def compute(*collections: Any, **settings: Any) -> tuple[Any, ...]:
    """Compute as `dask.compute` does, with a progress bar unless one is already shown."""
    with counting(*collections) as callbacks:
        found: tuple[Any, ...] = base.compute(*collections, **callbacks, **settings)
    return found


@contextlib.contextmanager
def counting(*collections: Any) -> Any:
    """Yield keyword arguments for a dask call, which show a bar of its tasks."""
    # Explorers compute on threads of their own and show progress themselves.
    main = threading.current_thread() is threading.main_thread()
    # `dask.compute` also takes arrays in memory.
    lazy = [x for x in collections if base.is_dask_collection(x)]
    local_scheduler = base.get_scheduler(collections=lazy) in TELLING
    if within() or not (main and wanted() and local_scheduler):
        yield {}
        return
    with _Count() as count:
        # An explicit list replaces Callback.active, so add the user's callbacks (a profiler).
        yield {"callbacks": [(None, count.start, None, count.task, count.end), *Callback.active]}


class _Count(contextlib.ExitStack):
    """Progress bar of the tasks of one scheduler call."""

    steps: Any = None

    def start(self, _graph: Any, state: Any) -> None:
        total = len(state["ready"]) + len(state["waiting"])
        shown = bar(progress=None, leave=False, total=total, desc="computing", unit="task")
        self.steps = self.enter_context(shown)

    def task(self, *_: Any) -> None:
        self.steps.update()

    def end(self, _graph: Any, _state: Any, failed: bool) -> None:  # noqa: FBT001 - dask's call
        if not failed:
            self.steps.update(self.steps.total - self.steps.n)
