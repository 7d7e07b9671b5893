"""Simulated example data: genotypes, expression, and an alignment with its tree.

Seeds are fixed. May import: `io`, `data` and the engine; msprime, DendroPy.
"""
