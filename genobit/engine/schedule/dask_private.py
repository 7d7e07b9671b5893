"""The private names of dask: no other file uses them.

dask converts tasks of every other form to those of ``dask._task_spec``, which takes longer than to
make them. If a new dask moves them, this import fails, and its names are to be given anew here.
"""

from __future__ import annotations

import threading

from dask import threaded
from dask._task_spec import DataNode, List, Task, TaskRef

__all__ = ["DataNode", "List", "Task", "TaskRef", "forget_threads"]


def forget_threads() -> None:
    """Let dask make a new pool in a forked child.

    The child inherits dask's pool without its threads, and would wait for them forever.
    """
    threaded.default_pool = None
    threaded.pools.clear()
    threaded.pools_lock = threading.Lock()
