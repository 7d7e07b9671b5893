"""Accessor methods of relationships: validate, delegate, label the results.

May import: the topics of the analysis, `data` and the engine.
"""
