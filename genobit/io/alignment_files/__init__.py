"""Texts of alignments: FASTA, PHYLIP, NEXUS symbols.

`genobit.io.alignment` has the public functions. May import: `data` and the engine.
"""
