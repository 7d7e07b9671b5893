"""Figures of parsimony: trees, tanglegrams, homoplasy and search traces, from labelled results.

May import: the topics of the analysis, `visual`, `data`.
"""
