"""Writers of genotypes: PLINK 1 filesets and VCF Zarr stores.

May import: `io` itself, `io.kernels`, `data` and `engine`.
"""
