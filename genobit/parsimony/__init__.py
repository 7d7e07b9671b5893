"""Maximum parsimony: lengths of trees, ancestral states, and searches for the shortest trees.

May import: `visual`, `io`, `data` and the engine.
"""
