"""Parsers of Newick and NEXUS trees.

`genobit.io.trees` is public. May import: `io.alignment_files`, `data`, the engine.
"""
