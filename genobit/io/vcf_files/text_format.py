"""Records of VCF: lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.io._filters import WRITE_FILTERS, filter_names
from genobit.io.kernels import vcf_calls, vcf_labels, vcf_text
from genobit.io.kernels.vcf_text import CALLED, ENTRIES, RECORD, SAMPLE, STATUS
from genobit.io.vcf_files.header import FIXED_COLUMNS
from genobit.io.vcf_files.records import (
    EMPTY_ALLELE,
    Format,
    Labels,
    Records,
    decoded,
    place_of,
    wrong_call,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.io.vcf_files.header import Header


class TextFormat(Format):
    """Records of VCF: lines of text."""

    kernel = staticmethod(vcf_calls.read_calls)
    copy_labels = staticmethod(vcf_labels.copy_labels)
    no_filter = f"an empty name. {WRITE_FILTERS}"

    def __init__(self, name: str, header: Header) -> None:
        self.name, self.samples = name, header.samples
        self.contigs: list[str] = []
        self._codes: dict[bytes, int] = {}

    def split(
        self, text: NDArray[np.uint8], first: int, stop: int, starts: NDArray[np.int64]
    ) -> tuple[int, int]:
        """Fill the starts of whole records; return their number and the place after."""
        return vcf_text.line_starts(text, first, stop, starts)

    def may_end(self, parts: list[NDArray[np.uint8]], held: int) -> bool:
        """Return whether the first record of some parts ends in the last."""
        del held
        return bool((parts[-1] == ord("\n")).any())

    def end(self, rest: bytes) -> bytes:
        """Return the last record of a text that ends without a mark."""
        return rest + b"\n"

    def locate(self, records: Records) -> Records:
        """Find the parts of records; raise ValueError with the place of a fault."""
        n = len(records)
        where = np.empty((n, FIXED_COLUMNS + 1), np.int64)
        positions, alleles = np.empty(n, np.int64), np.empty(n, np.int64)
        report = np.zeros(ENTRIES, np.int64)
        vcf_text.read_columns(records.text, records.starts, where, positions, report)
        if report[STATUS]:
            raise self.fault(records, report)
        empty = vcf_labels.count_alleles(records.text, where, alleles)
        if empty >= 0:
            report[STATUS], report[RECORD] = vcf_text.EMPTY_ALLELE, empty
            raise self.fault(records, report)
        return Records(
            records.text,
            records.starts,
            records.stops,
            records.shift,
            records.numbers,
            where,
            self._contigs_of(records, where),
            positions,
            alleles,
            int(report[CALLED]),
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
                self.contigs.append(decoded(self.name, records, record, name, "CHROM"))
            codes.append(self._codes[name])
        return np.repeat(np.array(codes, np.int32), np.diff(np.append(changes[:n], len(records))))

    def labels(self, records: Records) -> Labels:
        """Return the labels of located records."""
        n, where = len(records), records.where
        quality, others = np.empty(n, np.float32), np.empty(n, np.int64)
        n_others = vcf_labels.read_quality(records.text, where, quality, others)
        for record in others[:n_others].tolist():
            text = records.text[where[record, 4] + 1 : where[record, 5]].tobytes()
            quality[record] = self._quality(records, record, text)
        filters = where[:, 5] + 1, where[:, 6].copy()
        found = self.labels_from(records, int((where[:, 4] - where[:, 1]).sum()), filters, quality)
        for text, record in zip(found.filter_texts, found.filter_firsts, strict=True):
            decoded(self.name, records, record, text, "FILTER")
        return found

    def _quality(self, records: Records, record: int, text: bytes) -> float:
        try:
            # `float` would take 1_0 too.
            return float(text.replace(b"_", b"x"))
        except ValueError:
            shown = text.decode(errors="replace")
            msg = (
                f"{self.place(records, record)} has the QUAL {shown!r}, expected a number or a "
                "dot. Correct the record."
            )
            raise ValueError(msg) from None

    def filter_names(self, texts: list[bytes]) -> list[list[str]]:
        """Return the names of the filters in texts of FILTER; an empty name is ""."""
        return [filter_names(text.decode()) for text in texts]

    def place(self, records: Records, record: int) -> str:
        """Return file, number, contig and position of a record."""
        line = records.text[records.starts[record] : records.stops[record]].tobytes()
        place = b":".join(line.split(b"\t")[:2]).decode(errors="replace").strip()
        return place_of(self.name, records, record, place[:80])

    def fault(self, records: Records, report: NDArray[np.int64]) -> ValueError:
        """Return the error for the report of a kernel."""
        status, record, sample = (int(report[k]) for k in (STATUS, RECORD, SAMPLE))
        line = records.text[records.starts[record] : records.stops[record]].tobytes()
        place, expected = self.place(records, record), FIXED_COLUMNS + len(self.samples)
        if status in (vcf_text.FEW_COLUMNS, vcf_text.FEW_SAMPLES, vcf_text.MANY_SAMPLES):
            n = line.rstrip(b"\r\n").count(b"\t") + 1
            remedy = "Is the file cut short?" if n < expected else "Correct the record."
            msg = f"{place} has {n} columns where the header has {expected}. {remedy}"
        elif status == vcf_text.EMPTY_ALLELE:
            msg = f"{place} {EMPTY_ALLELE}"
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
            why = wrong_call(status, text, records, record)
            msg = f"{place}, sample {self.samples[sample]!r}: {why}"
        return ValueError(msg)
