"""From products to results: the blocks of a statistic become a matrix, a band or a table.

A statistic is its planes and its epilogue. May import: `gemm`, `bits`, `simd`.
"""
