"""Dask graphs of parsimony: tree searches in steps, and numbers of sites.

May import: the kernels, the engine.
"""
