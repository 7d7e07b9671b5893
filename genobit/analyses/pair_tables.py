"""Long tables of pairs as dask DataFrames, of tasks that are made when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dask.dataframe as dd
    from dask.highlevelgraph import HighLevelGraph


def lazy_table(
    keys: Sequence[Any], graph: HighLevelGraph, example: Any, prefix: str
) -> dd.DataFrame:
    """A table whose partitions are the results of some tasks.

    ``dask.dataframe.from_delayed`` takes three times as long, and a `Delayed` for each task.

    Parameters
    ----------
    keys, graph
        Of pandas DataFrames.
    example
        One of them without rows.
    prefix
        What names of its tasks begin with.
    """
    import dask.dataframe as dd
    import pandas as pd
    from dask.dataframe.utils import pyarrow_strings_enabled

    divisions = (None,) * (len(keys) + 1)
    table: Any = dd.from_graph(graph, example, divisions, list(keys), prefix)
    texts = [name for name, kind in example.dtypes.items() if pd.api.types.is_object_dtype(kind)]
    if not (texts and pyarrow_strings_enabled()):
        return table
    # As from_delayed does: a part without rows does not say what its objects are.
    return table.astype(dict.fromkeys(texts, "string[pyarrow]"))
