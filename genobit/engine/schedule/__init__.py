"""dask graphs that analyses share: tiles, passes, sums, checkpoints, costs and layer names.

Kernels run in its tasks, and threads belong to dask. May import: the rest of the engine, dask.
"""

from genobit.engine.schedule import forks  # noqa: F401  a forked child needs threads of its own
