"""What knows all analyses: `explore()`, the figures `gb.plots`, the app, the report, the notebook magic.

Nothing below imports it. May import: everything but `cli`.
"""
