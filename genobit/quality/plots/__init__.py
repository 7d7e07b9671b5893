"""Figures of statistics of variants and samples: pure functions of labelled results.

May import: `visual`, `data`.
"""
