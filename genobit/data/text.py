"""Hold text as bytes in one buffer until somebody looks: labels of a million variants open at once.

A name is a str object of about 60 bytes, and decoding a million takes 0.12 s on a core of an AMD
EPYC. Readers find where names begin and end in a fifth of that, and most analyses look at none.

Labels stay objects of str for their users. numpy makes its StringDType from such objects, so that
opening would decode all of them. Arrow decodes in 0.11 s, but xarray holds its arrays along one
dimension only, and writes them neither to Zarr nor to netCDF.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from xarray.core import indexing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Spans = tuple[NDArray[np.int64], NDArray[np.int64]]
    Find = Callable[[], Spans]

_SHORT = 7
"""Bytes of texts that share one object if they are equal: with their length they fill a word."""
_BLOCK = 2**20
"""Bytes that are decoded at once."""


class LazyLabel(xr.backends.BackendArray):
    """Label whose values are made when xarray selects them by `read`; all objects are str."""

    dtype: np.dtype[Any] = np.dtype(object)
    shape: tuple[int, ...]

    def read(self, key: tuple[Any, ...]) -> NDArray[Any]:
        """Return the values of an outer selection: integer, slice or array for each dimension."""
        raise NotImplementedError

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        """Return the values of any selection."""
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self.read)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """Return the values of any selection, for ``load_async``."""
        return self[key]


class _Texts(LazyLabel):
    """Texts in a buffer of UTF-8."""

    def __init__(
        self, buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> None:
        self.buffer, self._spans = buffer, (starts, ends)
        self.shape = starts.shape

    def spans(self) -> Spans:
        """Return where each text begins and ends."""
        return self._spans

    def read(self, key: tuple[Any, ...]) -> NDArray[np.object_]:
        found = self.chosen(key)
        return decode(found.buffer, *found.spans())

    def chosen(self, key: tuple[Any, ...]) -> _Texts:
        """Return an outer selection, of the same buffer."""
        starts, ends = self.spans()
        for axis in reversed(range(len(key))):
            at = (slice(None),) * axis + (key[axis],)
            starts, ends = np.asarray(starts[at]), np.asarray(ends[at])
        return _Texts(self.buffer, starts, ends)

    def alone(self) -> _Texts:
        """Return the same texts in the smallest buffer that holds them."""
        begins, stops = self.spans()
        sizes = (stops - begins).reshape(-1)
        if sizes.sum() >= self.buffer.size:
            return self
        stops = np.cumsum(sizes)
        starts, ends = (x.reshape(self.shape) for x in (stops - sizes, stops))
        return _Texts(_gathered(self.buffer, begins.reshape(-1), sizes), starts, ends)


class _FoundLater(_Texts):
    """Texts whose places are found, and checked, when somebody looks."""

    def __init__(
        self, buffer: NDArray[np.uint8], shape: tuple[int, ...], find: Find, name: str
    ) -> None:
        self.buffer, self.shape = buffer, shape
        self._find, self._name = find, name

    @cached_property
    def _checked(self) -> Spans:
        spans = self._find()
        _require_utf8(self.buffer, *spans, self._name)
        return spans

    def spans(self) -> Spans:
        return self._checked


class _Selected(indexing.LazilyIndexedArray):
    """Selection of texts, which takes no other text along when it is pickled."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.array.chosen(self.key.tuple).alone(),)


def lazy_text(
    buffer: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    name: str = "labels",
) -> indexing.MemoryCachedArray:
    """Return texts for a Variable, decoded when somebody looks at values.

    Selections stay lazy. The values are an object array of str, and the Variable keeps them after
    the first look. Equal texts of up to 7 bytes, such as alleles, share one object.

    Parameters
    ----------
    buffer
        Bytes (n,), uint8, which nobody changes. Bytes between texts may be anything.
    starts, ends
        Where each text begins and ends in the buffer, int64, of any equal shape.
    name
        The variable's name for errors.

    Raises
    ------
    ValueError
        For the first text that is not UTF-8.

    Examples
    --------
    >>> import xarray as xr
    >>> line = np.frombuffer(b"rs1 rs20", np.uint8)
    >>> ids = xr.Variable("variants", lazy_text(line, np.array([0, 4]), np.array([3, 8])))
    >>> ids
    <xarray.Variable (variants: 2)> Size: 16B
    [2 values with dtype=object]
    >>> ids.values.tolist()
    ['rs1', 'rs20']
    """
    _require_utf8(buffer, starts, ends, name)
    _teach_dask()
    return lazily(_Selected(_Texts(buffer, starts, ends)))


def text_found_later(
    buffer: NDArray[np.uint8], shape: tuple[int, ...], find: Find, name: str
) -> indexing.MemoryCachedArray:
    """Return `lazy_text` of texts whose starts and ends ``find`` returns when somebody looks."""
    _teach_dask()
    return lazily(_Selected(_FoundLater(buffer, shape, find, name)))


def lazily(label: LazyLabel | indexing.LazilyIndexedArray) -> indexing.MemoryCachedArray:
    """Return a label as xarray's own readers do: read once, and copied before it is changed."""
    # xarray's own hint lacks its lazy arrays.
    array: Any = label if isinstance(label, _Selected) else indexing.LazilyIndexedArray(label)
    return indexing.MemoryCachedArray(indexing.CopyOnWriteArray(array))


def is_unread(variable: xr.Variable) -> bool:
    """Return whether a variable holds texts that nobody has looked at: all are str objects."""
    return isinstance(_layers(variable)[-1], LazyLabel)


def _layers(variable: xr.Variable) -> list[Any]:
    """Return the data of a variable, and what its wrappers hold, the innermost last."""
    # xarray has no public way to ask without reading the values.
    found: list[Any] = [variable._data]
    while isinstance(found[-1], indexing.ExplicitlyIndexed) and hasattr(found[-1], "array"):
        found.append(found[-1].array)
    return found


@cache
def _teach_dask() -> None:
    """Let dask name unread text by its bytes; xarray would decode it for each ``dask.compute``.

    dask is imported here, by readers alone: it takes longer than an analysis in memory.
    """
    from dask.base import normalize_token

    def token(variable: xr.Variable) -> object:
        for layer in _layers(variable):
            if isinstance(layer, _Selected):
                text = layer.array.chosen(layer.key.tuple)
                parts = (type(variable), variable.dims, text.buffer, *text.spans())
                return normalize_token((*parts, variable.attrs))
        return variable.__dask_tokenize__()

    normalize_token.register(xr.Variable, token)


def decode(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.object_]:
    """Return texts as an object array of str; short ones that are equal share one object."""
    first, sizes = starts.reshape(-1), (ends - starts).reshape(-1)
    found = np.empty(sizes.size, object)
    short = sizes <= _SHORT
    if short.any():
        found[short] = _short_texts(buffer, first[short], sizes[short])
    if not short.all():
        found[~short] = _decoded(buffer, first[~short], sizes[~short])
    return found.reshape(starts.shape)


def _short_texts(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.object_]:
    """Return texts of up to `_SHORT` bytes; each different one is decoded once."""
    if buffer.size < 8:
        buffer = np.concatenate([buffer, np.zeros(8, np.uint8)])
    # A word is read from each place, so the last texts are read from before their start.
    at = np.minimum(starts, buffer.size - 8)
    words = np.ndarray(buffer.size - 7, "<u8", np.ascontiguousarray(buffer), strides=(1,))[at]
    kept = (np.uint64(1) << (8 * sizes).astype(np.uint64)) - np.uint64(1)
    words = words >> (8 * (starts - at)).astype(np.uint64) & kept
    keys = words | sizes.astype(np.uint64) << np.uint64(8 * _SHORT)
    codes, different = pd.factorize(keys)
    data = different.astype("<u8").view(np.uint8)
    texts = _decoded(data, np.arange(0, data.size, 8), data[_SHORT::8].astype(np.int64))
    return texts[codes]


def _decoded(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.object_]:
    """Return texts, each as an object of its own."""
    found = np.empty(sizes.size, object)
    stops = np.cumsum(sizes + 1)
    total = int(stops[-1]) if stops.size else 0
    cuts = np.unique(np.searchsorted(stops, np.arange(0, total, _BLOCK)))
    for first, last in zip(cuts, [*cuts[1:], sizes.size], strict=True):
        # Splitting at NUL bytes that are put between texts takes half the time of slicing.
        block = _gathered(buffer, starts[first:last], sizes[first:last], gap=1)
        texts = str(block.data, "utf-8").split("\0")
        if len(texts) != last - first:
            texts = [
                bytes(buffer[start : start + size]).decode()
                for start, size in zip(starts[first:last], sizes[first:last], strict=True)
            ]
        found[first:last] = texts
    return found


def _gathered(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64], gap: int = 0
) -> NDArray[np.uint8]:
    """Return the bytes of texts behind each other, with ``gap`` bytes of NUL between."""
    stops = np.cumsum(sizes + gap)
    where = np.repeat(starts - stops + sizes + gap, sizes + gap)
    where += np.arange(where.size)
    # The gap behind the last text may lie behind the buffer.
    found = buffer.take(where, mode="clip") if where.size else np.empty(0, np.uint8)
    if gap:
        found[stops - 1] = 0
        return found[:-1]
    return found


def _require_utf8(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], name: str
) -> None:
    """Raise ValueError for the first text that is not UTF-8; only bytes above 127 can be wrong."""
    if not starts.size:
        return
    low = int(starts.min())
    other = np.flatnonzero(buffer[low : int(ends.max())] > 127) + low
    if not other.size:
        return
    doubtful = np.searchsorted(other, starts) < np.searchsorted(other, ends)
    for at in np.argwhere(doubtful):
        raw = bytes(buffer[starts[tuple(at)] : ends[tuple(at)]])
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            where = f"[{', '.join(map(str, at))}]" if at.size else ""
            msg = f"{name}{where} is {raw!r}, which is not UTF-8 text: decode it first"
            raise ValueError(msg) from error
