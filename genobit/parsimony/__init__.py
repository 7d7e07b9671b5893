"""Fitch maximum parsimony: lengths, ancestral states, and searches for shortest trees.

`methods` has the accessor's methods, `kernels` the scores and moves.
May import: `visual`, `io`, `data` and the engine.
"""
