"""Matrix products over planes, one file per kernel family.

The families are matrix unit, popcount, lookup, Four Russians and scalar.
`products` chooses the family by CPU, product and shape. May import: `bits`, `simd`, `options`.
"""
