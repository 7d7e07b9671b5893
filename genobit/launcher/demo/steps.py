"""Steps of the demonstration: progress bars and tables of pairs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from genobit.data.pairs.table import PairTable


def progress(what: str) -> Any:
    """Show a progress bar on standard error while dask computes inside the block."""
    from tqdm.dask import TqdmCallback

    return TqdmCallback(desc=f"{what:<28}", unit="task")


def write(pairs: PairTable, folder: Path) -> int:
    """Write pairs to a folder of Parquet files under a progress bar; return their number.

    An existing folder is replaced.
    """
    from pyarrow import parquet

    shutil.rmtree(folder, ignore_errors=True)
    pairs.to_parquet(folder, progress=True)
    return sum(parquet.read_metadata(part).num_rows for part in folder.glob("*.parquet"))
