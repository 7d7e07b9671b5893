"""Parse regions of a genome: a contig, or a contig and a range of positions.

Selections by label, `open_vcf`, the explorers and the command line read regions here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal

from genobit.data.contigs import contig_named
from genobit.engine.spelling import did_you_mean

REGION_SYNTAX = (
    "Write 2, 2:136.5e6-, 2:136,500,000-136,700,000, 2:136500kb-136700kb or 2:136.5Mb-136.7Mb."
)

_UNITS = {"": 1, "bp": 1, "k": 10**3, "kb": 10**3, "m": 10**6, "mb": 10**6}
_POSITION = re.compile(
    r"(?P<number>(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:e\+?\d{1,3})?)"
    r"\s*(?P<unit>bp|kb|mb|k|m|)",
    re.IGNORECASE,
)
_DASH = re.compile(r"\s*(?:-|–|\.\.)\s*")
_RANGE = re.compile(r"\s*[\d.,+-]")
_LARGEST = 10**12
"""Larger than any position."""


@dataclass(frozen=True)
class Region:
    """Positions `start` to `end` of a contig, both included, counted as `variant_position` is."""

    contig: str
    start: int = 1
    end: int | None = None

    def __str__(self) -> str:
        """Return the region as text that `parse_region` reads."""
        return f"{self.contig}:{self.start}-{'' if self.end is None else self.end}"


class NoRecordError(ValueError):
    """A file has no record in a region; another one of several files may have some."""


def parse_region(text: str, contigs: Iterable[str] = (), default: str | None = None) -> Region:
    """Parse a region such as `2:136.5Mb-136.7Mb`, `chr22:16,051,497-16060000`, `X:5kb-` or `22`.

    All names of a chromosome match (`genobit.data.contigs`). A name in ``contigs``, such as
    `HLA-A*01:01:01:01`, is that whole contig, including its colons. A contig that is not in
    ``contigs`` is returned as it is written. A range without a contig is on ``default``.

    Raises ValueError for a region without a contig, with a single position, with a position that is
    not a whole number, with a unit for its end only, or with its end before its start.

    Examples
    --------
    >>> parse_region("chr2:136.5Mb-136.7Mb", ["1", "2"])
    Region(contig='2', start=136500000, end=136700000)
    """
    whole, known = text.strip(), list(contigs)
    found = contig_named(whole, known)
    if found is not None:
        return Region(found)
    contig, colon, span = (part.strip() for part in whole.rpartition(":"))
    if not colon and default is not None and whole[:1].isdigit() and _DASH.search(whole):
        contig, span = default, whole
    elif not colon or _is_name(contig, span, known):
        contig, span = whole, "1-"
    start, *end = _DASH.split(span, 1)
    if not contig or not end:
        reason = "has no contig" if not contig else f"{span} is one position, not a range"
        raise ValueError(f"Region {text!r}: {reason}. {REGION_SYNTAX}")
    found = contig_named(contig, known)
    return Region(contig if found is None else found, *_ends(start, end[0], text))


def known_contig(name: str, contigs: Iterable[str]) -> str:
    """Return the contig with a name, as `contig_named`. Raises ValueError for an unknown contig."""
    known = list(contigs)
    found = contig_named(name, known)
    if found is None:
        shown = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
        meant = did_you_mean(name, known)
        msg = f"there is no contig {name!r}; the Dataset has {shown or 'none'}{meant}"
        raise ValueError(f"{msg} {REGION_SYNTAX}")
    return found


def _is_name(contig: str, span: str, known: Collection[str]) -> bool:
    """Return whether a colon is part of a contig's name."""
    # Some contigs have colons in their names (HLA:HLA00001); a range begins with a digit.
    if not _RANGE.match(span):
        return True
    # `HLA-A*01:01` is a name unless the contig `HLA-A*01` exists.
    return bool(known) and not _DASH.search(span) and contig_named(contig, known) is None


def _ends(start: str, end: str, region: str) -> tuple[int, int | None]:
    """Return the first and last position of a region from their texts; no text is no end."""
    first, unit = _position(start, region)
    last, end_unit = _position(end, region) if end else (None, "")
    factor = _UNITS[end_unit]
    if factor > 1 and not unit and last is not None and 1 < first <= last / factor:
        msg = f"Region {region!r}: write the unit of both positions, {start}{end_unit}-{end}."
        raise ValueError(msg)
    if last is not None and last < first:
        raise ValueError(f"Region {region!r} ends before it begins: swap the positions.")
    return first, last


def _position(text: str, region: str) -> tuple[int, str]:
    """Return a position in base pairs, and its unit in lower case."""
    match = _POSITION.fullmatch(text.strip())
    if match is not None:
        unit = match["unit"].lower()
        value = Decimal(match["number"].replace(",", "")) * _UNITS[unit]
        if value > _LARGEST:
            return _LARGEST, unit
        if value == int(value):
            return int(value), unit
    raise ValueError(f"Region {region!r}: {text!r} is not a whole position. {REGION_SYNTAX}")
