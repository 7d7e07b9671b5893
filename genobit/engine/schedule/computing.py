"""Compute on the active dask scheduler: with a progress bar, or seeing results as they complete.

Callbacks are passed to the call they count. Callbacks in dask's ``Callback.active`` belong to the
process: they receive the tasks of all threads, and a thread that computes removes them for all
others.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask
from dask import base, local, multiprocessing, threaded
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed

from genobit.engine.progress import bar, in_kernel, wanted, within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TELLING = {threaded.get, local.get_sync, multiprocessing.get}
"""Schedulers that accept callbacks."""


def in_this_process(*collections: Any) -> bool:
    """Return whether the active scheduler runs tasks as threads of this process."""
    return base.get_scheduler(collections=collections) in {None, threaded.get, local.get_sync}


def threads() -> int:
    """Return how many tasks the active scheduler runs at a time, here or on a cluster."""
    scheduler: Any = base.get_scheduler()
    client: Any = getattr(scheduler, "__self__", None)
    if hasattr(client, "nthreads"):
        return max(1, sum(client.nthreads().values()))
    if scheduler is local.get_sync:
        return 1
    pool = dask.config.get("pool", None)
    # A ThreadPoolExecutor has no public name for its size.
    known = dask.config.get("num_workers", None) or getattr(pool, "_max_workers", None)
    return int(known or dask.system.CPU_COUNT or 1)


def client_of() -> Any:
    """Return the client of the active cluster, or None."""
    client: Any = getattr(base.get_scheduler(), "__self__", None)
    return client if hasattr(client, "scatter") else None


def shared(value: Any) -> Delayed:
    """Return a value that many tasks take as a task; a cluster gets it once.

    The scheduler of the cluster keeps the task, so a lost worker's copy is made again. Data from
    ``client.scatter`` would be lost with their workers, and cancel all tasks that take them.
    """
    task = delayed(value, traverse=False, name=f"genobit-shared-{uuid4().hex}")
    client = client_of()
    if client is None:
        return task
    # The warning advises what is done here.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": 2**63}):
        sent: Delayed = client.persist(task)
    return sent


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
    """Progress bar of the tasks of one scheduler call; with ``leave`` it stays at the end."""

    steps: Any = None

    def __init__(self, *, leave: bool = False) -> None:
        super().__init__()
        self._leave = leave

    def start(self, _graph: Any, state: Any) -> None:
        total = len(state["ready"]) + len(state["waiting"])
        shown = bar(progress=None, leave=self._leave, total=total, desc="computing", unit="task")
        self.steps = self.enter_context(shown)

    def task(self, *_: Any) -> None:
        self.steps.update()

    def end(self, _graph: Any, _state: Any, failed: bool) -> None:  # noqa: FBT001 - dask's call
        if not failed:
            self.steps.update(self.steps.total - self.steps.n)


class TaskBars:
    """A progress bar for each scheduler call of the main thread, between `begin` and `end`.

    ``asked()`` says whether to show a call's bar. A distributed cluster calls no such callbacks;
    use `dask.distributed.progress` there.
    """

    def __init__(self, asked: Callable[[], bool]) -> None:
        self._asked, self._active = asked, False
        self._counts: dict[int, _Count] = {}
        self._callbacks = (None, self._start, None, self._task, self._end)

    def begin(self, *_: Any) -> None:
        """Start watching dask's computations."""
        self._active = True
        # Add it each time: a computation in another thread may have set the callbacks aside.
        Callback.active.add(self._callbacks)

    def end(self, *_: Any) -> None:
        """Stop watching dask's computations."""
        self._active = False
        Callback.active.discard(self._callbacks)

    def _start(self, graph: Any, state: Any) -> None:
        main = threading.current_thread() is threading.main_thread()
        # A method with its own bar needs no second one.
        if main and self._active and self._asked() and not within():
            # A kernel hides finished bars, because a method may compute many passes.
            count = self._counts[id(state)] = _Count(leave=not in_kernel())
            count.start(graph, state)

    def _task(self, _key: Any, _result: Any, _graph: Any, state: Any, _worker: Any) -> None:
        if id(state) in self._counts:
            self._counts[id(state)].task()

    def _end(self, graph: Any, state: Any, failed: bool) -> None:  # noqa: FBT001 - dask's call
        count = self._counts.pop(id(state), None)
        if count is not None:
            with count:
                count.end(graph, state, failed)


def as_completed(
    tasks: Sequence[Delayed], see: Callable[[Any, Any], None], last: Delayed | None = None
) -> None:
    """Compute tasks, and call ``see(key, result)`` once for each, in this thread.

    An error in ``see`` ends the computation. ``last`` is a task that depends on all others; with
    it, local schedulers hold no other result.
    """
    watched, seen = {task.key for task in tasks}, set()

    def once(key: Any, result: Any, *_: Any) -> None:
        if key in watched and key not in seen:
            seen.add(key)
            see(key, result)

    client = client_of()
    if client is not None:
        import distributed

        for future, result in distributed.as_completed(
            client.compute(list(tasks)), with_results=True
        ):
            if isinstance(result, BaseException):  # of a cancelled future
                raise result
            once(future.key, result)
        return
    telling = base.get_scheduler(collections=tasks) in TELLING
    asked = list(tasks) if last is None or not telling else [last]
    # Keep the user's callbacks, such as a progress bar.
    callbacks = [*Callback.active, (None, None, None, once, None)]
    results = base.compute(*asked, **({"callbacks": callbacks} if telling else {}))
    for task, result in zip(asked, results, strict=True):
        once(task.key, result)
