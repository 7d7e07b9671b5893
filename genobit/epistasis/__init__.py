"""Exhaustive search for interactions of variants, of any order.

`methods` has the accessor's method, `arguments` its checks, `schedule` the search, `kernels` tables
and statistics.
May import: `visual`, `io`, `data` and the engine; `scope` also `ld.matrix`.
"""
