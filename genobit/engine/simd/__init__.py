"""SIMD vectors for numba, the jit decorator with its compile cache, and numpy twins for tests.

Each instruction has a numpy twin, which also runs with `NUMBA_DISABLE_JIT=1`. May import: numba,
llvmlite.
"""
