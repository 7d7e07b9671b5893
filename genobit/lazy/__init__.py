"""Graphs of work: packing by chunk, tiles of a triangle, bands.

May import: dask, numpy, `packing`, `kernels`. No xarray, no arithmetic on genotypes.
"""
