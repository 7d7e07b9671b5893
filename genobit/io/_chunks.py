"""Read the rows of a file as lazy arrays, in chunks as the argument ``chunks`` of readers says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import dask.array as da
import numpy as np

from genobit.data import model
from genobit.data.checks import is_whole
from genobit.engine.schedule.tiles import from_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr
    from numpy.typing import NDArray

_CHUNK_BYTES = 64 * 2**20
"""Bytes of calls in a chunk. Its rows are a multiple of 64, so that planes with variants along the
bits have whole words."""
_ROWS_MULTIPLE = 64

File = TypeVar("File")


def row_chunks(n: int, chunks: Any, automatic: int) -> tuple[int, ...]:
    """Return the variants of each chunk; "auto" makes chunks of ``automatic`` variants."""
    if isinstance(chunks, str) and chunks == "auto":
        chunks = automatic
    if not is_whole(chunks):
        msg = f"chunks is {chunks!r}; it is a number of variants, at least 1, or 'auto'."
        raise ValueError(msg)
    size = int(chunks)
    whole, rest = divmod(n, size)
    return (size,) * whole + ((rest,) if rest or not whole else ())


def variant_chunks(
    chunks: int | Literal["auto"], n_variants: int, row_bytes: int
) -> tuple[int, ...]:
    """Return the variants of each chunk; "auto" makes chunks of about 64 MB of calls."""
    rows = _CHUNK_BYTES // max(row_bytes, 1)
    return row_chunks(n_variants, chunks, max(rows // _ROWS_MULTIPLE, 1) * _ROWS_MULTIPLE)


def stamp_of(path: str | Path) -> tuple[int, int]:
    """Return what changes if a file changes: its size in bytes, and its time."""
    stat = Path(path).stat()
    return stat.st_size, stat.st_mtime_ns


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a file as an array that dask can slice; ``read`` returns rows first:stop."""

    read: Callable[[int, int], NDArray[Any]]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __getitem__(self, key: tuple[slice, ...]) -> NDArray[Any]:
        # dask passes one slice per dimension, with a step if it merged a later slice.
        rows, *rest = key
        span = range(*rows.indices(self.shape[0]))
        block = np.empty((0, *self.shape[1:]), self.dtype)
        if span:
            block = self.read(min(span[0], span[-1]), max(span[0], span[-1]) + 1)
        return block[(slice(None, None, rows.step), *rest)]

    def lazy(self, sizes: tuple[int, ...], name: str) -> da.Array:
        """Return the rows as a lazy array, in chunks of these sizes."""
        return from_reader(self, (sizes, *((size,) for size in self.shape[1:])), name)


def file_behind(
    calls: xr.DataArray, mark: str, reopened: Callable[[str, da.Array], tuple[File, da.Array]]
) -> File | None:
    """Return the file of an array that holds all its genotypes unmodified, or None.

    Attributes survive slicing and arithmetic, so they only suggest the file: ``mark`` has the path,
    and ``mark`` + "_name" the name of the dask array. The name decides, because every operation
    changes it. It must equal the name of an array that is opened now with the same chunks, so None
    is also returned if the file has changed since.
    """
    path, name = (calls.attrs.get(key) for key in (mark, f"{mark}_name"))
    array = calls.data
    if not isinstance(path, str) or not isinstance(array, da.Array) or array.name != name:
        return None
    try:
        file, fresh = reopened(path, array)
    except (OSError, ValueError):
        return None
    same = fresh.name == array.name and fresh.chunks == array.chunks
    return file if same and calls.dims == (model.VARIANTS, model.SAMPLES, model.PLOIDY) else None
