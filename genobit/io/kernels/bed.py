"""Expand PLINK 1 .bed rows into allele calls, and make them of bit planes.

A .bed byte holds four calls, the first sample in its two lowest bits. The codes follow
https://www.cog-genomics.org/plink/1.9/formats#bed: 00 two copies of A1, 01 missing, 10 one copy of
each, 11 two copies of A2.
"""

from __future__ import annotations

import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.bits.planes import tail_mask
from genobit.engine.bits.words import spread_bits
from genobit.engine.simd.jit import njit

# Allele indices (A2 = 0, A1 = 1) of each code: row 0b00, 0b01, 0b10, 0b11.
_CALL_OF_CODE = np.array([[1, 1], [-1, -1], [0, 1], [0, 0]], dtype=np.int8)

# One row per byte value: the eight allele indices of its four calls.
_CALLS_OF_BYTE = _CALL_OF_CODE[(np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 0b11].reshape(
    256, 8
)


@njit
def _expand_rows(rows: np.ndarray, table: np.ndarray, calls: np.ndarray) -> None:
    """Write `table[byte]` for each byte of `rows` into `calls` (rows, 2 * samples)."""
    n_rows, _ = rows.shape
    width = calls.shape[1]
    whole_bytes = width // 8
    for i in range(n_rows):
        for byte in range(whole_bytes):
            code = rows[i, byte]
            for k in range(8):
                calls[i, 8 * byte + k] = table[code, k]
        # The last byte may hold fewer than four samples; its other bits are padding.
        for k in range(8 * whole_bytes, width):
            calls[i, k] = table[rows[i, whole_bytes], k - 8 * whole_bytes]


def expand_bed_rows(rows: np.ndarray, n_samples: int) -> np.ndarray:
    """Expand .bed rows into allele indices: 1 for A1, 0 for A2, -1 for missing.

    rows: (variants, ceil(n_samples / 4)) uint8, C-contiguous; returns (variants, n_samples, 2)
    int8. Padding in the last byte is ignored. A .bed has no phase, so a heterozygous call is (0,
    1).
    """
    calls = np.empty((rows.shape[0], 2 * n_samples), dtype=np.int8)
    _expand_rows(rows, _CALLS_OF_BYTE, calls)
    return calls.reshape(rows.shape[0], n_samples, 2)


@njit
def _shuffle(
    carrier: np.ndarray, hom_alt: np.ndarray, called: np.ndarray, n_samples: int, pairs: np.ndarray
) -> None:
    """Fill pairs (rows, 2 words) with the two bits of each call; see `bed_rows_of`."""
    half, one = np.uint64(32), np.uint64(1)
    words = carrier.shape[1]
    tail = tail_mask(n_samples)
    for i in range(carrier.shape[0]):
        for w in range(words):
            # 00 is two copies, 01 missing, 10 one copy, 11 none; a missing call has no carrier.
            low = ~carrier[i, w]
            high = called[i, w] & ~hom_alt[i, w]
            if w == words - 1:
                low &= tail
                high &= tail
            pairs[i, 2 * w] = spread_bits(low) | spread_bits(high) << one
            pairs[i, 2 * w + 1] = spread_bits(low >> half) | spread_bits(high >> half) << one


def bed_rows_of(
    carrier: np.ndarray, hom_alt: np.ndarray, called: np.ndarray, n_samples: int
) -> np.ndarray:
    """Return .bed rows of dosage planes; the allele that they count is A1.

    carrier, hom_alt, called: (variants, words) uint64, C-contiguous; returns (variants,
    ceil(n_samples / 4)) uint8. Padding in the last byte is zero, as plink2 writes it.
    """
    rows = carrier.shape[0]
    pairs = np.empty((rows, 2 * words_for(n_samples)), np.uint64)
    _shuffle(carrier, hom_alt, called, n_samples, pairs)
    octets = pairs.astype("<u8", copy=False).view(np.uint8)
    return np.ascontiguousarray(octets[:, : (n_samples + 3) // 4])


def clear_padding(rows: np.ndarray, n_samples: int) -> np.ndarray:
    """Return .bed rows (variants, bytes) with zero padding in the last byte."""
    if n_samples % 4:
        rows = rows.copy()
        rows[:, -1] &= (1 << 2 * (n_samples % 4)) - 1
    return rows
