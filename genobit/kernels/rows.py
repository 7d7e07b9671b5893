"""Bit planes of some variants or samples, as kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from genobit._jit import njit
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
        carrier, hom_alt = self.planes
        mask, sign = np.empty_like(carrier), np.empty_like(carrier)
        if self.called is None:
            _ternary(carrier, hom_alt, self.bits, mask, sign)
        else:
            _ternary_called(carrier, hom_alt, self.called, mask, sign)
        return mask, sign


@njit
def _ternary(
    carrier: NDArray[np.uint64],
    hom_alt: NDArray[np.uint64],
    bits: int,
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64],
) -> None:
    """All planes (rows, words); one pass, half the time of numpy's three."""
    tail = ~np.uint64(0) >> np.uint64(-bits % 64)
    for i in range(carrier.shape[0]):
        for w in range(carrier.shape[1]):
            sign[i, w] = ~carrier[i, w]
        if carrier.shape[1]:
            sign[i, -1] &= tail
        for w in range(carrier.shape[1]):
            mask[i, w] = hom_alt[i, w] | sign[i, w]


@njit
def _ternary_called(
    carrier: NDArray[np.uint64],
    hom_alt: NDArray[np.uint64],
    called: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64],
) -> None:
    for i in range(carrier.shape[0]):
        for w in range(carrier.shape[1]):
            sign[i, w] = called[i, w] & ~carrier[i, w]
            mask[i, w] = hom_alt[i, w] | sign[i, w]
