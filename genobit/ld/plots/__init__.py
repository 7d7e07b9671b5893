"""Figures of labelled LD results: pure functions.

May import: the topics of the analysis, `visual`, `data`.
"""
