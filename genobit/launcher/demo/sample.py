"""The data of the demonstration, and tables of pairs beside its report."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genobit.visual.report.cohort import Cohort

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

    from genobit.data.pairs.table import PairTable


@dataclass(frozen=True)
class Sample(Cohort):
    """The simulated cohort, with a matrix of expression, an alignment and the folder of files."""

    expr: xr.DataArray
    aln: xr.DataArray
    folder: Path


def write(pairs: PairTable, folder: Path) -> int:
    """Write pairs to a folder of Parquet files; return their number.

    An existing folder is replaced.
    """
    from pyarrow import parquet

    shutil.rmtree(folder, ignore_errors=True)
    pairs.to_parquet(folder)
    return sum(parquet.read_metadata(part).num_rows for part in folder.glob("*.parquet"))
