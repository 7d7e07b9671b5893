"""Select the records of a region, by an index or by looking at all records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data.regions import REGION_SYNTAX, NoRecordError, Region, parse_region
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.io.vcf_files.index import Index
    from genobit.io.vcf_files.records import Records
    from genobit.io.vcf_files.scan import Span


class Everything:
    """Keep all records."""

    def spans(self, whole: Span) -> list[Span]:
        """Return the parts of the file to read."""
        return [whole]

    def keep(self, _records: Records, _contigs: list[str]) -> None:
        """Return None: all records are kept."""
        return


class InRegion:
    """Keep the records of a region. Names of the records go before those of the header."""

    def __init__(self, text: str, declared: list[str], index: Index | None) -> None:
        self.text, self.declared, self.index = text, declared, index
        self.region: Region | None = None
        """The region by the name of its contig in the records, once that is known."""
        self._by_contig: dict[str, Region | None] = {}
        if index is not None:
            self.region = _parsed(text, index.names)
            if self.region is None:
                raise self.nothing(index.source.name.rpartition(".")[0])

    def spans(self, whole: Span) -> list[Span]:
        """Return the parts of the file to read."""
        if self.index is None or self.region is None:
            return [whole]
        return self.index.spans(self.region.contig, self.region.start, self.region.end)

    def keep(self, records: Records, contigs: list[str]) -> NDArray[np.bool_] | None:
        """Return which records to keep."""
        inside = np.zeros(len(records), bool)
        for code in np.unique(records.contigs).tolist():
            if contigs[code] not in self._by_contig:
                self._by_contig[contigs[code]] = self._on(contigs[code])
            region = self._by_contig[contigs[code]]
            if region is not None:
                there = (records.contigs == code) & (records.positions >= region.start)
                inside |= there & (records.positions <= (region.end or np.inf))
        return inside

    def _on(self, contig: str) -> Region | None:
        """Return the region if it is on a contig of the records, which may have another name."""
        if self.index is not None:
            return self.region if self.region and self.region.contig == contig else None
        found = _parsed(self.text, [contig])
        # Of two names of a chromosome in one file, the very name is meant.
        if found is not None and (self.region is None or contig in self.text):
            self._by_contig = dict.fromkeys(self._by_contig)
            self.region = found
            return found
        return None

    def nothing(self, path: str) -> ValueError:
        """Return the error for a region without records."""
        known = self.index.names if self.index else self._by_contig
        names = [*dict.fromkeys([*known, *self.declared])]
        region = parse_region(self.text, names)
        if region.contig in names:
            return NoRecordError(f"{path} has no record in {region}. Positions count from 1.")
        shown = ", ".join(names[:30]) + (f", ... ({len(names)} in all)" if len(names) > 30 else "")
        meant = did_you_mean(region.contig, names)
        return NoRecordError(
            f"{path} has no contig {region.contig!r}; it has {shown or 'none'}{meant} "
            f"{REGION_SYNTAX}"
        )


def _parsed(text: str, contigs: list[str]) -> Region | None:
    """Return the region on one of the contigs, or None."""
    try:
        found = parse_region(text, contigs)
    except ValueError:
        # A name with colons that is no contig here reads as a wrong range.
        return None
    return found if found.contig in contigs else None
