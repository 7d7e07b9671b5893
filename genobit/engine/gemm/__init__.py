"""Matrix products over planes, one file per kernel family: popcount, lookup, Four Russians, scalar.

`products` chooses the family by CPU, product and shape. May import: `bits`, `simd`, `options`.
"""
