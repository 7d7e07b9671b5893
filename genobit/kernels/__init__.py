"""Kernels: numpy arrays in, numpy arrays out, on one thread and without the GIL.

May import: numpy, `simd`, `cpu`, `_jit`, `options`. No xarray, no dask.
"""
