"""Compute on the active dask scheduler: with a progress bar, or seeing results as they complete.

Callbacks are passed to the call they count. Callbacks in dask's ``Callback.active`` belong to the
process: they receive the tasks of all threads, and a thread that computes removes them for all
others.

dask owns the threads, so `one_blas_thread` limits BLAS to one thread inside tasks.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask
from dask import base, local, multiprocessing, threaded
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed

from genobit.engine.progress import bar, in_kernel, wanted, within
from genobit.engine.schedule.dask_private import forget_threads

if TYPE_CHECKING:
    from collections.abc import Sequence


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


_lock = threading.Lock()
_tasks = 0
"""Number of tasks inside `one_blas_thread`."""
_limit: Any = None
"""The threadpoolctl limit, which restores the previous one."""


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while any task is inside, in any thread.

    With several BLAS threads, tasks wait for each other and spin. Products of a randomized PCA in
    two threads took seven times the processor time (OpenBLAS 0.3.31, two busy cores). The limit
    belongs to the process, so the first task sets it and the last one restores it. A limit that a
    user has set with threadpoolctl stays.
    """
    global _tasks  # noqa: PLW0603 - as the limit, of the process
    with _lock:
        if not _tasks:
            _alone(_set)
        _tasks += 1
    try:
        yield
    finally:
        with _lock:
            _tasks -= 1
            if not _tasks:
                _alone(_restore)


def _alone(function: Callable[[], None]) -> None:
    """Call a function in a new thread and join it.

    threadpoolctl ignores other limits while the thread that set one is alive.
    """
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def _set() -> None:
    global _limit  # noqa: PLW0603
    from threadpoolctl import threadpool_limits

    _limit = threadpool_limits(1, user_api="blas")


def _restore() -> None:
    _limit.restore_original_limits()


def _forked() -> None:
    """Reset counts and pools in a forked child, which has none of the parent's threads."""
    global _lock, _tasks
    forget_threads()
    _lock, _tasks = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
