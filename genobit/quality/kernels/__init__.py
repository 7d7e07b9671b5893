"""Compiled kernels of quality control: counts of genotypes in planes, exact tests.

May import: `engine`, not its schedule.
"""
