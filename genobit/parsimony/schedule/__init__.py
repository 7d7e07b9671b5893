"""Dask graphs of parsimony: tree searches in steps.

May import: the kernels, the engine.
"""
