"""Kernels that count Kendall scores and turn them into coefficients and p-values.

May import: the engine.
"""
