"""Figures of epistasis results: pure functions that return HoloViews objects.

May import: `visual`, `data`.
"""
