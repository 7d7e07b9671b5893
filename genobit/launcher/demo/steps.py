"""Steps of the demonstration: timings, progress bars and tables of pairs."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genobit.data.pairs.table import PairTable


@dataclass
class Stopwatch:
    """The timed steps in order, as rows (name, work, seconds)."""

    rows: list[tuple[str, str, float]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, *work: str, products: int = 0) -> Iterator[list[str]]:
        """Time a step; append to the yielded list any work that is known only at its end.

        `products` counts the multiplications of two alleles or dosages; their rate is noted.
        """
        notes = list(work)
        begin = time.perf_counter()
        yield notes
        seconds = time.perf_counter() - begin
        if products:
            notes.append(f"{products / seconds / 1e9:,.3g} G products/s")
        self.rows.append((name, ", ".join(notes), seconds))

    def __str__(self) -> str:
        """Return the table of timings."""
        width = max(len(name) for name, _, _ in self.rows)
        lines = [f"{name:<{width}} {seconds:9.2f}  {work}" for name, work, seconds in self.rows]
        return "\n".join([f"{'step':<{width}} {'seconds':>9}  what", *lines])


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
