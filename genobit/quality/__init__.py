"""Quality control: statistics of variants and samples.

`methods` holds the accessor's methods. May import: `data` and the engine.
"""
