"""Methods of the accessor: validate, delegate, attach labels.

May import: the topics of the analysis, `data` and the engine.
"""
