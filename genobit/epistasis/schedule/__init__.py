"""Dask graphs of the epistasis search: units of work, scope, estimates and runs.

May import: the kernels, the engine.
"""
