"""Read planes opened by ``xarray.open_zarr`` with the checks of genobit's own readers.

xarray gives dask an object that reads a Zarr array. Errors of its codecs name neither file nor
place, and a chunk may inflate beyond memory. genobit therefore reads the opened array itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from genobit.engine.schedule.graphs import layer_name
from genobit.engine.schedule.tiles import from_reader

if TYPE_CHECKING:
    import zarr
    from numpy.typing import NDArray

_REMEDY = "The store is damaged: copy it again, or pack the genotypes again."


def guarded_plane(data: da.Array) -> da.Array:
    """Add checks to an untouched array of a Zarr store; return other arrays unchanged."""
    stored = _stored_array(data)
    if stored is None or stored.dtype != data.dtype or stored.shape != data.shape:
        return data
    return from_reader(_Plane(stored), data.chunks, layer_name("planes", data.name))


def _stored_array(data: da.Array) -> zarr.Array[Any] | None:
    """Return the Zarr array that a dask array reads unchanged, or None.

    xarray names the reader after the array and nests one wrapper per step in it. Another release
    may nest them differently; then the planes are read without the checks.
    """
    graph = data.dask
    layer = graph.layers.get(f"original-{data.name}") if isinstance(graph, HighLevelGraph) else None
    if layer is None or len(layer) != 1:
        return None
    reader = next(iter(dict(layer).values()))
    while hasattr(reader, "array"):
        key = getattr(reader, "key", None)
        if key is not None and any(part != slice(None) for part in key.tuple):
            return None
        reader = reader.array
    if not hasattr(reader, "get_array"):
        return None
    # Zarr takes a while to import, and genotypes in memory do without it.
    import zarr

    stored = reader.get_array()
    return stored if isinstance(stored, zarr.Array) else None


class _Plane:
    """A stored plane as an array that dask can slice."""

    def __init__(self, stored: zarr.Array[Any]) -> None:
        import zarr

        from genobit.data.guards.chunks import GuardedStore

        self.name, self.store = stored.path or stored.name, str(stored.store)
        guarded = GuardedStore(stored.store)
        guarded.guard({stored.path: stored})
        self._array = zarr.open_array(guarded, path=stored.path, mode="r")
        self.shape, self.dtype, self.ndim = stored.shape, stored.dtype, stored.ndim

    def __getitem__(self, key: tuple[slice, ...]) -> NDArray[Any]:
        try:
            return np.asarray(self._array[key])
        # Each codec raises its own kinds of errors, including bare RuntimeError.
        except Exception as error:
            rows = f"{key[0].start or 0}:{self.shape[0] if key[0].stop is None else key[0].stop}"
            raise OSError(
                f"{self.name} of {self.store} cannot be read in rows {rows}: "
                f"{type(error).__name__}: {error}. {_REMEDY}"
            ) from error
