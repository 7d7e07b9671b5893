"""Writers of genotypes: PLINK 1 and 2 filesets, VCF files and VCF Zarr stores.

May import: `io` itself, `io.kernels`, `data` and `engine`.
"""
