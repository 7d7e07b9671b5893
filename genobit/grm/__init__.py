"""Relationship matrices, kinship, identity by state, unrelated samples and cross products.

`methods` holds the accessor's methods, `kernels` the compiled sums.
May import: `visual`, `io`, `data` and the engine; the explorer also `pca`.
"""
