"""Compiled: inner products and epilogues.

May import: the engine.
"""
