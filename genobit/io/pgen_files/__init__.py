"""Parts of PLINK 2 filesets: the binary .pgen, the tables .pvar and .psam, and their writer.

Users call `genobit.open_pgen` and `genobit.to_pgen`.
"""
