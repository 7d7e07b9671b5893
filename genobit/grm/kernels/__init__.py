"""Compiled kernels of relationships: sums, missing calls, kinship, cross products.

May import: the engine.
"""
