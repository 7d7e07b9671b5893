"""Maximum parsimony: lengths of trees, ancestral states, and searches for the shortest trees.

`methods` holds the accessor's methods, `kernels` the compiled scores and moves.
May import: `visual`, `io`, `data` and the engine.
"""
