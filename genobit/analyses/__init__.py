"""Analyses: the formula, its reference and one public function each; arrays in, arrays out.

May import: dask, numpy, `lazy`, `model`, and what is below. No labels, no plots.
"""
