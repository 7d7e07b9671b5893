"""``dask.compute`` with a progress bar for computations of more than a second.

Callbacks go to the one call they count: those in dask's ``Callback.active`` hear of the tasks of
all threads of the process.
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
    """Compute as `dask.compute` does, with a bar of its tasks unless one is shown already."""
    with counting(*collections) as callbacks:
        found: tuple[Any, ...] = base.compute(*collections, **callbacks, **settings)
    return found


@contextlib.contextmanager
def counting(*collections: Any) -> Any:
    """Show a bar of the tasks of the call that is given the arguments yielded."""
    # What an explorer computes on a thread of its own shows in the explorer.
    main = threading.current_thread() is threading.main_thread()
    # Beside collections `dask.compute` takes what is in memory.
    lazy = [x for x in collections if base.is_dask_collection(x)]
    local_scheduler = base.get_scheduler(collections=lazy) in TELLING
    if within() or not (main and wanted() and local_scheduler):
        yield {}
        return
    with _Count() as count:
        # Those of the user, such as a profiler, are told too, once there is a bar.
        yield {"callbacks": [(None, count.start, None, count.task, count.end), *Callback.active]}


class _Count(contextlib.ExitStack):
    """A bar of the tasks of one call of a scheduler."""

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
