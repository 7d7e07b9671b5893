"""Quality control: statistics of variants and samples.

May import: `visual`, `io`, `data` and the engine.
"""
