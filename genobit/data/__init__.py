"""Names of dimensions and variables, labels, checks, packed Datasets, windows, size limits.

This folder defines valid Datasets and which analyses apply to them.

May import: the engine, xarray.
"""
