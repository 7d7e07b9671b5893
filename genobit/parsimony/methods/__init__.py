"""Methods of the accessor: validate, delegate, put labels on.

May import: the topics of the analysis, `data` and the engine.
"""
