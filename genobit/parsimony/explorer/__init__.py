"""The parsimony explorer: its traits, its state without widgets, and its views.

May import: the rest of the analysis, `visual`, `io`, `data`.
"""
