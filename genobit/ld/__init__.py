"""Linkage disequilibrium: matrix, band, pairs, prune, clump, score, blocks, decay, sites.

`methods` holds the accessor's methods, `kernels` the compiled statistics.
May import: `visual`, `io`, `data` and the engine.
"""
