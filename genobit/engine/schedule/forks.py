"""Let a forked process compute with its own threads.

dask keeps one thread pool for the process. A forked child inherits the pool without its threads,
and would wait for them forever.
"""

from __future__ import annotations

import os
import threading

from dask import threaded


def _forget_threads() -> None:
    """Let dask make a new pool in this process."""
    threaded.default_pool = None
    threaded.pools.clear()
    threaded.pools_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
