"""Progress bars of the commands."""

from __future__ import annotations

from typing import Any


def progress(what: str) -> Any:
    """Show a progress bar on standard error while dask computes inside the block."""
    from tqdm.dask import TqdmCallback

    return TqdmCallback(desc=f"{what:<28}", unit="task")
