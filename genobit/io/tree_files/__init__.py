"""Parsers of Newick and NEXUS: trees, and the character matrix of NEXUS.

`genobit.io.trees` has the public functions. May import: `data` and the engine; DendroPy.
"""
