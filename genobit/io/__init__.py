"""Readers and writers of genotypes, relationships, trees and alignments, one file per format.

Importing the package opens no file and loads no third-party reader.
May import: `data` and the engine; zarr, pandas, bio2zarr, cyvcf2, msprime, DendroPy.
"""
