"""Write tables of pairs, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.launcher.terminal import progress

if TYPE_CHECKING:
    from pathlib import Path

    import dask.dataframe as dd


def write(pairs: dd.DataFrame, folder: Path, what: str) -> int:
    """Write pairs to a folder of Parquet files under a progress bar; return their number.

    An existing folder is replaced. `what` is the text before the bar.
    """
    from pyarrow import parquet

    with progress(what):
        pairs.to_parquet(folder, overwrite=True)
    return sum(parquet.read_metadata(part).num_rows for part in folder.glob("*.parquet"))
