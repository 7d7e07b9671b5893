"""Figures of labelled LD results: pure functions.

May import: `visual`, `data`.
"""
