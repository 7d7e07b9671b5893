"""Alignments that hold one byte for each entry, and make text of a chunk when it is computed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from genobit.data.characters import sets_in

if TYPE_CHECKING:
    import dask.array as da
    from numpy.typing import NDArray

    from genobit.data.characters import Coding


@dataclass(frozen=True)
class CodedText:
    """Codes (taxa, sites) as an array of text, which is decoded for each read."""

    codes: Any = field(repr=False)
    """One byte for each entry, (taxa, sites): an array, or a file that is read like one."""
    entries: NDArray[np.str_] = field(repr=False)
    """Entry of each code, (256,)."""
    used: NDArray[np.uint8] = field(repr=False)
    """Codes that occur."""
    name: str
    """Start of the names of lazy arrays of it."""
    decoded: bool = True
    """Whether it is an array of text, not of codes."""
    ndim: ClassVar[int] = 2

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of taxa and of sites."""
        shape: tuple[int, ...] = self.codes.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries."""
        return self.entries.dtype if self.decoded else np.dtype(np.uint8)

    def __getitem__(self, key: tuple[slice, slice]) -> NDArray[Any]:
        """Return a part as text, or as codes."""
        codes = self.codes[key]
        return text_of(codes, self.entries) if self.decoded else codes

    def lazy(self, sites: int | tuple[int, ...]) -> da.Array:
        """Return a lazy array in chunks of ``sites``; the text is not copied."""
        import dask.array as da

        from genobit.engine.schedule.graphs import layer_name

        name = layer_name(self.name, sites, self.decoded)
        meta = np.empty((0, 0), self.dtype)
        array: da.Array = da.from_array(
            self, (-1, sites), name=name, asarray=False, fancy=False, meta=meta
        )
        return array


def text_of(codes: NDArray[np.uint8], entries: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return the entries of codes (taxa, sites) as text."""
    from genobit.engine.bits.words import looked_up

    if entries.dtype == np.dtype("U1"):
        return looked_up(codes, entries.view(np.uint32)).view("U1")
    return entries[codes]


def coded(
    values: NDArray[Any] | da.Array, coding: Coding
) -> tuple[NDArray[Any] | da.Array, Coding]:
    """Return the codes of text from `CodedText.lazy`, and their coding; anything else as it is.

    Text with an unknown symbol stays text, which names the symbol when it is read.
    """
    source = None if isinstance(values, np.ndarray) else _source_of(values)
    if isinstance(values, np.ndarray) or source is None:
        return values, coding
    try:
        used = sets_in(source.entries[None, source.used], coding, None)[0]
    except ValueError:
        return values, coding
    sets = np.zeros(256, used.dtype)
    sets[source.used] = used
    codes = replace(source, decoded=False).lazy(values.chunks[1])
    return codes, coding._replace(sets=sets)


def in_sites(values: da.Array, sites: int) -> da.Array:
    """Return text or codes in memory in chunks of ``sites``; any other array as it is."""
    source = _source_of(values)
    return source.lazy(sites) if source and isinstance(source.codes, np.ndarray) else values


def _source_of(values: da.Array) -> CodedText | None:
    """Return what `CodedText.lazy` made an array of, None for any other array."""
    # Only an array as it was made, without selections, has its text in the one layer below it.
    layers = list(values.dask.layers.values())
    source = next(iter(layers[0].values())) if len(layers) == 2 else None
    same = isinstance(source, CodedText) and values.name.rpartition("-")[0] == source.name
    return source if same else None
