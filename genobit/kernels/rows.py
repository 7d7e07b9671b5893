"""Bit planes of some variants or samples, as kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from genobit.kernels.bits import count_rows

Planes = tuple[NDArray[np.uint64], ...]
"""Planes of one operand, each (rows, words)."""


class Rows(NamedTuple):
    """Bit planes of some rows, each (rows, words): haplotypes (alt, called) or dosages."""

    haplotypes: bool
    bits: int
    planes: Planes
    """(alt,), or (carrier, hom_alt) of dosages; the called plane is apart."""
    called: NDArray[np.uint64] | None

    def complete(self) -> bool:
        """Whether no call is missing."""
        return self.called is None or bool((count_rows(self.called) == self.bits).all())

    def every(self) -> NDArray[np.uint64]:
        """The called plane, made up where nothing is missing."""
        if self.called is not None:
            return self.called
        words = np.full(self.planes[0].shape, ~np.uint64(0))
        if self.bits % 64:
            words[:, -1] = (np.uint64(1) << np.uint64(self.bits % 64)) - np.uint64(1)
        return words

    def homozygotes(self) -> Planes:
        """Planes of dosage 2 and of dosage 0."""
        carrier, hom_alt = self.planes
        return hom_alt, self.every() & ~carrier

    def ternary(self) -> Planes:
        """Mask and sign of dosage - 1: 0 where heterozygous or missing."""
        hom_alt, hom_ref = self.homozygotes()
        return hom_alt | hom_ref, hom_ref
