"""Compiled kernels: inner products and the statistics computed from them.

May import: the engine.
"""
