"""Principal components of genotypes, and projection onto them.

May import: `visual`, `io`, `data` and the engine.
"""
