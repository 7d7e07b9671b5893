"""The engine: bit planes, matrix products over them, and the dask schedule.

Functions take arrays and return arrays. The engine knows no xarray, no labels and no analysis.

May import: numpy, numba, dask.
"""
