"""Methods of the accessor: validate arguments, delegate, label the result.

May import: the topics of the analysis, `data` and the engine.
"""
