"""dask graphs that analyses share: tiles, batches, sums, checkpoints, costs and layer names.

Tasks call kernels. dask manages the threads. May import: the rest of the engine, dask.
"""
