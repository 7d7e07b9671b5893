"""Arrays of a Zarr store read with care: no code from data, and damage that is named.

What a store declares need not be what it holds. Numbers are read where they are asked for, so a
chunk that cannot be decoded is met in the middle of a computation, by name and place.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.options import require_fits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import xarray as xr
    import zarr
    from numpy.typing import NDArray

# numcodecs can run what it decodes with these: https://numcodecs.readthedocs.io/en/stable/pickles.html
_CODE = "pickle"
# All that is stored of these would be nought or empty text if a chunk were missing.
_NEVER_EMPTY = ("variant_position", "sample_id")
_NOT_WHOLE = "the store is not whole. Copy it again, or convert the VCF again."
LISTED = 2**20
"""Chunks from which on their bytes are asked for before they are counted, one by one.

To count them lists all that are declared, some 200 bytes each: a store that declares 2**40 variants
would fill the memory of the machine. A store far away is asked for each chunk's size.
"""


def require_plain(group: zarr.Group, store: Any) -> dict[str, zarr.Array[Any]]:
    """Refuse a store that asks to be unpickled, is cut into no chunks, or misses labels.

    Returns
    -------
        Labels of which no chunk is listed, for `require_written`: many servers list no folders.

    Raises
    ------
    ValueError
        Names the array.
    """
    unlisted = {}
    for name, array in group.arrays():
        if any(_CODE in codec.lower() for codec in _codecs(array.metadata.to_dict())):
            msg = (
                f"{name} of {store} is stored by the codec {_CODE!r}, which runs code from data: "
                "genobit does not read it. Ask who made the store for one without it."
            )
            raise ValueError(msg)
        if 0 in array.chunks and 0 not in array.shape:
            msg = f"{name} of {store} has chunks of {array.chunks}: make the store again."
            raise ValueError(msg)
        if name in _NEVER_EMPTY and not _require_whole(name, array, store):
            unlisted[name] = array
    return unlisted


def _require_whole(name: str, array: zarr.Array[Any], store: Any) -> bool:
    """Refuse an array of which some chunks are listed and others are not; whether any is listed."""
    # A chunk takes a byte at least.
    in_bytes = array.nchunks > LISTED
    try:
        found = array.nbytes_stored() if in_bytes else array.nchunks_initialized
    # Stores that list by a request which the server refuses raise whatever their library does.
    except Exception:  # noqa: BLE001
        return False
    if 0 < found < array.nchunks:
        has = f"{found:,} {'bytes for' if in_bytes else 'of'} {array.nchunks:,} chunks"
        raise ValueError(f"{name} of {store} has {has}: {_NOT_WHOLE}")
    return bool(found)


def require_written(name: str, array: zarr.Array[Any], store: Any) -> None:
    """Refuse a label with a chunk of nothing but the fill value, as one that is missing reads.

    Raises
    ------
    ValueError
        Names the label and where it is empty.
    """
    require_fits(f"{name} {array.shape} of {store}", array.size * array.dtype.itemsize)
    values = np.asarray(array[:])
    nothing = b"" if values.dtype.kind == "S" else "" if values.dtype.kind in "OTU" else 0
    empty = np.asarray(values == nothing)
    starts = np.arange(0, values.size, array.chunks[0])
    missing = np.flatnonzero(np.logical_and.reduceat(empty, starts)) if values.size else starts
    if missing.size:
        msg = f"{name} of {store} is empty from number {starts[missing[0]]} on: {_NOT_WHOLE}"
        raise ValueError(msg)


def _codecs(metadata: Any) -> Iterator[str]:
    """Names of codecs anywhere in the metadata of an array, those of shards included."""
    if isinstance(metadata, dict):
        for key, value in metadata.items():
            if key in {"id", "name"} and isinstance(value, str):
                yield value
            elif key != "attributes":
                yield from _codecs(value)
    elif isinstance(metadata, list | tuple):
        for value in metadata:
            yield from _codecs(value)
    elif hasattr(metadata, "get_config"):
        yield from _codecs(metadata.get_config())


def read_label(name: str, variable: xr.Variable, store: Any) -> NDArray[Any]:
    """A small variable, in memory.

    Raises
    ------
    ValueError
        Where it cannot be decoded, or is declared larger than memory.
    """
    require_fits(f"{name} {variable.shape} of {store}", variable.size * variable.dtype.itemsize)
    try:
        return np.asarray(variable.to_numpy())
    # Each codec raises what it likes, bare RuntimeError included.
    except Exception as error:
        raise ValueError(_unreadable(name, store, f"{variable.shape}", error)) from error


def lazy(name: str, variable: xr.Variable, chunks: Mapping[Any, int], store: Any) -> da.Array:
    """A large variable, chunked, read where it is computed."""
    sizes = tuple(chunks.get(dim, -1) for dim in variable.dims)
    source = _Stored(name, variable, str(store))
    array: da.Array = da.from_array(
        source,
        chunks=sizes,
        asarray=False,
        fancy=False,
        inline_array=True,
        meta=np.empty((0,) * variable.ndim, dtype=variable.dtype),
    )
    return array


class _Stored:
    """A variable opened without dask, as an array that dask can slice."""

    def __init__(self, name: str, variable: xr.Variable, store: str) -> None:
        self._name, self._variable, self._store = name, variable, store
        self._opened = uuid.uuid4().hex
        self.shape = variable.shape
        self.dtype = variable.dtype
        self.ndim = variable.ndim

    def __dask_tokenize__(self) -> Any:
        # Anew at each opening: the store may have been written again under the same path.
        return type(self).__name__, self._name, self._opened

    def __getitem__(self, key: tuple[slice, ...]) -> NDArray[Any]:
        try:
            return np.asarray(self._variable[key].to_numpy())
        except Exception as error:
            place = ", ".join(
                f"{dim} {part.start or 0}:{size if part.stop is None else part.stop}"
                for dim, part, size in zip(self._variable.dims, key, self.shape, strict=True)
            )
            raise OSError(_unreadable(self._name, self._store, place, error)) from error


def _unreadable(name: str, store: Any, place: str, error: Exception) -> str:
    return (
        f"{name} of {store} cannot be read at {place}: {type(error).__name__}: {error}. The store "
        "is damaged or declares what it does not hold: copy it again, or convert the VCF again."
    )
