"""Regions of a chromosome as text, and which variants of one are looked at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Region = tuple[str, float, float]

#: Neighbours that are taken together where variants are thinned.
RUN = 4

_UNITS = {"": 1.0, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6}
_NUMBER = r"\s*([\d.,]+(?:e\d+)?)\s*(kb|mb|k|m|)\s*"
_TEXT = re.compile(rf"(?:(?P<contig>.+):)?{_NUMBER}(?:-|–|\.\.){_NUMBER}", re.IGNORECASE)


def parse_region(text: str, contigs: Sequence[str], default: str) -> Region:
    """Read a region such as `2:136.0e6-136.5e6`, `136,000,000-136,500,000` or `2:136Mb-136.5Mb`.

    Parameters
    ----------
    text
        What was typed; a contig alone means all of it.
    contigs
        The names that exist.
    default
        The contig where the text names none.

    Raises
    ------
    ValueError
        If the text cannot be read, names an unknown contig or runs backwards.

    Examples
    --------
    >>> parse_region("2:136.0e6-136.5e6", ["1", "2"], default="1")
    ('2', 136000000.0, 136500000.0)
    >>> parse_region("chr2: 136 Mb - 136.5 Mb", ["1", "2"], default="1")
    ('2', 136000000.0, 136500000.0)
    >>> parse_region("2", ["1", "2"], default="1")
    ('2', 0.0, inf)
    """
    text = text.strip()
    if not re.search(r"[-–]|\.\.", text) and (":" not in text):
        return known_contig(text, contigs), 0.0, float("inf")
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(
            f"cannot read the region {text!r}; write contig:from-to in base pairs, kb or Mb, "
            f"such as {contigs[0]}:1,000,000-1,500,000 or {contigs[0]}:1Mb-1.5Mb"
        )
    contig = known_contig(match["contig"] or default, contigs)
    try:
        start, end = (
            float(match[k].replace(",", "")) * _UNITS[match[k + 1].lower()] for k in (2, 4)
        )
    except ValueError:
        raise ValueError(
            f"cannot read the numbers of the region {text!r}; use a point for decimals"
        ) from None
    if end < start:
        raise ValueError(f"the region {text!r} ends before it begins; swap the two positions")
    return contig, start, end


def known_contig(name: str, contigs: Sequence[str]) -> str:
    """Find a contig, with or without "chr" before its name.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> known_contig("2", ["chr1", "chr2"])
    'chr2'
    """
    name = name.strip()
    for contig in contigs:
        if contig.removeprefix("chr") == name.removeprefix("chr"):
            return contig
    shown = ", ".join(contigs[:8]) + (", …" if len(contigs) > 8 else "")
    raise ValueError(f"there is no contig {name!r}; the Dataset has {shown}")


def region_text(region: Region) -> str:
    """Write a region so that `parse_region` reads it back.

    Examples
    --------
    >>> region_text(("2", 136_000_000, 136_500_000))
    '2:136,000,000-136,500,000'
    """
    contig, start, end = region
    return f"{contig}:{start:,.0f}-{end:,.0f}"


@dataclass(frozen=True)
class Choice:
    """The variants of one look: one in `step` of those in view.

    `variants` are indices along the Dataset, `first_rank` the rank of the first among the
    variants of its contig that pass the frequency filter. A choice that is thinned has runs of
    `RUN` neighbours, so that the LD of neighbours is in every picture, and is laid out as if they
    were evenly spaced: none is further from its place than `RUN` steps.
    """

    variants: np.ndarray
    first_rank: int
    step: int
    n_in_view: int

    @property
    def places(self) -> range:
        """Ranks of the variants in steps."""
        first = self.first_rank // self.step
        return range(first, first + len(self.variants))

    def in_words(self) -> str:
        """What thinning leaves; "" where all variants are there."""
        return f"{RUN} neighbours in every {RUN * self.step:,}" if self.step > 1 else ""


class Contig:
    """The variants of one contig that pass a frequency filter, ordered by position.

    Parameters
    ----------
    position
        Shape (variants,), base pairs, of the whole Dataset.
    members
        Indices of the contig's variants along the Dataset.
    frequency
        Shape (len(members),), of the counted allele; NaN where nothing is called.
    min_maf
        Rarer variants are left out; 0 keeps those without calls too.
    """

    def __init__(
        self, position: np.ndarray, members: np.ndarray, frequency: np.ndarray, min_maf: float
    ) -> None:
        if min_maf > 0:
            with np.errstate(invalid="ignore"):
                members = members[np.minimum(frequency, 1 - frequency) >= min_maf]
        order = np.argsort(position[members], kind="stable")
        self.variants = members[order]
        self.position = position[self.variants]

    def between(self, start: float, end: float, limit: int) -> Choice:
        """Choose at most `limit` variants from `start` to `end`, both included.

        Parameters
        ----------
        start, end
            Base pairs.
        limit
            More variants than this are thinned, by powers of two and in the same way along the
            contig: a pan shows the same ones.

        Examples
        --------
        >>> contig = Contig(np.array([5, 1, 3]), np.arange(3), np.full(3, 0.5), min_maf=0.0)
        >>> contig.between(2, 9, limit=100).variants
        array([2, 0])
        """
        first = int(np.searchsorted(self.position, start, side="left"))
        last = int(np.searchsorted(self.position, end, side="right"))
        step = 1
        while (places := range(_place(first, step), _place(last, step))) and len(places) > limit:
            step *= 2
        chosen = self.thinned(step)[places.start : places.stop]
        return Choice(chosen, places.start * step, step, last - first)

    def thinned(self, step: int) -> np.ndarray:
        """Take `RUN` variants of every `RUN * step`.

        Parameters
        ----------
        step
            A power of two.

        Examples
        --------
        >>> contig = Contig(np.arange(20), np.arange(20), np.full(20, 0.5), min_maf=0.0)
        >>> contig.thinned(2)
        array([ 0,  1,  2,  3,  8,  9, 10, 11, 16, 17, 18, 19])
        """
        if step == 1:
            return self.variants
        place = np.arange(_place(len(self.variants), step))
        return self.variants[place // RUN * RUN * step + place % RUN]

    def positions_of_ranks(self, start: float, end: float) -> tuple[float, float]:
        """Turn a stretch of a rank axis into base pairs.

        Parameters
        ----------
        start, end
            Edges in ranks; a variant counts if its middle is inside.

        Examples
        --------
        >>> contig = Contig(np.array([5, 1, 3]), np.arange(3), np.full(3, 0.5), min_maf=0.0)
        >>> contig.positions_of_ranks(0.5, 99.0)
        (3.0, 5.0)
        """
        top = len(self.position) - 1
        first = int(np.clip(np.ceil(start), 0, top))
        last = int(np.clip(np.floor(end), first, top))
        return float(self.position[first]), float(self.position[last])


def _place(rank: int, step: int) -> int:
    """Count the variants before a rank that thinning leaves."""
    runs, rest = divmod(rank, RUN * step)
    return runs * RUN + min(rest, RUN)
