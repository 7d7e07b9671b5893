"""Principal components of genotypes, and projection onto them.

`methods` holds the accessor's methods, `components` the arithmetic.
May import: `visual`, `io`, `data` and the engine.
"""
