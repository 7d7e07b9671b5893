"""Compiled readers of .bed rows and FASTA lines, and writers of VCF lines.

They take and return arrays. May import: the engine.
"""
