"""Select the records of a region, by an index or by looking at all records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data.contigs import contig_named
from genobit.data.regions import REGION_SYNTAX, Region, parse_region
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

    def keep(self, records: Records, contigs: list[str]) -> NDArray[np.bool_] | None:
        """Return which records to keep, or None for all."""
        return None


class InRegion:
    """Keep the records of a region. Names of the records go before those of the header."""

    def __init__(self, text: str, declared: list[str], index: Index | None) -> None:
        self.text, self.declared, self.index = text, declared, index
        first = [] if index is None else index.names
        found = parse_region(text, first)
        if found.contig not in first:
            found = parse_region(text, [*dict.fromkeys([*first, *declared])])
        self.region = found
        self._matches: dict[str, Region | None] = {}
        self.seen: dict[str, None] = {}

    def spans(self, whole: Span) -> list[Span]:
        """Return the parts of the file to read."""
        if self.index is None:
            return [whole]
        region = self.region
        return self.index.spans(region.contig, region.start, region.end)

    def keep(self, records: Records, contigs: list[str]) -> NDArray[np.bool_] | None:
        """Return which records to keep."""
        inside = np.zeros(len(records), bool)
        for code in np.unique(records.contigs).tolist():
            region = self._on(contigs[code])
            if region is None:
                continue
            there = (records.contigs == code) & (records.positions >= region.start)
            if region.end is not None:
                there &= records.positions <= region.end
            inside |= there
        return inside

    def _on(self, contig: str) -> Region | None:
        """Return the region if it is on a contig of the records, which may have another name."""
        self.seen.setdefault(contig)
        if contig not in self._matches:
            found = self.region
            if contig != found.contig:
                # A contig of the file that has the very name goes before others.
                if self.index is None and found.contig not in self.seen and contig_named(found.contig, [contig]):
                    found = parse_region(self.text, [contig])
                self._matches[contig] = found if found.contig == contig else None
            else:
                self._matches[contig] = found
        return self._matches[contig]

    def nothing(self, path: str) -> ValueError:
        """Return the error for a region without records."""
        names = [*dict.fromkeys([*(self.index.names if self.index else self.seen), *self.declared])]
        region = self.region
        if contig_named(region.contig, names) is not None:
            return ValueError(f"{path} has no record in {region}. Positions count from 1.")
        shown = ", ".join(names[:30]) + (f", ... ({len(names)} in all)" if len(names) > 30 else "")
        meant = did_you_mean(region.contig, names)
        return ValueError(
            f"{path} has no contig {region.contig!r}; it has {shown or 'none'}{meant} {REGION_SYNTAX}"
        )
