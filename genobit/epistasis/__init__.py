"""Exhaustive search for interactions of up to 18 variants.

May import: `visual`, `io`, `data` and the engine; `scope` also `ld.matrix`.
"""
