"""Take, recode and join the calls of several files, lazily."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class _Joined(MaterializedLayer):
    """The layer of `joined_rows`, with the arrays that it joins, as a reader made them."""

    parts: Sequence[Any]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the parts: workers only need the tasks."""
        return MaterializedLayer, (self.mapping, self.annotations)


def joined_rows(arrays: Sequence[da.Array], parts: Sequence[Any] | None) -> da.Array:
    """Return arrays below each other; `parts_of` returns ``parts`` of the unchanged result."""
    found: da.Array = da.concatenate(arrays, axis=0)
    if parts is None or len(arrays) == 1:
        return found
    layer = _Joined(found.dask.layers[found.name].mapping)
    layer.parts = parts
    graph = HighLevelGraph({**found.dask.layers, found.name: layer}, found.dask.dependencies)
    return da.Array(graph, found.name, found.chunks, found.dtype)


def parts_of(array: da.Array) -> Sequence[Any] | None:
    """Return the parts of an array that `joined_rows` made, or None for others."""
    layer = array.dask.layers.get(array.name)
    return layer.parts if isinstance(layer, _Joined) else None


def taken(array: da.Array, places: NDArray[np.intp], axis: int, missing: Any) -> da.Array:
    """Return the members of an axis at ``places``, with ``missing`` where a place is negative."""
    if np.array_equal(places, np.arange(array.shape[axis])):
        return array
    found = da.take(array, np.maximum(places, 0), axis=axis)
    lacking = places < 0
    if not lacking.any():
        return found
    along = [1] * array.ndim
    along[axis] = -1
    mask = da.from_array(lacking.reshape(along), chunks=-1)
    filled: da.Array = da.where(mask, np.asarray(missing, array.dtype), found)
    return filled.astype(array.dtype)


def recoded(calls: da.Array, codes: NDArray[np.int16]) -> da.Array:
    """Return calls (variants, samples, ploidy) by ``codes`` (variants, alleles); others stay.

    A negative code is that of an allele that no call may have.
    """
    if codes.max(initial=0) > np.iinfo(calls.dtype).max:
        calls = calls.astype(codes.dtype)
    if (codes == np.arange(codes.shape[1])).all():
        return calls
    rows = da.from_array(np.arange(len(codes)), chunks=(calls.chunks[0],))
    found: da.Array = da.blockwise(
        _recoded, "vsp",
        calls, "vsp",
        da.from_array(codes, chunks=(calls.chunks[0], -1)), "va",
        rows, "v",
        concatenate=True, align_arrays=False, dtype=calls.dtype,
        meta=np.empty((0, 0, 0), calls.dtype),
    )  # fmt: skip
    return found


def _recoded(
    calls: NDArray[Any], codes: NDArray[np.int16], variants: NDArray[np.int64]
) -> NDArray[Any]:
    unnamed = calls >= codes.shape[1]
    changed = np.flatnonzero((codes != np.arange(codes.shape[1])).any(axis=1))
    out = calls.copy()
    some = calls[changed]
    new = some.copy()
    for allele in range(codes.shape[1]):
        code = codes[changed, allele, None, None]
        here = some == allele
        np.copyto(new, code.astype(calls.dtype), where=here)
        unnamed[changed] |= here & (code < 0)
    out[changed] = new
    wrong = np.argwhere(unnamed)
    if wrong.size:
        i, s, h = wrong[0]
        msg = (
            f"call_genotype is {calls[i, s, h]} at variants={variants[i]}, samples={s}, and "
            "variant_allele has no name for this allele: name all alleles"
        )
        raise ValueError(msg)
    return out
