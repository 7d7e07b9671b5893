"""Exhaustive search for interactions of variants, of any order.

May import: `visual`, `io`, `data` and the engine; `scope` also `ld.matrix`.
"""
