"""Parsers of Newick and NEXUS: trees, and the character matrix of NEXUS.

`genobit.io.trees` is public. May import: `io.alignment_files`, `data`, the engine; DendroPy.
"""
