"""Figures of labelled results, as pure functions.

May import: `visual`, `data`.
"""
