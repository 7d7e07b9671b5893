"""Graphs of work: packing by chunk, tiles of a triangle, bands.

May import: dask, numpy, `packing`, `kernels`. No xarray, no arithmetic on genotypes.
"""

from genobit.engine.schedule import forks  # noqa: F401  every graph of this package may run in a forked child
