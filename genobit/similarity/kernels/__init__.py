"""Compiled kernels of similarity: measures of pairs of rows, and the nearest neighbours.

May import: the engine.
"""
