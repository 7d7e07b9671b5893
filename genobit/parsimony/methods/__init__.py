"""Accessor methods of parsimony: validate, delegate, label the results.

May import: the topics of the analysis, `io`, `data` and the engine.
"""
