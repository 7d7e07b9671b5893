"""dask graphs that analyses share: tiles, batches, sums, checkpoints, costs and layer names.

Tasks call kernels. dask manages the threads. May import: the rest of the engine, dask.
"""

from __future__ import annotations

import os
import threading

from dask import threaded


def _forget_threads() -> None:
    """Let dask make a new pool in a forked child.

    The child inherits dask's pool without its threads, and would wait for them forever.
    """
    threaded.default_pool = None
    threaded.pools.clear()
    threaded.pools_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
