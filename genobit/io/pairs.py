"""Open tables of pairs from Parquet files, lazily."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genobit.data.guards.damage import named_failure
from genobit.data.pairs.parquet import ABOUT, INCOMPLETE, NAMES
from genobit.data.pairs.parts import FINISHED, Parts
from genobit.data.pairs.table import PairTable
from genobit.engine.extras import require
from genobit.engine.files import local_path
from genobit.engine.options import require_fits
from genobit.engine.own_words import own_words

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import pandas as pd

_CELL = 16
"""Bytes of memory per table cell, without the letters of a text."""
_NAME = 20
"""Largest memory of a list of names, for each byte of its file."""
_REMEDY = "The file is not Parquet, or it is damaged: copy it again."
VALUES = ("r2", "r2_em", "tau", "king")
"""Columns that can be the value of a table without a description."""


@own_words
def open_pairs(path: str | os.PathLike[str]) -> PairTable:
    """Open a table of pairs that `PairTable.to_parquet` wrote.

    Parameters
    ----------
    path
        Folder of the table, or one Parquet file.

    Returns
    -------
        Lazy `PairTable` with the columns and attributes that were written.

    Raises
    ------
    FileNotFoundError
        If there is no such path, or the folder has no Parquet file.
    ValueError
        If the table is not complete or is not a table of pairs, or if a file is damaged. When the
        table is computed: if a position is below 0, or a file would take more than
        ``get_options().eager_limit`` bytes of memory.

    Examples
    --------
    >>> import pathlib, tempfile, genobit as gb, numpy as np, xarray as xr
    >>> values = np.array([[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1]])
    >>> expr = xr.DataArray(values, dims=("gene", "sample"))
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "pairs"
    >>> path = expr.genobit.kendall_pairs(0.9, fdr=None).to_parquet(folder)
    >>> gb.open_pairs(path).to_dataframe()[["gene_0", "gene_1", "tau"]].values.tolist()
    [[0.0, 2.0, -1.0]]
    """
    require("open_pairs", "pyarrow")
    source = local_path(path, "open_pairs")
    parts = FileParts(_files(source))
    columns = [str(name) for name in parts.empty.columns]
    about = _about(source, columns)
    row, value = about["row"], about["value"]
    for needed in (f"{row}_0", f"{row}_1", value):
        if needed not in columns:
            msg = f"{source} has the columns {columns}, without {needed!r}: it is no table of pairs"
            raise ValueError(msg)
    for number in (f"{row}_0", f"{row}_1", value):
        kinds = "iu" if number != value else "fiu"
        if parts.empty[number].dtype.kind not in kinds:
            msg = f"{source}: {number} is of {parts.empty[number].dtype}, expected numbers"
            raise ValueError(msg)
    parts.ends = (f"{row}_0", f"{row}_1")
    named = source / FINISHED / NAMES
    names = partial(_names, named) if source.is_dir() and named.exists() else None
    return PairTable(parts, row, value, names, about["attrs"])


class FileParts(Parts):
    """Parquet files of a table, each a part."""

    def __init__(self, files: list[Path]) -> None:
        import pyarrow.parquet as pq

        self._files = files
        self.count = len(files)
        self.ends: tuple[str, ...] = ()
        with named_failure(files[0], _REMEDY):
            self.empty = pq.read_schema(files[0]).empty_table().to_pandas()

    def frames(self, numbers: Sequence[int]) -> Iterator[pd.DataFrame]:
        """Read some files, and yield their tables in this order."""
        for k in numbers:
            table = read_file(self._files[k])
            for end in self.ends:
                if len(table) and int(table[end].min()) < 0:
                    row = int(table[end].argmin())
                    msg = f"{self._files[k]}: {end} is {table[end][row]} in row {row}, below 0"
                    raise ValueError(msg)
            yield table

    def question(self) -> dict[str, Any]:
        """Return what decides the table: its files."""
        return {"files": [f"{file.absolute()} {file.stat().st_mtime_ns}" for file in self._files]}


def _files(source: Path) -> list[Path]:
    """Return the Parquet files of a table. Raises ValueError for a table that is not complete."""
    if source.is_dir():
        if (source / INCOMPLETE).exists():
            msg = f"{source} is not complete: repeat the call of .to_parquet() to finish it"
            raise ValueError(msg)
        files = [p for p in sorted(source.rglob("*")) if p.is_file() and p.name[0] not in "._"]
        files = [p for p in files if FINISHED not in p.parts]
    else:
        files = [source] if source.is_file() else []
    if not files:
        what = "holds no file" if source.is_dir() else "does not exist"
        raise FileNotFoundError(f"{source} {what}: name a Parquet file or a folder of them")
    return files


def _about(source: Path, columns: Sequence[str]) -> dict[str, Any]:
    """Return the row, the value and the attributes of a table, from its columns if need be."""
    described = source / FINISHED / ABOUT
    if source.is_dir() and described.exists():
        try:
            found: dict[str, Any] = json.loads(described.read_bytes())
            return {"row": found["row"], "value": found["value"], "attrs": dict(found["attrs"])}
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{described} is damaged ({error}): write the table again") from error
    rows = [name[:-2] for name in columns if name.endswith("_0") and name != "name_0"]
    values = [name for name in VALUES if name in columns]
    if not rows or not values:
        raise ValueError(f"{source} has the columns {list(columns)}: it is no table of pairs")
    return {"row": rows[0], "value": values[0], "attrs": {}}


def _names(file: Path) -> list[str]:
    """Return the names of all rows that a table of pairs is from."""
    require_fits(f"the names of {file}", _NAME * file.stat().st_size)
    with named_failure(file, "The file is damaged: write the table again."):
        return [str(name) for name in json.loads(file.read_bytes())]


def read_file(file: Path) -> pd.DataFrame:
    """Read a Parquet file, after comparing its declared size with ``eager_limit``.

    Raises ValueError if the file is damaged or declares more than the limit.
    """
    import pandas as pd
    import pyarrow.parquet as pq

    with named_failure(file, _REMEDY):
        metadata = pq.read_metadata(file)
        groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
        rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
        inflated = sum(max(group.total_byte_size, 0) for group in groups)
        columns = metadata.num_columns
    require_fits(f"the table of {file}", _CELL * rows * columns + inflated)
    with named_failure(file, _REMEDY):
        return pd.read_parquet(file)
