"""Interactive explorer of epistasis results: traits, controls, views and files.

May import: the rest of the analysis, `visual`, `data`.
"""
