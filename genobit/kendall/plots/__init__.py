"""Figures of correlations and networks: pure functions of labelled results.

May import: the topics of the analysis, `visual`, `data`.
"""
