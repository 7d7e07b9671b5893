"""SIMD vectors for numba, the jit decorator with its compile cache, and plain-Python twins.

Each operation has a twin in numpy, for tests and for `NUMBA_DISABLE_JIT=1`.
May import: numba, llvmlite.
"""
