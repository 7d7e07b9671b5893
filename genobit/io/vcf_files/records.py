"""Read records: where their parts lie, their labels, and their calls; of text and of BCF."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from genobit.data.guards.bounded import TEXT_COST
from genobit.engine.options import require_fits
from genobit.io.kernels import bcf, vcf_labels, vcf_text
from genobit.io.kernels.vcf_text import CALLED, ENTRIES, PADDING, PLACE, RECORD, SAMPLE, STATUS
from genobit.io.vcf_files.header import FIXED_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from genobit.io.vcf_files.blocks import Text
    from genobit.io.vcf_files.header import Header

LEAST_LINE = 4
"""Bytes a record is taken to have at least; a piece with shorter ones is read in two steps."""


@dataclass(frozen=True)
class Records:
    """Whole records in a piece of text."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    shift: int
    """Place of ``text[0]``."""
    numbers: NDArray[np.int64]
    """Numbers of the records in the file, from 1."""
    where: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    """Where the parts of each record lie, as the kernels of the format say."""
    contigs: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    positions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    alleles: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Alleles of each record, REF included."""
    called: int = 0
    """How many records have GT."""

    def __len__(self) -> int:
        return self.starts.size

    def chosen(self, rows: NDArray[Any] | slice) -> Records:
        """Return some of the records."""
        parts = (self.starts, self.stops, self.where, self.contigs, self.positions, self.alleles)
        starts, stops, where, contigs, positions, alleles = (part[rows] for part in parts)
        numbers = self.numbers[rows]
        return Records(
            self.text, starts, stops, self.shift, numbers, where, contigs, positions, alleles, self.called
        )


@dataclass(frozen=True)
class Labels:
    """Labels of records: text in one buffer, and where each begins and ends."""

    buffer: NDArray[np.uint8]
    ids: NDArray[np.int64]
    alleles: NDArray[np.int64]
    counts: NDArray[np.int64]
    filters: NDArray[np.int64]
    quality: NDArray[np.float32]
    contigs: NDArray[np.int32]
    positions: NDArray[np.int64]


class Format(Protocol):
    """What differs between text and BCF."""

    contigs: list[str]
    """Names of the contigs by code; text adds those that it meets."""

    def split(self, text: NDArray[np.uint8], first: int, stop: int, starts: NDArray[np.int64]) -> tuple[int, int]:
        """Fill the starts of whole records; return their number and the place after."""
    def locate(self, records: Records) -> Records:
        """Find the parts of records; raise ValueError with the place of a fault."""
    def labels(self, records: Records) -> Labels:
        """Return the labels of located records."""
    def calls(self, records: Records, ploidy: int, calls: NDArray[Any], phased: NDArray[np.uint8], steps: tuple[int, int]) -> NDArray[np.int64]:
        """Read calls, and return the report of the kernel."""
    def filter_names(self, texts: list[bytes]) -> list[list[str]]:
        """Return the names of filters that FILTER says."""
    def end(self, rest: bytes) -> bytes:
        """Return the last record of a text that ends without a mark."""


class Fault(ValueError):
    """A record that cannot be read."""


class TextFormat:
    """Records of VCF: lines of text."""

    def __init__(self, name: str, header: Header) -> None:
        self.name, self.samples = name, header.samples
        self.contigs: list[str] = []
        self._codes: dict[bytes, int] = {}

    def split(
        self, text: NDArray[np.uint8], first: int, stop: int, starts: NDArray[np.int64]
    ) -> tuple[int, int]:
        return vcf_text.line_starts(text, first, stop, starts)

    def end(self, rest: bytes) -> bytes:
        return rest + b"\n"

    def locate(self, records: Records) -> Records:
        n = len(records)
        where = np.empty((n, FIXED_COLUMNS + 1), np.int64)
        positions, alleles = np.empty(n, np.int64), np.empty(n, np.int64)
        report = np.zeros(ENTRIES, np.int64)
        vcf_text.read_columns(records.text, records.starts, where, positions, report)
        if report[STATUS]:
            raise self.fault(records, report)
        vcf_labels.count_alleles(records.text, where, alleles)
        return Records(
            records.text, records.starts, records.stops, records.shift, records.numbers,
            where, self._contigs_of(records, where), positions, alleles, int(report[CALLED]),
        )

    def _contigs_of(self, records: Records, where: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the code of each record's contig, and number those that are new."""
        changes = np.empty(len(records), np.int64)
        n = vcf_labels.contig_changes(records.text, records.starts, where, changes)
        codes = []
        for record in changes[:n].tolist():
            name = records.text[records.starts[record] : where[record, 0]].tobytes()
            if name not in self._codes:
                self._codes[name] = len(self.contigs)
                self.contigs.append(_decoded(self, records, record, name, "CHROM"))
            codes.append(self._codes[name])
        return np.repeat(np.array(codes, np.int32), np.diff(np.append(changes[:n], len(records))))

    def labels(self, records: Records) -> Labels:
        n, where = len(records), records.where
        buffer = np.empty(int((where[:, 6] - where[:, 1]).sum()), np.uint8)
        ids, filters = np.empty((n, 2), np.int64), np.empty((n, 2), np.int64)
        alleles = np.empty((int(records.alleles.sum()), 2), np.int64)
        plain = vcf_labels.copy_labels(
            records.text, where, records.alleles, buffer, ids, alleles, filters
        )
        if not plain:
            _require_unicode(self, records, buffer, ids[:, 0], filters[:, 1])
        quality, others = np.empty(n, np.float32), np.empty(n, np.int64)
        n_others = vcf_labels.read_quality(records.text, where, quality, others)
        for record in others[:n_others].tolist():
            text = records.text[where[record, 4] + 1 : where[record, 5]].tobytes()
            quality[record] = self._quality(records, record, text)
        return Labels(
            buffer, ids, alleles, records.alleles, filters, quality, records.contigs, records.positions
        )

    def _quality(self, records: Records, record: int, text: bytes) -> float:
        try:
            # `float` would take 1_0 too.
            return float(text.replace(b"_", b"x"))
        except ValueError:
            shown = text.decode(errors="replace")
            msg = (
                f"{self._place(records, record)} has the QUAL {shown!r}, expected a number or a "
                "dot. Correct the record."
            )
            raise Fault(msg) from None

    def calls(
        self,
        records: Records,
        ploidy: int,
        calls: NDArray[Any],
        phased: NDArray[np.uint8],
        steps: tuple[int, int],
    ) -> NDArray[np.int64]:
        report = np.zeros(ENTRIES, np.int64)
        vcf_text.read_calls(
            records.text, records.where, records.alleles, len(self.samples), ploidy,
            calls, steps[0], phased, steps[1], report,
        )
        return report

    def filter_names(self, texts: list[bytes]) -> list[list[str]]:
        return [
            [] if text in (b".", b"") else [x for x in text.decode().split(";") if x] for text in texts
        ]

    def _place(self, records: Records, record: int) -> str:
        line = records.text[records.starts[record] : records.stops[record]].tobytes()
        place = b":".join(line.split(b"\t")[:2]).decode(errors="replace").strip()
        return f"{self.name}, record {records.numbers[record]:,} ({place[:80]})"

    def fault(self, records: Records, report: NDArray[np.int64]) -> Fault:
        """Return the error for what a kernel reports."""
        status, record, sample = (int(report[k]) for k in (STATUS, RECORD, SAMPLE))
        line = records.text[records.starts[record] : records.stops[record]].tobytes()
        place, expected = self._place(records, record), FIXED_COLUMNS + len(self.samples)
        if status in (vcf_text.FEW_COLUMNS, vcf_text.FEW_SAMPLES, vcf_text.MANY_SAMPLES):
            n = line.rstrip(b"\r\n").count(b"\t") + 1
            msg = (
                f"{place} has {n} columns where the header has {expected}. Is the file cut short?"
            )
        elif status == vcf_text.BAD_POSITION:
            text = line.split(b"\t")[1].decode(errors="replace")
            msg = (
                f"{place} has the position {text!r}, expected a whole number from 0 to "
                f"{2**31 - 1:,}. Correct the record, or leave it out with 'bcftools view -e'."
            )
        else:
            column = line.rstrip(b"\r\n").split(b"\t")[FIXED_COLUMNS + sample]
            field = int(records.where[record, FIXED_COLUMNS])
            text = column.split(b":")[field].decode(errors="replace") if field >= 0 else ""
            msg = f"{place}, sample {self.samples[sample]!r}: {_wrong_call(status, text, records, record)}"
        return Fault(msg)


class BcfFormat:
    """Records of BCF: typed values."""

    def __init__(self, name: str, header: Header) -> None:
        self.name, self.samples = name, header.samples
        by_number = header.contig_by_number()
        self.contigs = [by_number.get(k, "") for k in range(max(by_number, default=-1) + 1)]
        self._words = header.word_by_number()
        self._key = next((k for k, word in self._words.items() if word == "GT"), -1)

    def split(
        self, text: NDArray[np.uint8], first: int, stop: int, starts: NDArray[np.int64]
    ) -> tuple[int, int]:
        n, end = bcf.record_starts(text, first, stop, starts)
        if end + 8 <= stop and n < starts.size:
            require_fits(f"{self.name}: a record", int(bcf.record_size(text, end)), TEXT_COST)
        return n, end

    def end(self, rest: bytes) -> bytes:
        msg = f"{self.name} is truncated: {len(rest):,} bytes after its last whole record. Copy it again."
        raise Fault(msg)

    def locate(self, records: Records) -> Records:
        n = len(records)
        places, positions, alleles = np.empty((n, 8), np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
        report = np.zeros(ENTRIES, np.int64)
        bcf.read_places(
            records.text, records.starts, self._key, len(self.samples), places, positions, alleles, report
        )
        contigs = places[:, bcf.CONTIG]
        if not report[STATUS]:
            known = np.array([bool(name) for name in self.contigs], bool)
            lost = np.flatnonzero((contigs >= known.size) | ~known[np.minimum(contigs, known.size - 1)]) if known.size else np.arange(n)
            if lost.size:
                report[STATUS], report[RECORD] = vcf_text.BAD_RECORD, lost[0]
        found = Records(
            records.text, records.starts, records.stops, records.shift, records.numbers,
            places, contigs.astype(np.int32), positions, alleles, int(report[CALLED]),
        )
        if report[STATUS]:
            raise self.fault(found, report)
        return found

    def labels(self, records: Records) -> Labels:
        n, where = len(records), records.where
        room = where[:, bcf.FILTER_END] - where[:, bcf.ID] + 1
        buffer = np.empty(int(room.sum()), np.uint8)
        ids, filters = np.empty((n, 2), np.int64), np.empty((n, 2), np.int64)
        alleles = np.empty((int(records.alleles.sum()), 2), np.int64)
        bits = np.empty(n, np.uint32)
        plain = bcf.copy_labels(
            records.text, records.starts, where, records.alleles, buffer, ids, alleles, filters, bits
        )
        if not plain:
            _require_unicode(self, records, buffer, ids[:, 0], filters[:, 0])
        return Labels(
            buffer, ids, alleles, records.alleles, filters, bits.view(np.float32), records.contigs, records.positions
        )

    def calls(
        self,
        records: Records,
        ploidy: int,
        calls: NDArray[Any],
        phased: NDArray[np.uint8],
        steps: tuple[int, int],
    ) -> NDArray[np.int64]:
        report = np.zeros(ENTRIES, np.int64)
        bcf.read_calls(
            records.text, records.where, records.alleles, len(self.samples), ploidy,
            calls, steps[0], phased, steps[1], report,
        )
        return report

    def filter_names(self, texts: list[bytes]) -> list[list[str]]:
        found = []
        for text in texts:
            kind, octets = text[0] & 15, {1: 1, 2: 2, 3: 4}.get(text[0] & 15, 1)
            at = 1
            if text[0] >> 4 == 15:
                at = 2 + {1: 1, 2: 2, 3: 4}.get(text[1] & 15, 1)
            numbers = np.frombuffer(text[at:], f"<i{octets}") if kind in (1, 2, 3) else []
            found.append([self._words.get(int(k), f"filter{k}") for k in numbers if k >= 0])
        return found

    def fault(self, records: Records, report: NDArray[np.int64]) -> Fault:
        """Return the error for what a kernel reports."""
        status, record, sample = (int(report[k]) for k in (STATUS, RECORD, SAMPLE))
        where = ""
        if record < records.contigs.size and 0 <= records.contigs[record] < len(self.contigs):
            where = f" ({self.contigs[records.contigs[record]]}:{records.positions[record]})"
        place = f"{self.name}, record {records.numbers[record]:,}{where}"
        if status in (vcf_text.FEW_SAMPLES, vcf_text.MANY_SAMPLES):
            return Fault(f"{place} has {sample} samples where the header has {len(self.samples)}.")
        if status in (vcf_text.BAD_RECORD, vcf_text.BAD_POSITION, vcf_text.NO_CALL):
            return Fault(f"{place} is damaged. Copy the file again.")
        return Fault(f"{place}, sample {self.samples[sample]!r}: {_wrong_call(status, '', records, record)}")


def format_of(name: str, header: Header) -> TextFormat | BcfFormat:
    """Return the format of a file."""
    return BcfFormat(name, header) if header.is_bcf else TextFormat(name, header)


def whole_records(
    texts: Iterator[Text], form: TextFormat | BcfFormat, skip: int = 0, *, whole: bool = True
) -> Iterator[tuple[Records, int]]:
    """Yield the whole records of pieces of text, and the bytes of the file that were read.

    The first ``skip`` bytes are no records. A record that is cut by the end of a piece goes before
    the next one; unless ``whole``, the last one is left out.
    """
    rest, number, place, read = np.zeros(0, np.uint8), 0, 0, 0
    for part in texts:
        data, first, stop, place, read = part.data, part.first, part.stop, part.place, part.read
        if skip:
            leap = min(skip, stop - first)
            skip, first, place = skip - leap, first + leap, place + leap
        if rest.size > first:
            require_fits(f"{form.name}: record {number + 1:,}", rest.size, TEXT_COST)
            data = np.concatenate([rest, data[first : stop], np.zeros(PADDING, np.uint8)])
            first, stop = rest.size, rest.size + stop - first
        data[first - rest.size : first] = rest
        shift = place - first
        first -= rest.size
        while True:
            starts = np.empty((stop - first) // LEAST_LINE + 1, np.int64)
            n, end = form.split(data, first, stop, starts)
            if n:
                starts = starts[:n].copy()
                numbers = np.arange(number + 1, number + n + 1)
                yield Records(data, starts, np.append(starts[1:], end), shift, numbers), read
                number += n
            if end == first or n < (stop - first) // LEAST_LINE + 1:
                break
            first = end
        rest = data[end:stop].copy()
        place += stop - first
    if rest.size and whole:
        last = np.frombuffer(form.end(rest.tobytes()), np.uint8)
        data = np.concatenate([last, np.zeros(PADDING, np.uint8)])
        starts = np.empty(2, np.int64)
        n, end = form.split(data, 0, last.size, starts)
        if n:
            numbers = np.arange(number + 1, number + n + 1)
            yield Records(data, starts[:n], np.array([end]), place - rest.size, numbers), read


def _decoded(form: TextFormat | BcfFormat, records: Records, record: int, text: bytes, column: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        msg = (
            f"{form.name}, record {records.numbers[record]:,} is not UTF-8 text: {column} holds "
            f"the byte 0x{text[error.start]:02x}. Convert it: iconv -f LATIN1 -t UTF-8 FILE > NEW."
        )
        raise Fault(msg) from error


def _require_unicode(
    form: TextFormat | BcfFormat,
    records: Records,
    buffer: NDArray[np.uint8],
    firsts: NDArray[np.int64],
    lasts: NDArray[np.int64],
) -> None:
    """Refuse labels that are not UTF-8, with the record."""
    for record, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
        if (buffer[first:last] > 127).any():
            _decoded(form, records, record, buffer[first:last].tobytes(), "ID, REF, ALT or FILTER")


def _wrong_call(status: int, text: str, records: Records, record: int) -> str:
    if status == vcf_text.NO_ALLELE:
        shown = f"the call {text!r}" if text else "a call"
        n = int(records.alleles[record])
        return f"{shown} has an allele beyond the {n} of REF and ALT. Correct the record."
    return f"{text[:80]!r} is no call such as 0/1, 0|1 or ./. Correct the record."
