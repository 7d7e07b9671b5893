"""The engine: bit planes, matrix products over them, and the dask schedule.

Functions take and return arrays, without xarray, labels or analyses. May import: numpy, numba,
dask.
"""
