"""Long tables of pairs as dask DataFrames."""

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
"""Labels of rows, and the index of each pair among them, by column of a table of pairs."""


def as_frame(labels: Labels, values: dict[str, NDArray[Any]]) -> Any:
    """Return a pandas DataFrame of pairs."""
    import pandas as pd

    return pd.DataFrame({name: of[places] for name, (of, places) in labels.items()} | values)


def as_arrow(labels: Labels, values: dict[str, NDArray[Any]]) -> Any:
    """Return a pyarrow Table of pairs; labels that are not numbers become text.

    Going through pandas would take 0.6 ms more per table, even without rows.
    """
    import pyarrow as pa

    columns = {name: _taken(of, places) for name, (of, places) in labels.items()}
    return pa.table(columns | {name: pa.array(of) for name, of in values.items()})


def _taken(labels: NDArray[Any], places: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    if labels.dtype.kind in "biuf":
        # pyarrow refuses numbers of the other byte order, which netCDF 3 has.
        return pa.array(labels[places].astype(labels.dtype.newbyteorder("="), copy=False))
    # Convert each label to text once, however many pairs it has.
    used, at = np.unique(places, return_inverse=True)
    # large_string, because a column of 7 million ids of 300 letters exceeds 32-bit offsets.
    return pa.array(text(labels[used], missing=None), pa.large_string()).take(pa.array(at))


def lazy_table(
    keys: Sequence[Any], graph: HighLevelGraph, example: Any, prefix: str
) -> dd.DataFrame:
    """Return a dask DataFrame whose partitions are the results of the tasks ``keys``.

    - ``example``: a partition without rows.
    - ``prefix``: start of the names of its tasks.

    ``dask.dataframe.from_delayed`` would take three times as long and need a `Delayed` per task.
    """
    import dask.dataframe as dd
    import pandas as pd
    from dask.dataframe.utils import pyarrow_strings_enabled

    divisions = (None,) * (len(keys) + 1)
    table: Any = dd.from_graph(graph, example, divisions, list(keys), prefix)
    texts = [name for name, kind in example.dtypes.items() if pd.api.types.is_object_dtype(kind)]
    if not (texts and pyarrow_strings_enabled()):
        return table
    # As in from_delayed: a partition without rows does not tell the type of its objects.
    return table.astype(dict.fromkeys(texts, "string[pyarrow]"))
