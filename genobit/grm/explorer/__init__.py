"""The GRM explorer: traits and observers, its state without widgets, and its views.

May import: the rest of the analysis, `pca`, `visual`, `data`.
"""
