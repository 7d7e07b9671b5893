"""Newick and NEXUS trees as arrays of parents, and back.

`genobit.io.trees` has the public functions. May import: `data` and the engine; DendroPy.
"""
