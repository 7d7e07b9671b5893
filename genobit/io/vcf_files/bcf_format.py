"""Records of BCF: typed values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data.guards.bounded import TEXT_COST
from genobit.engine.options import require_fits
from genobit.io.kernels import bcf, vcf_text
from genobit.io.kernels.vcf_text import CALLED, ENTRIES, RECORD, SAMPLE, STATUS
from genobit.io.vcf_files.records import (
    EMPTY_ALLELE,
    Format,
    Labels,
    Records,
    place_of,
    wrong_call,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.io.vcf_files.header import Header


class BcfFormat(Format):
    """Records of BCF: typed values."""

    kernel = staticmethod(bcf.read_calls)
    copy_labels = staticmethod(bcf.copy_labels)
    no_filter = "a number that the header does not name. Copy the file again."

    def __init__(self, name: str, header: Header) -> None:
        self.name, self.samples = name, header.samples
        by_number = sorted(header.contig_by_number().items())
        self.contigs = [contig for _, contig in by_number]
        # The last is none that a record can have.
        self._numbers = np.array([*(number for number, _ in by_number), 2**63 - 1], np.int64)
        self._words = header.word_by_number()
        self._key = next((k for k, word in self._words.items() if word == "GT"), -1)

    def split(
        self, text: NDArray[np.uint8], first: int, stop: int, starts: NDArray[np.int64]
    ) -> tuple[int, int]:
        """Fill the starts of whole records; return their number and the place after."""
        n, end = bcf.record_starts(text, first, stop, starts)
        if end + 8 <= stop and n < starts.size:
            require_fits(f"{self.name}: a record", int(bcf.record_size(text, end)), TEXT_COST)
        return n, end

    def may_end(self, parts: list[NDArray[np.uint8]], held: int) -> bool:
        """Return whether the first record of some parts ends in the last."""
        start = np.concatenate([part[:8] for part in parts])
        return held < 8 or held >= int(bcf.record_size(start, 0))

    def end(self, rest: bytes) -> bytes:
        """Return the last record of a text that ends without a mark."""
        msg = (
            f"{self.name} is truncated: {len(rest):,} bytes after its last whole record. Copy it "
            "again."
        )
        raise ValueError(msg)

    def locate(self, records: Records) -> Records:
        """Find the parts of records; raise ValueError with the place of a fault."""
        n = len(records)
        places, positions, alleles = (
            np.empty((n, 8), np.int64),
            np.empty(n, np.int64),
            np.empty(n, np.int64),
        )
        report = np.zeros(ENTRIES, np.int64)
        bcf.read_places(
            records.text,
            records.starts,
            self._key,
            len(self.samples),
            places,
            positions,
            alleles,
            report,
        )
        contigs = np.searchsorted(self._numbers, places[:, bcf.CONTIG])
        lost = np.flatnonzero(self._numbers[contigs] != places[:, bcf.CONTIG])
        contigs[lost] = -1
        if lost.size and not report[STATUS]:
            report[STATUS], report[RECORD] = vcf_text.BAD_RECORD, lost[0]
        found = Records(
            records.text,
            records.starts,
            records.stops,
            records.shift,
            records.numbers,
            places,
            contigs.astype(np.int32),
            positions,
            alleles,
            int(report[CALLED]),
        )
        if report[STATUS]:
            raise self.fault(found, report)
        return found

    def labels(self, records: Records) -> Labels:
        """Return the labels of located records."""
        bits, where = np.empty(len(records), np.uint32), records.where
        bcf.read_quality(records.text, records.starts, bits)
        filters = where[:, bcf.FILTER].copy(), where[:, bcf.FILTER_END].copy()
        # An empty ID becomes a dot.
        room = int((filters[0] - where[:, bcf.ID] + 2).sum())
        return self.labels_from(records, room, filters, bits.view(np.float32))

    def filter_names(self, texts: list[bytes]) -> list[list[str]]:
        """Return the names of the filters in vectors of FILTER; "" if the header lacks one."""
        found = []
        for text in texts:
            kind, octets = text[0] & 15, {1: 1, 2: 2, 3: 4}.get(text[0] & 15, 1)
            at = 1
            if text[0] >> 4 == 15:
                at = 2 + {1: 1, 2: 2, 3: 4}.get(text[1] & 15, 1)
            numbers = np.frombuffer(text[at:], f"<i{octets}") if kind in {1, 2, 3} else np.zeros(0)
            found.append([self._words.get(int(k), "") for k in numbers if k >= 0])
        return found

    def place(self, records: Records, record: int) -> str:
        """Return file, number, contig and position of a record."""
        where = ""
        if record < records.contigs.size and 0 <= records.contigs[record] < len(self.contigs):
            where = f"{self.contigs[records.contigs[record]]}:{records.positions[record]}"
        return place_of(self.name, records, record, where)

    def fault(self, records: Records, report: NDArray[np.int64]) -> ValueError:
        """Return the error for the report of a kernel."""
        status, record, sample = (int(report[k]) for k in (STATUS, RECORD, SAMPLE))
        place = self.place(records, record)
        if status in (vcf_text.FEW_SAMPLES, vcf_text.MANY_SAMPLES):
            return ValueError(
                f"{place} has {sample} samples where the header has {len(self.samples)}."
            )
        if status == vcf_text.EMPTY_ALLELE:
            return ValueError(f"{place} {EMPTY_ALLELE}")
        if status in (vcf_text.BAD_RECORD, vcf_text.BAD_POSITION, vcf_text.NO_CALL):
            return ValueError(f"{place} is damaged. Copy the file again.")
        return ValueError(
            f"{place}, sample {self.samples[sample]!r}: {wrong_call(status, '', records, record)}"
        )
