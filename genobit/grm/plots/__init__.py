"""Figures of relationship matrices and pairs: pure functions of labelled results.

May import: the topics of the analysis, `visual`, `data`.
"""
