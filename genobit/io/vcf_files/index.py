"""Indexes of VCF and BCF (.tbi, .csi): the parts of a file that a region needs.

Formats: https://samtools.github.io/hts-specs/tabix.pdf and CSIv1.pdf.
"""

from __future__ import annotations

import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from genobit.io.vcf_files.blocks import BGZF, PLAIN, Blocks, held_in_memory, kind_of, texts
from genobit.io.vcf_files.scan import Span

if TYPE_CHECKING:
    from genobit.io.vcf_files.header import Header
    from genobit.io.vcf_files.source import Source

    Pair = tuple[int, int]

SUFFIXES = (".tbi", ".csi")
_LOW = 16
"""Bits of a virtual offset that count inflated bytes within a block."""


@dataclass(frozen=True)
class Index:
    """An index: for each contig its bins, and the earliest record of each part of it."""

    source: Source
    names: list[str]
    min_shift: int
    depth: int
    bins: list[dict[int, tuple[int, list[Pair]]]]
    """By contig and bin: the first offset of records that reach it, and ranges of offsets."""
    linear: list[list[int]]
    """By contig and 16 kb: the first offset (.tbi only)."""

    @property
    def last(self) -> int:
        """The largest offset."""
        return max(
            (
                offset
                for contig in self.bins
                for _, ranges in contig.values()
                for pair in ranges
                for offset in pair
            ),
            default=0,
        )

    def spans(self, contig: str, first: int, last: int | None) -> list[Span]:
        """Return the parts of the file with all records of a range of positions, from 1."""
        if contig not in self.names:
            return []
        number = self.names.index(contig)
        if number >= len(self.bins):
            return []
        begin = max(first - 1, 0)
        most = 1 << (self.min_shift + 3 * self.depth)
        end = most if last is None else min(last, most)
        found, least = [], 0
        if self.linear and self.linear[number]:
            window = min(begin >> self.min_shift, len(self.linear[number]) - 1)
            least = self.linear[number][window]
        elif not self.linear:
            least = self._least(self.bins[number], begin)
        overlap = _bins(begin, end, self.min_shift, self.depth)
        for which, (_, ranges) in self.bins[number].items():
            if any(low <= which <= high for low, high in overlap):
                found += [(a, b) for a, b in ranges if b > least]
        # The last line of a file may have no end, so the last block is read as the end of the file.
        final = self.last >> _LOW
        return [
            replace(span, stop=None) if span.stop == final else span
            for span in _merged(sorted(found))
        ]

    def _least(self, bins: dict[int, tuple[int, list[Pair]]], begin: int) -> int:
        """Return the first offset of records that may reach a position."""
        which = ((1 << 3 * self.depth) - 1) // 7 + (begin >> self.min_shift)
        while which not in bins and which > 0:
            parent = (which - 1) >> 3
            which = which - 1 if which > (parent << 3) + 1 else parent
        return bins[which][0] if which in bins else 0


def find_index(source: Source, header: Header) -> Index | None:
    """Return the index beside a file, or None.

    Raises ValueError if it is damaged, or does not fit the file.
    """
    for suffix in SUFFIXES:
        beside = source.beside(suffix)
        if beside is not None and beside.name != source.name:
            index = _read(beside, header)
            _require_fits_file(index, source, header)
            return index
    return None


def _read(source: Source, header: Header) -> Index:
    if kind_of(source) == PLAIN:
        data = source.read(0, source.size)
    else:
        data = held_in_memory(source, f"{source.name}: the index").data
    try:
        if data.startswith(b"TBI\1"):
            return _read_tbi(source, data)
        if data.startswith(b"CSI\1"):
            return _read_csi(source, data, header)
    except (struct.error, ValueError, OverflowError) as error:
        raise ValueError(_remade(source.name, f"is damaged: {error}")) from error
    raise ValueError(_remade(source.name, f"is no index: it begins with {data[:4]!r}"))


def _remade(name: str, why: str) -> str:
    return f"{name} {why}. Make it again: 'bcftools index -f FILE'."


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def take(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def number(self, form: str = "i") -> int:
        """Read a count, which the rest of the data must have room for."""
        (found,) = self.take(form)
        if not 0 <= found <= len(self.data):
            msg = f"it declares {found:,} entries"
            raise ValueError(msg)
        return found


def _read_tbi(source: Source, data: bytes) -> Index:
    reader = _Reader(data, 4)
    n = reader.number()
    reader.take("6i")
    size = reader.number()
    names = _names(data[reader.at : reader.at + size])
    reader.at += size
    bins, linear = [], []
    for _ in range(n):
        bins.append(_contig(reader, 5, with_offset=False))
        linear.append(list(reader.take(f"{reader.number()}Q")))
    return Index(source, names, 14, 5, bins, linear)


def _read_csi(source: Source, data: bytes, header: Header) -> Index:
    reader = _Reader(data, 4)
    min_shift, depth = reader.take("2i")
    if not (0 < min_shift < 40 and 0 <= depth < 12):
        msg = f"it declares bins of 2**{min_shift} in {depth} levels"
        raise ValueError(msg)
    size = reader.number()
    extra = data[reader.at : reader.at + size]
    reader.at += size
    bins = [_contig(reader, depth, with_offset=True) for _ in range(reader.number())]
    if size >= 28 and not header.is_bcf:
        names = _names(extra[28:])
    else:
        by_number = header.contig_by_number()
        names = [by_number.get(k, "") for k in range(len(bins))]
    return Index(source, names, min_shift, depth, bins, [])


def _names(data: bytes) -> list[str]:
    return [name.decode() for name in data.rstrip(b"\0").split(b"\0")] if data else []


def _contig(reader: _Reader, depth: int, *, with_offset: bool) -> dict[int, tuple[int, list[Pair]]]:
    found = {}
    for _ in range(reader.number()):
        (number,) = reader.take("I")
        loffset = reader.take("Q")[0] if with_offset else 0
        n = reader.number()
        flat = reader.take(f"{2 * n}Q")
        # The bin after the last one counts records; its numbers are no offsets.
        if number < ((1 << 3 * (depth + 1)) - 1) // 7:
            found[number] = (loffset, list(zip(flat[::2], flat[1::2], strict=True)))
    return found


def _require_fits_file(index: Index, source: Source, header: Header) -> None:
    """Refuse an index that ends before the records do, or after the file."""
    block, inner = index.last >> _LOW, index.last & ((1 << _LOW) - 1)
    begins = block or 0
    fits = begins <= source.size
    if fits and header.kind == BGZF:
        with ThreadPoolExecutor(1) as pool:
            try:
                found = next(
                    texts(source, BGZF, Blocks(), pool.submit, start=begins, ahead=0), None
                )
            except ValueError:
                fits = False
            else:
                size = 0 if found is None else found.stop - found.first
                fits = size <= (inner if block else header.size)
    if not fits:
        why = f"does not fit {source.name}, which was written again since"
        raise ValueError(_remade(index.source.name, why))


def _bins(begin: int, end: int, min_shift: int, depth: int) -> list[Pair]:
    """Return the first and last bin of each level that overlap positions begin:end, from 0."""
    found: list[Pair] = []
    first, shift = 0, min_shift + 3 * depth
    for level in range(depth + 1):
        found.append((first + (begin >> shift), first + ((max(end, begin + 1) - 1) >> shift)))
        first += 1 << (3 * level)
        shift -= 3
    return found


def _merged(ranges: list[Pair]) -> list[Span]:
    """Join ranges of offsets that share blocks."""
    spans: list[Span] = []
    for a, b in ranges:
        if spans and (a >> _LOW) <= (spans[-1].stop or 0):
            last = spans.pop()
            spans.append(Span(last.start, max(last.stop or 0, b >> _LOW), last.skip))
        else:
            spans.append(Span(a >> _LOW, b >> _LOW, a & ((1 << _LOW) - 1)))
    return spans
