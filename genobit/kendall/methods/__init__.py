"""Accessor methods of rank correlation: validate, delegate, label the results.

May import: the topics of the analysis, `data` and the engine.
"""
