"""Compiled kernels of the epistasis search: contingency tables, bounds and scores.

May import: the engine.
"""
