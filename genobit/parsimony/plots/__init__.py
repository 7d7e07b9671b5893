"""Figures of parsimony: trees, tanglegrams, homoplasy and search traces, from labelled results.

May import: `visual`, `data`.
"""
