"""Read Parquet files as tables, after checking their declared size against the limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from genobit.data.guards.damage import named_failure
from genobit.engine.options import require_fits

if TYPE_CHECKING:
    import os

    import pandas as pd

_CELL = 16
"""Bytes of memory per table cell, without the letters of a text."""
_REMEDY = "The file is not Parquet, or it is damaged: copy it again."


def read_parquet(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a Parquet file, or a folder of them, as a table.

    Raises FileNotFoundError if nothing is there, ValueError if a file is damaged or declares more
    than ``eager_limit``, and ImportError without pyarrow.
    """
    import pandas as pd

    source = Path(path).expanduser()
    if source.is_dir():
        files = [p for p in sorted(source.rglob("*")) if p.is_file() and p.name[0] not in "._"]
    elif source.is_file():
        files = [source]
    else:
        files = []
    if not files:
        what = "holds no file" if source.is_dir() else "does not exist"
        raise FileNotFoundError(f"{source} {what}: name a Parquet file or a folder of them")
    import pyarrow.parquet as pq

    declared = 0
    for file in files:
        with named_failure(file, _REMEDY):
            metadata = pq.read_metadata(file)
            groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
            columns = metadata.num_columns
            rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
            inflated = sum(max(group.total_byte_size, 0) for group in groups)
        declared += _CELL * rows * columns + inflated
        require_fits(f"the table of {source}", declared)
    with named_failure(source, _REMEDY):
        return pd.read_parquet(source)
