"""Figures for papers: HoloViews plots and forms of their own, drawn by matplotlib.

May import: `visual`, `data`; matplotlib.
"""
