"""dask graphs of this analysis alone.

May import: the kernels, the engine.
"""
