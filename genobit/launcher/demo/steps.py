"""Steps of the demonstration: progress bars and tables of pairs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from genobit.engine.progress import DELAY, wanted

if TYPE_CHECKING:
    from pathlib import Path

    from genobit.data.pairs.table import PairTable


def progress(what: str) -> Any:
    """Show a progress bar on a terminal while dask computes inside the block."""
    from tqdm.dask import TqdmCallback

    # The delay hides the bars of computations that only look at a few values.
    return TqdmCallback(desc=f"{what:<28}", unit="task", delay=DELAY, disable=not wanted())


def write(pairs: PairTable, folder: Path) -> int:
    """Write pairs to a folder of Parquet files; return their number.

    An existing folder is replaced.
    """
    from pyarrow import parquet

    shutil.rmtree(folder, ignore_errors=True)
    pairs.to_parquet(folder)
    return sum(parquet.read_metadata(part).num_rows for part in folder.glob("*.parquet"))
