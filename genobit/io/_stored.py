"""Read arrays of a Zarr store without running code from data, and name damaged arrays.

A store may declare data that it does not hold. Chunks are read during a computation, so an error
there names the array and the place.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import xarray as xr

from genobit.data.guards.damage import named_failure
from genobit.data.labels import decoded
from genobit.data.text import LazyLabel, lazily
from genobit.engine.options import require_fits
from genobit.engine.schedule.tiles import from_reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import zarr
    from numpy.typing import NDArray

# Codecs that can run code: https://numcodecs.readthedocs.io/en/stable/pickles.html
_CODE = "pickle"
# Labels that are never 0 or empty, so that a chunk of such values is a missing chunk.
_NEVER_EMPTY = ("variant_position", "sample_id")
_NOT_WHOLE = "the store is not whole. Copy it again, or convert the VCF again."
LISTED = 2**20
"""Above this number of chunks, sum the stored bytes instead of counting chunks.

Counting lists all declared chunks, at about 200 bytes each: a store that declares 2**40 variants
would fill the memory. Summing asks a remote store for the size of each chunk.
"""


def require_plain(group: zarr.Group, store: Any) -> dict[str, zarr.Array[Any]]:
    """Refuse a store with a pickle codec, chunks of size 0, or missing chunks of labels.

    Returns the labels without a listed chunk, for `require_written`: many servers cannot list
    folders. Raises ValueError with the array's name.
    """
    unlisted = {}
    for name, array in group.arrays():
        if any(_CODE in codec.lower() for codec in _codecs(array.metadata.to_dict())):
            raise ValueError(
                f"{name} of {store} is stored by the codec {_CODE!r}, which runs code from data: "
                "genobit does not read it. Ask who made the store for one without it."
            )
        if 0 in array.chunks and 0 not in array.shape:
            msg = f"{name} of {store} has chunks of {array.chunks}: make the store again."
            raise ValueError(msg)
        if name in _NEVER_EMPTY and not _require_whole(name, array, store):
            unlisted[name] = array
    return unlisted


def _require_whole(name: str, array: zarr.Array[Any], store: Any) -> bool:
    """Return whether any chunk is listed. Raises ValueError if only some chunks are."""
    # A chunk has at least one byte, so fewer bytes than chunks means missing chunks.
    in_bytes = array.nchunks > LISTED
    try:
        found = array.nbytes_stored() if in_bytes else array.nchunks_initialized
    # A server may refuse to list, and each store's library raises its own error.
    except Exception:  # noqa: BLE001
        return False
    if 0 < found < array.nchunks:
        has = f"{found:,} {'bytes for' if in_bytes else 'of'} {array.nchunks:,} chunks"
        raise ValueError(f"{name} of {store} has {has}: {_NOT_WHOLE}")
    return bool(found)


def require_written(name: str, array: zarr.Array[Any], store: Any) -> None:
    """Refuse a label with a chunk of fill values only, which is how a missing chunk reads.

    Raises ValueError with the label's name and the first empty element.
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
    """Yield the names of all codecs in an array's metadata, including those inside shards."""
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


def label(name: str, variable: xr.Variable, store: Any) -> xr.Variable:
    """Return a label with text as objects of str, read when somebody looks at its values.

    Raises ValueError if it is declared larger than memory; looking, if it cannot be decoded.
    """
    require_fits(f"{name} {variable.shape} of {store}", variable.size * variable.dtype.itemsize)
    found = _Label(name, variable, str(store))
    # Text without values has a type of its own.
    data = lazily(found) if variable.size else found.read((slice(None),) * variable.ndim)
    return xr.Variable(variable.dims, data, variable.attrs)


class _Label(LazyLabel):
    """A label of a store opened without dask."""

    def __init__(self, name: str, variable: xr.Variable, store: str) -> None:
        self._name, self._variable, self._store = name, variable, store
        self.shape = variable.shape
        self.dtype = np.dtype(object) if variable.dtype.kind in "OSUT" else variable.dtype

    def read(self, key: tuple[Any, ...]) -> NDArray[Any]:
        try:
            values = self._variable[key].to_numpy()
        # Each codec raises its own errors, even a bare RuntimeError.
        except Exception as error:
            raise ValueError(
                _unreadable(self._name, self._store, f"{self.shape}", error)
            ) from error
        # Invalid Unicode raises a SystemError.
        with named_failure(
            f"{self._name} of {self._store}", "The store is damaged: copy it again."
        ):
            # Not `as_objects`: xarray's astype lets pandas convert the objects again, in 0.2 s.
            found = decoded(values, self._name)
            return found.astype(object) if found.dtype.kind in "UT" else found


def lazy(name: str, variable: xr.Variable, chunks: Mapping[Any, int], store: Any) -> da.Array:
    """Return a large variable as a dask array, which reads chunks when it is computed."""
    sizes = tuple(chunks.get(dim, -1) for dim in variable.dims)
    return from_reader(_Stored(name, variable, str(store)), sizes)


class _Stored:
    """A variable opened without dask, as an array that dask can slice."""

    def __init__(self, name: str, variable: xr.Variable, store: str) -> None:
        self._name, self._variable, self._store = name, variable, store
        self._opened = uuid.uuid4().hex
        self.shape = variable.shape
        self.dtype = variable.dtype
        self.ndim = variable.ndim

    def __dask_tokenize__(self) -> Any:
        # A new token per opening, since the store may have been rewritten under the same path.
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
