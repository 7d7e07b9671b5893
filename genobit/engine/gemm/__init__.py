"""The product over planes, one file for each family: popcount, lookup, Four Russians, scalar.

`products` chooses the family by CPU, product and shape. May import: `bits`, `simd`.
"""
