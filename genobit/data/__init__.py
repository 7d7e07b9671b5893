"""Names of dimensions and variables, labels, checks, packed Datasets, windows, size limits.

It says what a Dataset must look like, and which analyses apply to it.
May import: the engine, xarray.
"""
