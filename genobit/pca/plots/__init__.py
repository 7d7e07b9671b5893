"""Labelled results as figures: pure functions.

May import: `visual`, `data`.
"""
