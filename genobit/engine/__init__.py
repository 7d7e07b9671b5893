"""The engine: bit planes, matrix products over them, and the dask schedule.

Arrays in, arrays out; no xarray, labels or analysis. May import: numpy, numba, dask.
"""
