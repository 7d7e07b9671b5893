"""The engine: bit planes, products over them, and their schedule.

Arrays in, arrays out. It knows no xarray, no labels and no analysis.
May import: numpy, numba, dask.
"""
