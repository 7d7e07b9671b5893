"""The epistasis explorer: its traits, controls and views.

May import: the rest of the analysis, `visual`, `data`.
"""
