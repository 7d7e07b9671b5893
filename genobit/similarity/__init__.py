"""Similarity of binary rows: Tanimoto, Hamming and others.

May import: `visual`, `io`, `data` and the engine.
"""
