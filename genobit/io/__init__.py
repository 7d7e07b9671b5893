"""Files in, labelled data out, and results to files: one file for each format.

Importing it opens no file and loads no reader of the field.
May import: `data` and the engine; zarr, pandas, bio2zarr, cyvcf2, msprime, DendroPy.
"""
