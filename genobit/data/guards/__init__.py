"""Checks of malformed files: declared sizes, inflated chunks, damaged planes.

Each check raises an error with the name of the file. May import: `genobit.engine`.
"""
