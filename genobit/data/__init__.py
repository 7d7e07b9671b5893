"""Names of dimensions and variables, labels, checks, packed Datasets, windows, size limits.

These modules decide which Datasets are valid and which analyses apply. May import: the engine,
xarray.
"""
