"""Quality control: statistics of variants and samples, Hardy-Weinberg tests, filters.

May import: `data` and the engine.
"""
