"""Similarity of binary rows: Tanimoto, Hamming and others.

May import: `data` and the engine.
"""
