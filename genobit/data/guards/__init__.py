"""Checks of files that lie: declared sizes, inflated chunks, damaged planes.

Each check raises with the name of the file. May import: `genobit.engine`.
"""
