"""Quality control: statistics of variants and samples.

May import: `data` and the engine.
"""
