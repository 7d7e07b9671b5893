"""Compiled readers of .bed rows and FASTA lines.

They take and return arrays. May import: the engine.
"""
