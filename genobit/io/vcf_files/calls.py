"""Calls of a file as dask arrays, whose chunks are made from parts of the file.

A part has as many records as a chunk of the cache. It lies in the cache or in memory, or its blocks
are inflated again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.data import packer
from genobit.engine.schedule.dask_private import Task
from genobit.engine.schedule.graphs import Tasks
from genobit.engine.schedule.packing import pack_file, row_chunk
from genobit.io.kernels.vcf_text import SHORT, STATUS
from genobit.io.vcf_files.blocks import text_at
from genobit.io.vcf_files.parts import Filling
from genobit.io.vcf_files.records import Records
from genobit.io.vcf_files.scan import format_of, read_calls, settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.engine.schedule.packing import DaskPlanes
    from genobit.io.vcf_files.bcf_format import BcfFormat
    from genobit.io.vcf_files.header import Header
    from genobit.io.vcf_files.parts import Folder, Memory, Part
    from genobit.io.vcf_files.scan import Haploid, Shape
    from genobit.io.vcf_files.source import Source
    from genobit.io.vcf_files.text_format import TextFormat

PART = 4 * 2**20
"""Bytes of text that are read at once: they stay in the cache of the last level."""


@dataclass(frozen=True)
class Located:
    """A file and its header: what all chunks share."""

    source: Source
    header: Header

    def parts(
        self, table: NDArray[np.int64], places: NDArray[np.int64], sizes: tuple[int, ...]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64], int]]:
        """Return for each chunk its blocks, the places of its records, and the records before."""
        parts = []
        for first, stop in pairwise(np.cumsum((0, *sizes)).tolist()):
            here = places[:, first:stop]
            a = int(np.searchsorted(table[3], here[0].min(), "right"))
            b = int(np.searchsorted(table[3], here[1].max(), "left"))
            parts.append((np.array(table[:, a - 1 : b]), np.array(here), int(first)))
        return parts

    def located(
        self, table: NDArray[np.int64], places: NDArray[np.int64], number: int
    ) -> Iterator[tuple[slice, TextFormat | BcfFormat, Records]]:
        """Yield the records of a chunk in steps, with their rows in the chunk."""
        self.source.require_unchanged()
        form = format_of(self.source.name, self.header)
        at = 0
        for stop in _steps(places):
            here = places[:, at:stop]
            base = int(here[0].min())
            text = text_at(self.source, self.header.kind, table, base, int(here[1].max()))
            starts, stops = here - base
            if not self.header.is_bcf:
                # The last line of a file may have no end.
                text[stops[-1] - 1] = ord("\n")
            numbers = np.arange(number + at + 1, number + stop + 1)
            yield slice(at, stop), form, form.locate(Records(text, starts, stops, base, numbers))
            at = stop


@dataclass(frozen=True)
class CallReader(Located):
    """A file, the shape of its calls, and the parts that are in memory."""

    shape: Shape
    haploid: Haploid
    memory: Memory
    pieces: dict[int, tuple[Any, ...]]
    """Of each part, or of the records that are wanted of it, the first record, the blocks, the
    places, the number of records before, and the contigs."""

    def rows(self, k: int, first: int, stop: int) -> tuple[Part, int]:
        """Return a part of which records first:stop are wanted, and its first record.

        A part that is not in memory is read again as far as it is wanted.
        """
        self.source.require_unchanged()
        held = self.memory.get(k)
        return (held, 0) if held else (self.read(k, first, stop), first)

    def among(self, wanted: dict[int, tuple[int, int]]) -> CallReader:
        """Return the reader of some records of each part."""
        pieces = {}
        for k, (first, stop) in wanted.items():
            begin, table, places, number, contigs = self.pieces[k]
            rows = slice(first - begin, stop - begin)
            pieces[k] = first, table, places[:, rows], number + rows.start, contigs[rows]
        return replace(self, pieces=pieces)

    def read(self, k: int, first: int, stop: int) -> Part:
        """Return the calls of some records of a part from their blocks."""
        _, table, places, number, contigs = self.among({k: (first, stop)}).pieces[k]
        shape, n = self.shape, stop - first
        filling, short = Filling(n, shape.kept, shape.ploidy, shape.dtype), shape.ploidy == 1
        for rows, form, found in self.located(table, places, number):
            report, _, _ = read_calls(form, found, shape, filling, rows.start)
            if report[STATUS]:
                raise form.fault(found, report)
            short |= bool(report[SHORT])
        part = filling.part(n)
        return settled(part, contigs, self.haploid) if short else part


class CallFile:
    """Calls of all records. Tasks carry what of it they need."""

    def __init__(
        self,
        store: Folder | CallReader,
        shape: tuple[int, int, int],
        dtype: np.dtype[Any],
        rows: int,
        mark: str,
        *,
        plain: bool,
    ) -> None:
        """Hold a store of parts of ``rows`` records.

        - ``shape``: records, samples, ploidy.
        - ``mark``: changes if the calls do.
        - ``plain``: no call has other alleles than 0 and 1, or a lower ploidy.
        """
        self.store, self.shape, self.dtype = store, shape, dtype
        self.rows, self.mark, self.plain = rows, mark, plain

    def __dask_tokenize__(self) -> Any:
        """Return what decides the calls."""
        return type(self).__name__, self.mark

    @property
    def n_variants(self) -> int:
        """Number of records."""
        return self.shape[0]

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.shape[1]

    def part(self, start: int, stop: int) -> CallFile:
        """Return the file as far as tasks of records start:stop need it."""
        if isinstance(self.store, CallReader):
            store = self.store.among(dict(self._within(start, stop)))
            return CallFile(store, self.shape, self.dtype, self.rows, self.mark, plain=self.plain)
        return self

    def calls(self, start: int, stop: int) -> NDArray[Any]:
        """Return alleles of records start:stop: (records, samples, ploidy)."""
        return self._joined("calls", 0, start, stop)

    def phased(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which calls of records start:stop are phased: (records, samples)."""
        return self._joined("phased", 0, start, stop)

    def planes(self, start: int, stop: int) -> NDArray[np.uint64]:
        """Return carrier, hom_alt and called of ALT: (3, records, words)."""
        return self._joined("dosages", 1, start, stop)

    def _joined(self, what: str, axis: int, start: int, stop: int) -> NDArray[Any]:
        found = []
        for k, (first, last) in self._within(start, stop):
            part, begin = self.store.rows(k, first, last)
            found.append(getattr(part, what)(first - begin, last - begin))
        return found[0] if len(found) == 1 else np.concatenate(found, axis)

    def _within(self, start: int, stop: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the parts that hold some records, and which of their records these are."""
        for k in range(start // self.rows, -(-stop // self.rows)):
            at = k * self.rows
            yield k, (max(start - at, 0), min(stop - at, self.rows))

    def array(self, kind: str, sizes: tuple[int, ...]) -> da.Array:
        """Return "calls" or "phased" as a lazy array, chunked along variants."""
        layer = _Rows([], f"vcf-{kind}", self, kind, sizes)
        rest = self.shape[1:] if kind == "calls" else self.shape[1:2]
        chunks = (sizes, *((n,) for n in rest))
        dtype = self.dtype if kind == "calls" else np.dtype(bool)
        return da.Array(layer.graph(), layer.name, chunks, dtype)


@dataclass(eq=False)
class _Rows(Tasks):
    """Tasks that return rows of calls or phases."""

    costly = False
    file: CallFile
    kind: str
    sizes: tuple[int, ...]

    def every_key(self) -> Iterator[Any]:
        rest = (0, 0) if self.kind == "calls" else (0,)
        return ((self.name, k, *rest) for k in range(len(self.sizes)))

    def __len__(self) -> int:
        return len(self.sizes)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and key[0] == self.name and 0 <= key[1] < len(self.sizes)

    @cached_property
    def _edges(self) -> list[int]:
        return np.cumsum((0, *self.sizes)).tolist()

    def task(self, key: Any) -> Task:
        start, stop = self._edges[key[1] : key[1] + 2]
        return Task(key, getattr(self.file.part(start, stop), self.kind), start, stop)


def _steps(places: NDArray[np.int64]) -> list[int]:
    """Return where to stop so that the records of each step lie within about `PART` bytes."""
    steps, first = [], 0
    while first < places.shape[1]:
        stop = int(np.searchsorted(places[1], places[0, first] + PART, "right"))
        first = max(stop, first + 1)
        steps.append(first)
    return steps


def _planes(calls: xr.DataArray, layout: Layout, chunk: int | None) -> DaskPlanes | None:
    """Return the planes of the file behind calls; see `packer.FILE_PLANES`."""
    data = calls.variable._data
    layer = data.dask.layers.get(data.name) if isinstance(data, da.Array) else None
    if not isinstance(layer, _Rows) or layer.kind != "calls" or not layer.file.plain:
        return None
    file = layer.file
    return pack_file(file, file.mark, layout, row_chunk(2 * file.n_samples, chunk))


packer.FILE_PLANES.append(_planes)
