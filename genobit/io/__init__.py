"""Readers and writers of genotypes, relationships, trees and alignments, one file per format.

Third-party readers load on first use. May import: `data`, the engine, third-party readers.
"""
