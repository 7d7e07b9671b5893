"""Compiled kernels of parsimony: Fitch and Hartigan passes, branch swapping, branch and bound.

May import: the engine; `data.topology`, which needs numpy only.
"""
