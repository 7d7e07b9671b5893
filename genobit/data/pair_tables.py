"""Long tables of pairs as dask DataFrames, of tasks that are made when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.labels import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dask.dataframe as dd
    from dask.highlevelgraph import HighLevelGraph
    from numpy.typing import NDArray

Labels = dict[str, tuple["NDArray[Any]", "NDArray[np.int64]"]]
"""Column of a table of pairs -> labels of rows, and the index of each pair among them."""


def as_frame(labels: Labels, values: dict[str, NDArray[Any]]) -> Any:
    """A pandas DataFrame of pairs."""
    import pandas as pd

    return pd.DataFrame({name: of[places] for name, (of, places) in labels.items()} | values)


def as_arrow(labels: Labels, values: dict[str, NDArray[Any]]) -> Any:
    """A pyarrow Table of pairs: by way of pandas each takes 0.6 ms more, without rows too.

    Labels that are no numbers become texts.
    """
    import pyarrow as pa

    columns = {name: _taken(of, places) for name, (of, places) in labels.items()}
    return pa.table(columns | {name: pa.array(of) for name, of in values.items()})


def _taken(labels: NDArray[Any], places: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    if labels.dtype.kind in "biuf":
        # pyarrow takes no numbers of the other byte order, as netCDF 3 has them.
        return pa.array(labels[places].astype(labels.dtype.newbyteorder("="), copy=False))
    # A label is made a text once, whatever the number of its pairs.
    used, at = np.unique(places, return_inverse=True)
    # Large: a column of 7 million ids of 300 letters is past what 32 bits count.
    return pa.array(text(labels[used], missing=None), pa.large_string()).take(pa.array(at))


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
