"""dask graphs that analyses share: tiles, passes, sums, checkpoints, costs and layer names.

Tasks call kernels. dask owns the threads. May import: the rest of the engine, dask.
"""

from genobit.engine.schedule import forks  # noqa: F401  a forked child needs threads of its own
