"""Figures of similarities of binary rows: pure functions of labelled results.

May import: `visual`, `data`.
"""
