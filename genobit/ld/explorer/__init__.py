"""The LD explorer: traits and observers, state without widgets, and views.

May import: the rest of the analysis, `visual`, `io`, `data`.
"""
