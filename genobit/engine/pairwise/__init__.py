"""Turn blocks of matrix products into a statistic: a matrix, a band or a table.

A statistic is defined by its planes and its epilogue. May import: `gemm`, `bits`, `simd`.
"""
