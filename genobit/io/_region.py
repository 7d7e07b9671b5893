"""Parse genome regions: a contig, or a contig and a range of positions."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

REGION_SYNTAX = "Write 22, 22:16051497-16060000, 22:16051497- or 2:136.0e6-136.9e6."


@dataclass(frozen=True)
class Region:
    """Positions `start` to `end` of a contig, both included, counted from 1."""

    contig: str
    start: int = 1
    end: int | None = None

    def __str__(self) -> str:
        return f"{self.contig}:{self.start}-{'' if self.end is None else self.end}"


def parse_region(text: str, contigs: Collection[str] = ()) -> Region:
    """Parse a region such as `2:136.0e6-136.9e6`, `22:16,051,497-16060000` or `22`.

    A name in ``contigs``, such as `HLA-A*01:01:01:01`, is that whole contig, including its colons.
    Raises ValueError for a region without a contig, with a single position, with a position that is
    not a whole number, or with its end before its start.
    """
    whole = text.strip()
    if whole in contigs:
        return Region(whole)
    contig, colon, span = whole.rpartition(":")
    # Some contigs have colons in their names (HLA:HLA00001); a range begins with a digit.
    is_name = not colon or not re.match(r"[\d.,+-]", span)
    # `HLA-A*01:01` is a name unless the contig `HLA-A*01` exists.
    if is_name or (contigs and "-" not in span and contig not in contigs):
        contig, span = whole, "1-"
    start_text, dash, end_text = span.partition("-")
    if not contig or not dash:
        reason = "has no contig" if not contig else f"{span} is one position, not a range"
        msg = f"Region {text!r}: {reason}. {REGION_SYNTAX}"
        raise ValueError(msg)
    start = _position(start_text, text)
    end = _position(end_text, text) if end_text else None
    if start < 1 or (end is not None and end < start):
        msg = f"Region {text!r}: positions count from 1 and the end is not before the start."
        raise ValueError(msg)
    return Region(contig, start, end)


def _position(text: str, region: str) -> int:
    try:
        value = Decimal(text.replace(",", ""))
        whole = int(value)
    except (InvalidOperation, ValueError, OverflowError):
        whole = None
    if whole is None or value != whole:
        msg = f"Region {region!r}: {text!r} is not a whole position. {REGION_SYNTAX}"
        raise ValueError(msg)
    return whole
