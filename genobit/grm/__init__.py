"""Relationship matrices, KING, identity by state, relatives, unrelated sets, cross products.

`methods` has the accessor's methods, `kernels` the compiled sums.
May import: `visual`, `io`, `data` and the engine; the explorer also `pca`.
"""
