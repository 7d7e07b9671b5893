"""Two-bit genotypes 00, 01 and 10, the coding that four of the multiplications share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.words import interleave

if TYPE_CHECKING:
    from numpy.typing import NDArray


def two_bits(
    carrier: NDArray[np.uint64], hom_alt: NDArray[np.uint64], octets: int
) -> NDArray[np.uint8]:
    """Return dosages as two-bit numbers, four in a byte, padded with zeros.

    carrier, hom_alt: (rows, words); returns (rows, bytes), bytes a multiple of ``octets``. The
    upper bit of a dosage is hom_alt; the lower bit is set in heterozygotes.
    """
    rows, words = carrier.shape
    out = padded(rows, 2 * words, octets)
    interleave(carrier & ~hom_alt, hom_alt, out)
    return out.view(np.uint8)


def padded(rows: int, words: int, octets: int) -> NDArray[np.uint64]:
    """Return zeros (rows, words) uint64, words rounded up to a multiple of ``octets`` bytes."""
    each = octets // 8
    return np.zeros((rows, -(-words // each) * each), np.uint64)
