"""One thread for the products of numpy inside of tasks: the threads are dask's."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_tasks = 0
"""Tasks that are multiplying."""
_limit: Any = None
"""What takes the limit back."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while any task is inside, in any thread.

    With threads of its own BLAS makes tasks wait for each other and spin: products of a randomized
    PCA in two threads took seven times the processor time (OpenBLAS 0.3.31, two busy cores). The
    limit is of the process, so the first task sets it and the last one restores it. A limit that a
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
    """Call a function in a thread that ends with it.

    As long as the thread lives that set a limit, threadpoolctl ignores all others.
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
    """Forget the tasks of the parent, whose threads a child does not have."""
    global _lock, _tasks
    _lock, _tasks = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
