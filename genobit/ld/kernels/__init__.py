"""Compiled kernels of LD: statistics of pairs, windows, blocks and comparisons.

May import: the engine.
"""
