"""Readers and writers of genotypes, relationships, trees and alignments, one file per format.

Readers of third parties load on first use. May import: `data`, the engine, such readers.
"""
