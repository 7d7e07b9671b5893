"""Rank correlation of all pairs of variables, and the network of strong pairs.

`methods` has the accessor's methods, `kernels` the ways to score pairs.
May import: `visual`, `io`, `data` and the engine.
"""
