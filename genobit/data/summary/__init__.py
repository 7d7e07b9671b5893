"""Summaries of Datasets and DataArrays: what `repr` and `_repr_html_` of the accessors show.

`content` collects the facts; `html` and `text` display them. May import: `genobit.engine`.
"""
