"""Rank correlation of all pairs of variables, and the network of strong pairs.

May import: `visual`, `io`, `data` and the engine.
"""
