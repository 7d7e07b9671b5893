"""Code that uses all analyses: `explore()`, `gb.plots`, the app, the report, the notebook magic.

Lower layers do not import it. May import: everything but `cli`.
"""
