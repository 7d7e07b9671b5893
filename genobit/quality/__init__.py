"""Quality control of variants: allele frequencies.

May import: `data` and the engine.
"""
