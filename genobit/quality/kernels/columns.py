"""Counts and sums of the columns of planes: one column for each sample.

Planes have a row for each variant, so a column is a bit of a word. Counts are bit-sliced: word w of
level k has digit k of the counts of 64 columns. Carry-save adders (Harley-Seal) add eight rows at a
time. Transposing the planes first takes four times as long (Zen 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.planes import tail_mask
from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEVELS = 10
_EIGHTS = 127
"""Most additions of eight rows whose counts fit the levels."""


@njit
def _add_eight(
    plane: NDArray[np.uint64], rows: NDArray[np.int64], levels: NDArray[np.uint64]
) -> None:
    """Add eight rows of a plane (rows, words) to bit-sliced counts (levels, words)."""
    a, b, c, d = plane[rows[0]], plane[rows[1]], plane[rows[2]], plane[rows[3]]
    e, f, g, h = plane[rows[4]], plane[rows[5]], plane[rows[6]], plane[rows[7]]
    for w in range(plane.shape[1]):
        ones, twos, fours = levels[0, w], levels[1, w], levels[2, w]
        half = ones ^ a[w]
        pair_1 = ones & a[w] | half & b[w]
        ones = half ^ b[w]
        half = ones ^ c[w]
        pair_2 = ones & c[w] | half & d[w]
        ones = half ^ d[w]
        half = ones ^ e[w]
        pair_3 = ones & e[w] | half & f[w]
        ones = half ^ f[w]
        half = ones ^ g[w]
        pair_4 = ones & g[w] | half & h[w]
        levels[0, w] = half ^ h[w]
        half = twos ^ pair_1
        four_1 = twos & pair_1 | half & pair_2
        twos = half ^ pair_2
        half = twos ^ pair_3
        four_2 = twos & pair_3 | half & pair_4
        levels[1, w] = half ^ pair_4
        half = fours ^ four_1
        carry = fours & four_1 | half & four_2
        levels[2, w] = half ^ four_2
        for k in range(3, _LEVELS):
            digit = levels[k, w]
            levels[k, w] = digit ^ carry
            carry &= digit


@njit
def _release(levels: NDArray[np.uint64], out: NDArray[np.int32]) -> None:
    """Add bit-sliced counts (levels, words) to counts (64 words,), and set them to zero."""
    one = np.uint64(1)
    for w in range(levels.shape[1]):
        for b in range(64):
            total = np.uint64(0)
            for k in range(_LEVELS):
                total |= (levels[k, w] >> np.uint64(b) & one) << np.uint64(k)
            out[64 * w + b] += np.int32(total)
    levels[:] = 0


@njit
def count_columns(
    plane: NDArray[np.uint64], rows: NDArray[np.int64], out: NDArray[np.int32]
) -> None:
    """Add the set bits of each column in some rows of a plane (rows, words) to out (64 words,)."""
    levels = np.zeros((_LEVELS, plane.shape[1]), np.uint64)
    whole = rows.size // 8 * 8
    for start in range(0, whole, 8 * _EIGHTS):
        for at in range(start, min(start + 8 * _EIGHTS, whole), 8):
            _add_eight(plane, rows[at : at + 8], levels)
        _release(levels, out)
    for i in rows[whole:]:
        for w in range(plane.shape[1]):
            for b in range(64):
                out[64 * w + b] += np.int32(plane[i, w] >> np.uint64(b) & np.uint64(1))


@njit
def add_missing(
    called: NDArray[np.uint64],
    rows: NDArray[np.int64],
    weights: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """Add the weight of each row to its missing calls.

    Shapes: called (rows, words); weights (rows,); out (samples,).
    """
    one, words = np.uint64(1), called.shape[1]
    found = np.empty(64 * words + 2, np.intp)
    for i in rows:
        count = np.intp(0)
        for w in range(words):
            missing = ~called[i, w]
            if w == words - 1:
                missing &= tail_mask(out.size)
            # A word rarely has a third missing call. Without a loop for the first two, the branch
            # is foreseen: half of the time.
            second = missing & (missing - one)
            left = second & (second - one)
            found[count] = 64 * w + np.intp(popcount((missing ^ second) - one))
            found[count + 1] = 64 * w + np.intp(popcount((second ^ left) - one))
            count += min(np.intp(popcount(missing)), np.intp(2))
            while left:
                rest = left & (left - one)
                found[count] = 64 * w + np.intp(popcount((left ^ rest) - one))
                count += 1
                left = rest
        for k in range(count):
            out[found[k]] += weights[i]
