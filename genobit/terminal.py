"""What the commands share: a progress bar, and planes saved under one."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr


def progress(what: str) -> Any:
    """Show a progress bar on standard error while dask computes inside the block."""
    from tqdm.dask import TqdmCallback

    return TqdmCallback(desc=f"{what:<28}", unit="task")


def save(planes: xr.Dataset, store: Path, what: str, mode: Literal["w", "w-"]) -> None:
    """Write planes to a Zarr store, under a progress bar.

    Parameters
    ----------
    planes
        A packed Dataset.
    store
        The folder to write.
    what
        The text before the bar.
    mode
        "w" replaces a store, "w-" refuses to.
    """
    with warnings.catch_warnings():
        # Every reader may skip it; xarray warns at each opening of a store that has none.
        warnings.filterwarnings("ignore", "Consolidated metadata is currently not part")
        with progress(what):
            planes.to_zarr(store, mode=mode)
