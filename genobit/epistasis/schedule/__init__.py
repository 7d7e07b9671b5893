"""Dask graphs of the epistasis search: units of work, estimates, waves and runs.

May import: the kernels, the engine.
"""
