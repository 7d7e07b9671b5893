"""Parse alignment texts: FASTA and PHYLIP.

`genobit.io.alignment` has the public functions. May import: `io.kernels`, `data`, the engine.
"""
