"""Records of text or of BCF: where their parts lie, and the pieces of text that hold them whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.guards.bounded import TEXT_COST
from genobit.engine.options import require_fits
from genobit.io.kernels import vcf_text
from genobit.io.kernels.vcf_labels import encode_texts
from genobit.io.kernels.vcf_text import ENTRIES, PADDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from genobit.io.kernels.vcf_rows import Rows
    from genobit.io.vcf_files.blocks import Text

USUAL_LINE = 64
"""Bytes a record is taken to have at least; a piece with shorter ones is read in several steps."""
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
    """Labels of records."""

    buffer: NDArray[np.uint8]
    """ID and alleles of each record, and a byte after each text."""
    sizes: NDArray[np.integer]
    """Bytes of each text."""
    counts: NDArray[np.int64]
    """Alleles of each record."""
    filters: NDArray[np.int32]
    """Number of the text of FILTER of each record; and these texts, and where each comes first."""
    filter_texts: list[bytes]
    filter_firsts: list[int]
    quality: NDArray[np.float32]
    contigs: NDArray[np.int32]
    positions: NDArray[np.int64]


class Format:
    """What text and BCF share: a kernel of each reads calls in the same way."""

    samples: tuple[str, ...]
    name: str
    kernel: Callable[..., None]
    copy_labels: Callable[..., int]
    no_filter: str
    """Message for a filter without a name."""

    def calls(self, records: Records, ploidy: int, rows: Rows) -> NDArray[np.int64]:
        """Read and pack calls; return the report of the kernel."""
        report = np.zeros(ENTRIES, np.int64)
        # An ALT of "." may be an allele that is not known, as plink2 writes it.
        alleles, samples = np.maximum(records.alleles, 2), len(self.samples)
        self.kernel(records.text, records.where, alleles, samples, ploidy, rows, report)
        return report

    def labels_from(
        self,
        records: Records,
        room: int,
        filters: tuple[NDArray[np.int64], NDArray[np.int64]],
        quality: NDArray[np.float32],
    ) -> Labels:
        """Return labels, of which ID and alleles take up to ``room`` bytes.

        ``filters`` are where FILTER begins and ends in the text. Raises ValueError for text that is
        not UTF-8.
        """
        n, counts = len(records), records.alleles
        buffer = np.empty(room + PADDING, np.uint8)
        # A text that needs more bits is a record of several GiB.
        sizes: NDArray[np.integer] = np.empty(
            int(counts.sum()) + n, np.uint32 if room < 2**32 else np.int64
        )
        buffer = buffer[: self.copy_labels(records.text, records.where, counts, buffer, sizes)]
        if buffer.max() > 127:
            ends = np.cumsum(sizes.astype(np.int64) + 1)
            lasts = ends[np.cumsum(counts + 1) - 1]
            for record, (first, last) in enumerate(pairwise([0, *lasts.tolist()])):
                decoded(self.name, records, record, buffer[first:last].tobytes(), "ID, REF or ALT")
        codes, firsts = np.empty(n, np.int32), np.empty(n, np.int64)
        table = np.full(1 << max(2 * n - 1, 1).bit_length(), -1, np.int32)
        differ = encode_texts(records.text, *filters, table, codes, firsts)
        found = firsts[:differ].tolist()
        texts = [records.text[filters[0][k] : filters[1][k]].tobytes() for k in found]
        return Labels(
            buffer,
            sizes,
            counts,
            codes,
            texts,
            found,
            quality,
            records.contigs,
            records.positions,
        )


def whole_records(
    texts: Iterator[Text], form: Any, skip: int, *, whole: bool, counted: bool
) -> Iterator[tuple[Records, int]]:
    """Yield the whole records of pieces of text, and the bytes of the file that were read.

    The first ``skip`` bytes are no records. A record that is cut by the end of a piece goes before
    the next one; unless ``whole``, the last one is left out. If ``counted``, the first record is
    that of the file.
    """
    rest: list[NDArray[np.uint8]] = []
    held, number, place, read, before = 0, 0, 0, 0, 0
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
            # Room for the shortest records would take twice the bytes of the text.
            room = max((stop - first) // USUAL_LINE, before + before // 4) + 1
            starts = np.empty(room, np.int64)
            n, end = form.split(data, first, stop, starts)
            if n:
                starts = starts[:n].copy()
                numbers = np.arange(number + 1, number + n + 1) * counted
                yield Records(data, starts, np.append(starts[1:], end), shift, numbers), read
                number += n
            before = max(n, before)
            if end == first or n < room:
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


def wrong_call(status: int, text: str, records: Records, record: int) -> str:
    """Return what is wrong with a call."""
    if status == vcf_text.NO_ALLELE:
        shown = f"the call {text!r}" if text else "a call"
        n = int(records.alleles[record])
        return f"{shown} has an allele beyond the {n} of REF and ALT. Correct the record."
    return f"{text[:80]!r} is no call such as 0/1, 0|1 or ./. Correct the record."
