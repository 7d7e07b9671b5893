"""Compiled readers of .bed rows and FASTA lines.

Arrays in, arrays out. May import: the engine.
"""
