"""Similarity of binary rows: Tanimoto (Jaccard) and Hamming, and nearest neighbours.

May import: `data` and the engine.
"""
