"""Results of tasks as they complete, on any active dask scheduler.

Each callback is passed to one call of ``compute``. Callbacks in dask's ``Callback.active`` belong
to the process: a thread that computes removes them for all other threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dask import local, multiprocessing, threaded
from dask.base import compute, get_scheduler
from dask.callbacks import Callback

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dask.delayed import Delayed

TELLING = {threaded.get, local.get_sync, multiprocessing.get}
"""Schedulers that accept callbacks."""


def client_of() -> Any:
    """Return the client of the active cluster, or None."""
    client: Any = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "scatter") else None


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
            once(future.key, result)
        return
    telling = get_scheduler(collections=tasks) in TELLING
    asked = list(tasks) if last is None or not telling else [last]
    # Keep the user's callbacks, such as a progress bar.
    callbacks = [*Callback.active, (None, None, None, once, None)]
    results = compute(*asked, **({"callbacks": callbacks} if telling else {}))
    for task, result in zip(asked, results, strict=True):
        once(task.key, result)
