"""Simulated data to try everything on: genotypes, expression, an alignment with its tree.

The same seed gives the same data. May import: `io`, `data` and the engine; msprime, DendroPy.
"""
