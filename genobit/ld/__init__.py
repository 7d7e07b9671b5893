"""Linkage disequilibrium: matrix, band, pairs, prune, clump, score, blocks, decay, sites.

May import: `visual`, `io`, `data` and the engine.
"""
