"""SIMD vectors for numba, the jit decorator with its compile cache, and numpy twins.

Each instruction has a twin in numpy, for tests and for `NUMBA_DISABLE_JIT=1`.

May import: numba, llvmlite.
"""
