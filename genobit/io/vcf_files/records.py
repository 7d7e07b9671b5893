"""Records of text or of BCF: where their parts lie, and the pieces of text that hold them whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.guards.bounded import TEXT_COST
from genobit.engine.options import require_fits
from genobit.io.kernels import vcf_text
from genobit.io.kernels.vcf_text import ENTRIES, PADDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from genobit.io.vcf_files.blocks import Text

LEAST_LINE = 4
"""Bytes a record is taken to have at least; a piece with shorter ones is read in two steps."""
EMPTY_ALLELE = "has an empty allele in REF or ALT. Correct the record."


@dataclass(frozen=True)
class Records:
    """Whole records in a piece of text."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    shift: int
    """Place of ``text[0]``."""
    numbers: NDArray[np.int64]
    """Numbers of the records in the file, from 1; 0 if an index skips the records before."""
    where: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    """Where the parts of each record lie, as the kernels of the format say."""
    contigs: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    positions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    alleles: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Alleles of each record, REF included."""
    called: int = 0
    """How many records have GT."""

    def __len__(self) -> int:
        """Return the number of records."""
        return self.starts.size

    def chosen(self, rows: NDArray[Any] | slice) -> Records:
        """Return some of the records."""
        names = ("starts", "stops", "numbers", "where", "contigs", "positions", "alleles")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


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


class Format:
    """What text and BCF share: a kernel of each reads calls in the same way."""

    samples: tuple[str, ...]
    name: str
    kernel: Callable[..., None]
    no_filter: str
    """Message for a filter without a name."""

    def calls(
        self,
        records: Records,
        ploidy: int,
        calls: NDArray[Any],
        phased: NDArray[np.uint8],
    ) -> NDArray[np.int64]:
        """Read calls (records, samples, ploidy), and return the report of the kernel."""
        report = np.zeros(ENTRIES, np.int64)
        # An ALT of "." may be an allele that is not known, as plink2 writes it.
        self.kernel(
            records.text,
            records.where,
            np.maximum(records.alleles, 2),
            len(self.samples),
            ploidy,
            calls.reshape(-1),
            phased.reshape(-1),
            report,
        )
        return report


def whole_records(
    texts: Iterator[Text], form: Any, skip: int, *, whole: bool, counted: bool
) -> Iterator[tuple[Records, int]]:
    """Yield the whole records of pieces of text, and the bytes of the file that were read.

    The first ``skip`` bytes are no records. A record that is cut by the end of a piece goes before
    the next one; unless ``whole``, the last one is left out. If ``counted``, the first record is
    that of the file.
    """
    rest: list[NDArray[np.uint8]] = []
    held, number, place, read = 0, 0, 0, 0
    for part in texts:
        data, first, stop, place, read = part.data, part.first, part.stop, part.place, part.read
        leap = min(skip, stop - first)
        skip, first, place = skip - leap, first + leap, place + stop - first
        if held > first:
            # A long record is held once, in parts, until its end is read.
            rest.append(data[first:stop])
            held += stop - first
            require_fits(f"{form.name}: record {number + 1:,}", held, TEXT_COST)
            if not form.may_end(rest, held):
                continue
            data = np.concatenate([*rest, np.zeros(PADDING, np.uint8)])
            first, stop = 0, held
        elif held:
            data[first - held : first] = rest[0]
            first -= held
        shift = place - stop
        while True:
            starts = np.empty((stop - first) // LEAST_LINE + 1, np.int64)
            n, end = form.split(data, first, stop, starts)
            if n:
                starts = starts[:n].copy()
                numbers = np.arange(number + 1, number + n + 1) * counted
                yield Records(data, starts, np.append(starts[1:], end), shift, numbers), read
                number += n
            if end == first or n < (stop - first) // LEAST_LINE + 1:
                break
            first = end
        rest, held = [data[end:stop].copy()], stop - end
    if held and whole:
        data = np.frombuffer(form.end(np.concatenate(rest).tobytes()) + bytes(PADDING), np.uint8)
        starts = np.empty(2, np.int64)
        n, end = form.split(data, 0, data.size - PADDING, starts)
        if n:
            numbers = np.arange(number + 1, number + n + 1) * counted
            yield Records(data, starts[:n], np.array([end]), place - held, numbers), read


def place_of(name: str, records: Records, record: int, where: str = "") -> str:
    """Return file, number if it is known, and position of a record."""
    number = int(records.numbers[record])
    return f"{name}, {f'record {number:,}' if number else 'a record'}{where and f' ({where})'}"


def decoded(name: str, records: Records, record: int, text: bytes, column: str) -> str:
    """Return text of a record; ValueError if it is not UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        msg = (
            f"{place_of(name, records, record)} is not UTF-8 text: {column} holds the byte "
            f"0x{text[error.start]:02x}. Convert it: iconv -f LATIN1 -t UTF-8 FILE > NEW."
        )
        raise ValueError(msg) from error


def require_unicode(
    name: str,
    records: Records,
    buffer: NDArray[np.uint8],
    firsts: NDArray[np.int64],
    lasts: NDArray[np.int64],
) -> None:
    """Refuse labels that are not UTF-8, with the record."""
    for record, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
        if (buffer[first:last] > 127).any():
            decoded(name, records, record, buffer[first:last].tobytes(), "ID, REF, ALT or FILTER")


def wrong_call(status: int, text: str, records: Records, record: int) -> str:
    """Return what is wrong with a call."""
    if status == vcf_text.NO_ALLELE:
        shown = f"the call {text!r}" if text else "a call"
        n = int(records.alleles[record])
        return f"{shown} has an allele beyond the {n} of REF and ALT. Correct the record."
    return f"{text[:80]!r} is no call such as 0/1, 0|1 or ./. Correct the record."
