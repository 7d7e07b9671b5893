"""Parse alignment texts: FASTA, PHYLIP, NEXUS, CLUSTAL and Stockholm.

`genobit.io.alignment` has the public functions. May import: `io.kernels`, `data`, the engine.
"""
