"""Limit BLAS to one thread inside tasks, since dask owns the threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_tasks = 0
"""Number of tasks inside `one_blas_thread`."""
_limit: Any = None
"""The threadpoolctl limit, which restores the previous one."""


@contextmanager
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
    """Reset the count in a forked child, which has none of the parent's threads."""
    global _lock, _tasks
    _lock, _tasks = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
