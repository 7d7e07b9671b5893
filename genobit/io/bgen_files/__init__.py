"""BGEN files: their header, the labels of their variants, .sample files, and lazy calls.

`genobit.io.bgen` is public. May import: `io.kernels`, `data`, the engine; bgen.
"""
