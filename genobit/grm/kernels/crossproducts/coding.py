"""Genotypes in two bits, 00, 01 and 10: the coding that four of the multiplications share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.words import interleave

if TYPE_CHECKING:
    from numpy.typing import NDArray


def two_bits(
    carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64], octets: int
) -> NDArray[np.uint8]:
    """carrier, hom_alt (rows, words) -> dosages as numbers of two bits, four in a byte.

    (rows, a multiple of ``octets``), zeros past the end. Of a dosage the upper bit is hom_alt and
    the lower one is set in heterozygotes.
    """
    rows, words = carrier.shape
    out = padded(rows, 2 * words, octets)
    interleave(carrier & ~hom_alt, hom_alt, out)
    return out.view(np.uint8)


def padded(rows: int, words: int, octets: int) -> NDArray[np.uint64]:
    """Zeros (rows, words), words rounded up to a multiple of ``octets`` bytes."""
    each = octets // 8
    return np.zeros((rows, -(-words // each) * each), np.uint64)
