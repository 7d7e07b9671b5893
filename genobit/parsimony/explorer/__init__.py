"""The explorer: traits and observers, its state without widgets, its views.

May import: the rest of the analysis, `visual`, `data`.
"""
