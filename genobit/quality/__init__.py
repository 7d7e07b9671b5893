"""Quality control: statistics of variants and samples.

`methods` has the accessor's methods. May import: `data` and the engine.
"""
