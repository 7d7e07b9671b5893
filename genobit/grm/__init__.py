"""Relationship matrices, kinship, identity by state, unrelated samples and cross products.

May import: `visual`, `io`, `data` and the engine; the explorer also `pca`.
"""
