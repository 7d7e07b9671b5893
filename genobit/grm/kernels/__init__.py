"""Compiled kernels: inner products and epilogues.

May import: the engine.
"""
