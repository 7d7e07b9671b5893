"""Code that knows all analyses: `explore()`, `gb.plots`, the app, the report, the notebook magic.

No folder below imports it. May import: everything but `cli`.
"""
