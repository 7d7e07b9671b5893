"""One pass over a file: find records and labels, check calls, and hand them to a writer."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.progress import bar
from genobit.io.kernels import vcf_text
from genobit.io.kernels.vcf_text import MOST_PLOIDY, SHORT, STATUS
from genobit.io.vcf_files.bcf_format import BcfFormat
from genobit.io.vcf_files.blocks import Blocks, texts
from genobit.io.vcf_files.header import Header
from genobit.io.vcf_files.parts import Part
from genobit.io.vcf_files.records import whole_records
from genobit.io.vcf_files.text_format import TextFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from genobit.io.vcf_files.parts import Filling
    from genobit.io.vcf_files.records import Labels, Records
    from genobit.io.vcf_files.source import Source

    Haploid = dict[int, NDArray[np.bool_]]

T = TypeVar("T")

RESERVE = 2**18
"""Room before a piece for a record that is cut; a longer one is copied."""
_ROOM = 2**14
"""Alleles that are read before they are packed, so that they stay in the first cache."""


def format_of(name: str, header: Header) -> TextFormat | BcfFormat:
    """Return the format of a file."""
    return BcfFormat(name, header) if header.is_bcf else TextFormat(name, header)


@dataclass(frozen=True)
class Shape:
    """Ploidy of all calls, their integers, and the chosen samples."""

    ploidy: int
    dtype: np.dtype[Any]
    samples: int
    """Samples of the file."""
    chosen: NDArray[np.intp] | None
    """Places of the samples to keep, or None for all."""

    @property
    def kept(self) -> int:
        """Number of samples to keep."""
        return self.samples if self.chosen is None else self.chosen.size


@dataclass(frozen=True)
class Span:
    """A part of a file: from byte ``start``, up to the block at byte ``stop``."""

    start: int = 0
    stop: int | None = None
    skip: int = 0
    """Inflated bytes before the first record."""


class Sink(Protocol):
    """A writer of calls, which gives room for them."""

    def room(self, rows: int) -> Iterator[tuple[Any, int, int]]:
        """Yield chunks for the next rows, the first row in each, and the number of rows."""

    def filled(self, chunk: Any, rows: int, *, short: bool) -> None:
        """Say that rows of a chunk have been read."""


@dataclass
class Found:
    """What a pass found."""

    form: TextFormat | BcfFormat
    shape: Shape
    blocks: Blocks = field(default_factory=Blocks)
    labels: list[Labels] = field(default_factory=list)
    places: list[NDArray[np.int64]] = field(default_factory=list)
    """Places where each record begins and ends: (2, records)."""
    haploid: Haploid = field(default_factory=dict)
    """By contig, which samples have calls of one allele."""
    records: int = 0
    called: int = 0
    """How many records have GT."""


class Grow(Exception):  # noqa: N818
    """Calls need another shape than was assumed."""

    def __init__(self, ploidy: int, *, wide: bool) -> None:
        super().__init__()
        self.ploidy, self.wide = ploidy, wide


def n_threads() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Here(Executor):
    """Run each task at once: on one core, threads would only take turns."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        done: Future[T] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def new_pool() -> Executor:
    """Return what runs tasks on all cores that this process may use."""
    return ThreadPoolExecutor(n_threads()) if n_threads() > 1 else _Here()


def scan(
    source: Source,
    header: Header,
    spans: Sequence[Span],
    chosen: NDArray[np.intp] | None,
    wanted: Callable[[Records, list[str]], NDArray[np.bool_] | None],
    sink: Callable[[Shape], Sink],
) -> tuple[Found, Any]:
    """Pass over spans of a file, again if a later call needs a larger ploidy than those before.

    ``wanted`` returns which records to keep, or None for all. ``sink`` makes what gives room for
    calls.
    """
    shape, first = Shape(2, np.dtype(np.int8), len(header.samples), chosen), True
    while True:
        found = Found(format_of(source.name, header), shape)
        target = sink(shape)
        try:
            with new_pool() as pool:
                _Pass(source, header, found, target, pool, first=first).run(spans, wanted)
        except Grow as more:
            dtype = np.dtype(np.int16) if more.wide else shape.dtype
            shape, first = Shape(more.ploidy, dtype, shape.samples, chosen), False
        else:
            return found, target


class _Pass:
    def __init__(
        self,
        source: Source,
        header: Header,
        found: Found,
        sink: Sink,
        pool: Executor,
        *,
        first: bool,
    ) -> None:
        self.source, self.header, self.found, self.sink = source, header, found, sink
        self.pool, self.first = pool, first
        self.waiting: deque[tuple[Future[Any], Any]] = deque()
        self.ahead = n_threads() + 1 if n_threads() > 1 else 0

    def run(
        self,
        spans: Sequence[Span],
        wanted: Callable[[Records, list[str]], NDArray[np.bool_] | None],
    ) -> None:
        total = sum((self.source.size if s.stop is None else s.stop) - s.start for s in spans)
        with bar(
            progress=None,
            total=max(total, 1),
            unit="B",
            unit_scale=True,
            desc="open_vcf",
            leave=False,
        ) as shown:
            for span in spans:
                before = span.start
                for records, read in self.records(span):
                    located = self.found.form.locate(records)
                    keep = wanted(located, self.found.form.contigs)
                    self.found.called += located.called
                    self.found.records += len(located)
                    if keep is not None:
                        located = located.chosen(keep)
                    if len(located):
                        self.take(located)
                    shown.update(max(read - before, 0))
                    before = max(read, before)
            while self.waiting:
                self.finish()

    def records(self, span: Span) -> Iterator[tuple[Records, int]]:
        blocks = self.found.blocks
        pieces = texts(
            self.source,
            self.header.kind,
            blocks,
            self.pool.submit,
            start=span.start,
            stop=span.stop,
            reserve=RESERVE,
            ahead=self.ahead,
        )
        yield from whole_records(
            pieces,
            self.found.form,
            span.skip,
            whole=span.stop is None,
            counted=span.start == 0 and span.skip == self.header.size,
        )

    def take(self, records: Records) -> None:
        self.found.places.append(np.stack([records.starts, records.stops]) + records.shift)
        shape, at = self.found.shape, 0
        for chunk, first, n in self.sink.room(len(records)):
            part = records.chosen(slice(at, at + n))
            at += n
            done = self.pool.submit(read_part, self.found.form, part, shape, chunk, first)
            self.waiting.append((done, (chunk, n)))
            if self.first:
                # The ploidy of the first calls is that of most files.
                self.finish()
                self.first = False
        while len(self.waiting) > self.ahead:
            self.finish()

    def finish(self) -> None:
        done, (chunk, n) = self.waiting.popleft()
        labels, report, haploid = done.result()
        found = self.found
        status, ploidy = int(report[STATUS]), int(report[MOST_PLOIDY])
        wide = status == vcf_text.WIDE or found.shape.dtype != np.int8
        if status == vcf_text.PLOIDY or (self.first and 0 < ploidy < found.shape.ploidy):
            raise Grow(ploidy, wide=wide)
        if status == vcf_text.WIDE:
            raise Grow(found.shape.ploidy, wide=True)
        found.labels.append(labels)
        for contig, which in haploid.items():
            found.haploid[contig] = found.haploid.get(contig, False) | which
        self.sink.filled(chunk, n, short=bool(report[SHORT]))


def read_part(
    form: TextFormat | BcfFormat, records: Records, shape: Shape, chunk: Filling, first: int
) -> tuple[Labels, NDArray[np.int64], Haploid]:
    """Read labels and calls of some records; return the samples that have haploid calls too."""
    labels = form.labels(records)
    report, rows, others = read_calls(form, records, shape, chunk, first)
    haploid: Haploid = {}
    if report[STATUS] not in (vcf_text.FINE, vcf_text.PLOIDY, vcf_text.WIDE):
        raise form.fault(records, report)
    if report[SHORT] and shape.ploidy > 1:
        found = (others[:, :, 0] >= 0) & is_haploid(others)
        contigs = records.contigs[rows]
        for contig in np.unique(contigs).tolist():
            haploid[contig] = found[contigs == contig].any(axis=0)
    return labels, report, haploid


def read_calls(
    form: TextFormat | BcfFormat, records: Records, shape: Shape, filling: Filling, first: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Read calls of the chosen samples into a part, from its record ``first`` on.

    Returns the report of the kernel, the records that have other calls than -1, 0 and 1, and
    these calls.
    """
    width = 64 * words_for(shape.samples * shape.ploidy)
    at_once = max(1, min(len(records), _ROOM // max(1, width)))
    rows = filling.room(first, len(records), at_once, shape.samples, shape.chosen)
    report = form.calls(records, shape.ploidy, rows)
    return report, *filling.kept(first, rows, report)


def is_haploid(calls: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which calls (variants, samples, ploidy) have one allele, missing or not."""
    haploid: NDArray[np.bool_] = (calls[:, :, 1:] == -2).all(axis=2)
    return haploid


def settled(part: Part, contigs: NDArray[np.int32], haploid: Haploid) -> Part:
    """Return a part in which a single "." has the ploidy of its sample on the contig."""
    n = contigs.size
    calls, phased = part.calls(0, n), part.phased(0, n)
    _settle(calls, phased, contigs, haploid)
    return Part.of(calls, phased)


def _settle(
    calls: NDArray[Any], phased: NDArray[np.bool_], contigs: NDArray[np.int32], haploid: Haploid
) -> None:
    """Give a single "." the ploidy of its sample on the contig, in place.

    PLINK, vcftools and bcftools read `.` as a missing call. It is haploid, and so counts as phased,
    only if the sample has haploid calls on the contig.
    """
    if calls.shape[2] == 1:
        phased[:] = True
        return
    alone = is_haploid(calls) & (calls[:, :, 0] == -1)
    for contig in np.unique(contigs).tolist():
        rows = np.flatnonzero(contigs == contig)
        of_haploid = haploid.get(contig, np.zeros(calls.shape[1], bool))
        phased[rows] |= alone[rows] & of_haploid
        row, sample = np.nonzero(alone[rows] & ~of_haploid)
        calls[rows[row], sample] = -1
