"""Discordant pairs of untied with tied variables, by one popcount for each word of their signs.

A variable without ties or missing values has a sign for every pair of observations. The pairs that
count are then those with a sign in the other variable, so

    score = pop(mask) - 2 pop(mask & (sign_x ^ sign_y))

where ``mask`` belongs to y alone. The ternary product counts ``mask_x & mask_y`` in addition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.gemm.popcount import pack_columns
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import (
    WORD_LANES,
    aligned,
    broadcast,
    load_words,
    zero_words,
)
from genobit.engine.simd.vector import add_to, popcount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ROWS = 4
"""Rows of a tile: with two, loads of mask and sign took as long as the counting."""
COLUMNS = 3 * WORD_LANES
BLOCK_ROWS = 256
BLOCK_COLUMNS = 20 * COLUMNS
SLAB = 320
"""Words of a panel that stay in the second-level cache: 120 KiB of mask and sign."""


@njit
def _load(planes: NDArray[np.uint64], w: int) -> Any:
    at = w * COLUMNS
    return (
        load_words(planes, at),
        load_words(planes, at + WORD_LANES),
        load_words(planes, at + 2 * WORD_LANES),
    )


@njit
def _count(sums: Any, word: np.uint64, mask: Any, sign: Any) -> Any:
    row = broadcast(word)
    return (
        sums[0] + popcount(mask[0] & (row ^ sign[0])),
        sums[1] + popcount(mask[1] & (row ^ sign[1])),
        sums[2] + popcount(mask[2] & (row ^ sign[2])),
    )


@njit
def _add(counts: NDArray[np.int32], first: int, sums: Any) -> None:
    add_to(counts, first, sums[0])
    add_to(counts, first + WORD_LANES, sums[1])
    add_to(counts, first + 2 * WORD_LANES, sums[2])


@njit
def _count_differences(
    a: NDArray[np.uint64],
    masks: NDArray[np.uint64],
    signs: NDArray[np.uint64],
    counts: NDArray[np.int32],
) -> None:
    """Add popcount(mask & (a ^ sign)) to counts (m, panels * COLUMNS).

    a: (m, words), m a multiple of ROWS; masks, signs: (panels, words, COLUMNS).
    """
    m, n = a.shape
    width = counts.shape[1]
    flat = counts.reshape(-1)
    for first in range(0, n, SLAB):
        last = min(first + SLAB, n)
        for panel in range(masks.shape[0]):
            mask, sign = masks[panel].reshape(-1), signs[panel].reshape(-1)
            for i in range(0, m, ROWS):
                none = zero_words()
                r0 = r1 = r2 = r3 = (none, none, none)
                for w in range(first, last):
                    here, there = _load(mask, w), _load(sign, w)
                    r0 = _count(r0, a[i, w], here, there)
                    r1 = _count(r1, a[i + 1, w], here, there)
                    r2 = _count(r2, a[i + 2, w], here, there)
                    r3 = _count(r3, a[i + 3, w], here, there)
                corner = i * width + panel * COLUMNS
                _add(flat, corner, r0)
                _add(flat, corner + width, r1)
                _add(flat, corner + 2 * width, r2)
                _add(flat, corner + 3 * width, r3)


def masked_differences(
    a: NDArray[np.uint64], mask: NDArray[np.uint64], sign: NDArray[np.uint64]
) -> Iterator[tuple[slice, slice, NDArray[np.int32]]]:
    """Yield rows, columns and counts of popcount(mask & (a ^ sign)), block by block.

    a: (m, words) signs of untied variables; mask, sign: (k, words) of the others. The next block
    reuses the array of counts.
    """
    (m, words), k = a.shape, len(mask)
    width = min(BLOCK_COLUMNS, -(-k // COLUMNS) * COLUMNS)
    height = min(BLOCK_ROWS, -(-m // ROWS) * ROWS)
    masks, signs = (aligned((width // COLUMNS, words, COLUMNS), np.uint64) for _ in range(2))
    padded = np.zeros((height, words), np.uint64)
    counts = aligned((height, width), np.int32)
    for left in range(0, k, width):
        columns = slice(left, min(left + width, k))
        pack_columns(1, mask[columns], masks)
        pack_columns(1, sign[columns], signs)
        for top in range(0, m, height):
            rows = slice(top, min(top + height, m))
            part = a[rows]
            if len(part) < height:
                padded[: len(part)] = part
                part = padded
            counts.fill(0)
            _count_differences(part, masks, signs, counts)
            yield rows, columns, counts[: rows.stop - top, : columns.stop - left]
