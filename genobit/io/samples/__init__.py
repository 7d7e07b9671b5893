"""Simulated example data: genotypes, expression, and an alignment with its tree.

Seeds are fixed, so the data are the same every time. May import: `io`, `data` and the engine;
msprime, DendroPy.
"""
