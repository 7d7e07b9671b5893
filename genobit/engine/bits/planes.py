"""Bit planes of some variants or samples, in the form that kernels take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from genobit.engine.bits import layout
from genobit.engine.bits.layout import words_for
from genobit.engine.simd.jit import njit

tail_mask = njit(layout.tail_mask)

Planes = tuple[NDArray[np.uint64], ...]
"""Planes of one operand, each (rows, words)."""


class PlaneRows(NamedTuple):
    """Bit planes of some rows, each (rows, words): haplotypes or dosages, and the called plane."""

    haplotypes: bool
    bits: int
    planes: Planes
    """(alt,) of haplotypes, or (carrier, hom_alt) of dosages."""
    called: NDArray[np.uint64] | None

    def part(self, start: int, stop: int) -> PlaneRows:
        """Return rows ``start`` to ``stop``."""
        called = None if self.called is None else self.called[start:stop]
        return self._replace(planes=tuple(p[start:stop] for p in self.planes), called=called)

    def complete(self) -> bool:
        """Return whether no call is missing."""
        return self.called is None or _complete(self.called, self.bits)

    def call_mask(self) -> NDArray[np.uint64]:
        """Return the called plane; build it if no call is missing."""
        if self.called is not None:
            return self.called
        rows, words = self.planes[0].shape
        return np.tile(all_called(self.bits, words), (rows, 1))

    def missing(self) -> NDArray[np.uint64] | None:
        """Return the plane of missing calls, or None if there is none."""
        if self.complete():
            return None
        words = self.planes[0].shape[1]
        return self.call_mask() ^ all_called(self.bits, words)

    def homozygotes(self) -> Planes:
        """Return the planes of dosage 2 and of dosage 0."""
        carrier, hom_alt = self.planes
        return hom_alt, self.call_mask() & ~carrier

    def ternary(self, out: NDArray[np.uint64] | None = None) -> Planes:
        """Return mask and sign of dosage - 1, which is 0 where heterozygous or missing.

        ``out``: (2, rows, words) uint64 for the result, if given.
        """
        carrier, hom_alt = self.planes
        mask, sign = np.empty((2, *carrier.shape), np.uint64) if out is None else out
        if self.called is None:
            _ternary(carrier, hom_alt, self.bits, mask, sign)
        else:
            _ternary_called(carrier, hom_alt, self.called, mask, sign)
        return mask, sign


def padded(plane: NDArray[np.uint64], rows: slice, height: int) -> NDArray[np.uint64]:
    """Return some rows of a plane as ``height`` rows, with zero rows after them."""
    part = plane[rows]
    if part.shape[0] == height:
        return np.ascontiguousarray(part)
    out = np.zeros((height, part.shape[1]), np.uint64)
    out[: part.shape[0]] = part
    return out


def all_called(bits: int, words: int | None = None) -> NDArray[np.uint64]:
    """Return one row of a called plane without missing calls; words past the bits are 0."""
    used = words_for(bits)
    row = np.zeros(used if words is None else words, np.uint64)
    row[:used] = ~np.uint64(0)
    row[used - 1 : used] &= layout.tail_mask(bits)
    return row


@njit
def _complete(called: NDArray[np.uint64], bits: int) -> bool:
    """Return whether every bit of called (rows, words) is set."""
    if bits == 0:
        return True
    last = (bits - 1) // 64
    for i in range(called.shape[0]):
        missing = np.uint64(0)
        for w in range(last):
            missing |= ~called[i, w]
        if missing or ~called[i, last] & tail_mask(bits):
            return False
    return True


@njit
def _ternary(
    carrier: NDArray[np.uint64],
    hom_alt: NDArray[np.uint64],
    bits: int,
    mask: NDArray[np.uint64],
    sign: NDArray[np.uint64],
) -> None:
    """Write mask and sign (rows, words) in one pass; numpy's three passes take twice the time."""
    tail = tail_mask(bits)
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
