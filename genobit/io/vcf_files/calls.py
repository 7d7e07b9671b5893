"""Calls of a file as dask arrays, whose chunks inflate their own blocks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.schedule.names import named_layer
from genobit.io.kernels.vcf_text import SHORT, STATUS
from genobit.io.vcf_files.blocks import text_at
from genobit.io.vcf_files.records import Records
from genobit.io.vcf_files.scan import format_of, read_calls, settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from genobit.io.vcf_files.bcf_format import BcfFormat
    from genobit.io.vcf_files.header import Header
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
    """A file, and the shape of its calls."""

    shape: Shape
    haploid: Haploid

    def decoded(
        self,
        table: NDArray[np.int64],
        places: NDArray[np.int64],
        contigs: NDArray[np.int32],
        sizes: tuple[int, ...],
    ) -> da.Array:
        """Return rows of bytes, lazily: calls, then phases, of each record in turn.

        `alleles_of` and `phases_of` take them apart, so that both come from one pass.
        """
        parts = [
            (*part, contigs[part[2] : part[2] + n].copy())
            for part, n in zip(self.parts(table, places, sizes), sizes, strict=True)
        ]
        name, graph = named_layer("vcf-calls", _tasks, self, parts)
        width = self.shape.kept * (self.shape.ploidy * self.shape.dtype.itemsize + 1)
        return da.Array(graph, name, (sizes, (width,)), np.uint8)

    def read(
        self,
        table: NDArray[np.int64],
        places: NDArray[np.int64],
        number: int,
        contigs: NDArray[np.int32],
    ) -> NDArray[np.uint8]:
        """Return the calls of some records."""
        shape = self.shape
        n_calls = shape.kept * shape.ploidy * shape.dtype.itemsize
        rows = np.empty((places.shape[1], n_calls + shape.kept), np.uint8)
        for here, form, found in self.located(table, places, number):
            part, n = rows[here], len(found)
            if shape.chosen is None and shape.dtype.itemsize == 1:
                # Calls and phases are written where they stay.
                flat, steps = part.reshape(-1), (part.shape[1], part.shape[1])
                report = form.calls(found, shape.ploidy, flat.view(np.int8), flat[n_calls:], steps)
            else:
                calls = np.empty((n, shape.kept, shape.ploidy), shape.dtype)
                phased = np.empty((n, shape.kept), np.uint8)
                report = read_calls(form, found, shape, calls, phased)
                part[:, :n_calls] = calls.reshape(n, -1).view(np.uint8)
                part[:, n_calls:] = phased
            if report[STATUS]:
                raise form.fault(found, report)
            if report[SHORT] or shape.ploidy == 1:
                calls, bars = _alleles(part, shape).copy(), part[:, n_calls:].view(np.bool_)
                settle(calls, bars, contigs[here], self.haploid)
                part[:, :n_calls] = calls.reshape(n, -1).view(np.uint8)
        return rows


def _tasks(name: str, reader: CallReader, parts: list[tuple[Any, ...]]) -> dict[Any, Any]:
    return {(name, k, 0): (reader.read, *part) for k, part in enumerate(parts)}


def _steps(places: NDArray[np.int64]) -> list[int]:
    """Return where to stop so that the records of each step lie within about `PART` bytes."""
    steps, first = [], 0
    while first < places.shape[1]:
        stop = int(np.searchsorted(places[1], places[0, first] + PART, "right"))
        first = max(stop, first + 1)
        steps.append(first)
    return steps


def alleles_of(decoded: da.Array, shape: Shape) -> da.Array:
    """Return the alleles (variants, samples, ploidy) of decoded calls."""
    chunks = (decoded.chunks[0], (shape.kept,), (shape.ploidy,))
    make: Any = _alleles
    return decoded.map_blocks(make, shape, dtype=shape.dtype, chunks=chunks, new_axis=2)


def _alleles(rows: Any, shape: Shape) -> NDArray[Any]:
    size = shape.kept * shape.ploidy * shape.dtype.itemsize
    calls = np.ascontiguousarray(rows[:, :size]) if shape.dtype.itemsize > 1 else rows[:, :size]
    return calls.view(shape.dtype).reshape(rows.shape[0], shape.kept, shape.ploidy)


def phases_of(decoded: da.Array, shape: Shape) -> da.Array:
    """Return which calls (variants, samples) of decoded calls are phased."""
    chunks = (decoded.chunks[0], (shape.kept,))
    make: Any = _phases
    return decoded.map_blocks(make, shape.kept, dtype=np.bool_, chunks=chunks)


def _phases(rows: Any, samples: int) -> NDArray[np.bool_]:
    return rows[:, -samples:].view(np.bool_)
