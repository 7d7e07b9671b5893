"""Similarity of binary rows: Tanimoto, Hamming and others.

`methods` holds the accessor's method, `measures` the definitions.
May import: `data` and the engine.
"""
