"""Accessor methods of LD: validate, delegate, label the results.

May import: the topics of the analysis, `data` and the engine.
"""
