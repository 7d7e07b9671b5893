"""Text of a region, and the choice of variants to show in a region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Region = tuple[str, float, float]

#: Neighbouring variants that thinning keeps together.
RUN = 4


def region_text(region: Region) -> str:
    """Return a region as text that `genobit.data.regions` can read.

    Examples
    --------
    >>> region_text(("2", 136_000_000, 136_500_000))
    '2:136,000,000-136,500,000'
    """
    contig, start, end = region
    return f"{contig}:{start:,.0f}-{end:,.0f}"


@dataclass(frozen=True)
class ShownVariants:
    """Variants to show: one in `step` of the variants in view.

    `variants` are indices along the Dataset. `first_rank` is the rank of the first one among the
    variants of its contig that pass the frequency filter. A thinned choice has runs of `RUN`
    neighbours, so that every picture has the LD of neighbours. It is laid out as if evenly spaced:
    no variant is further from its true place than `RUN` steps.
    """

    variants: np.ndarray
    first_rank: int
    step: int
    n_in_view: int

    @property
    def places(self) -> range:
        """Return the ranks of the variants, in steps."""
        first = self.first_rank // self.step
        return range(first, first + len(self.variants))

    def in_words(self) -> str:
        """Describe the thinning; "" without thinning."""
        return f"{RUN} neighbours in every {RUN * self.step:,}" if self.step > 1 else ""


class Contig:
    """The variants of one contig that pass a frequency filter, ordered by position.

    position: (variants,) base pairs of the whole Dataset; members: indices of the contig's
    variants; frequency: (len(members),) of the counted allele, NaN without calls. A `min_maf` of 0
    keeps variants without calls.
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

    def between(self, start: float, end: float, limit: int) -> ShownVariants:
        """Choose at most `limit` variants from `start` to `end` in base pairs, both included.

        More variants are thinned by powers of two. The thinning is the same along the contig, so a
        pan shows the same variants.

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
        return ShownVariants(chosen, places.start * step, step, last - first)

    def thinned(self, step: int) -> np.ndarray:
        """Return `RUN` variants of every `RUN * step`; the step is a power of two.

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
        """Convert a stretch of a rank axis to base pairs.

        Its ends are in ranks. A variant is included if its middle is inside.

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
    """Return the number of variants before a rank that thinning keeps."""
    runs, rest = divmod(rank, RUN * step)
    return runs * RUN + min(rest, RUN)
