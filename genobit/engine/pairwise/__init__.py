"""From a product to a result: the blocks of a statistic become a matrix, a band or a table.

A statistic is data: its planes and its epilogue. May import: `gemm`, `bits`, `simd`.
"""
