"""Figures of principal components: pure functions of labelled results.

May import: `visual`, `data`.
"""
