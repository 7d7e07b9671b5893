"""Sums of products of standardised dosages in exact integers, by products of bytes.

Let x = g - 1 for dosage g, d = 1 - 2p and v = 1 / 2pq. Let m be 1 for a call, and 0 for a missing
one. The product of two standardised dosages (g - 2p) / sqrt(2pq) is

    v (x + d) (x' + d) m m' = [v (x + d) m] x' m' + [v d (x + d) m] m'.

Each bracket has one value for each dosage. It is rounded to a multiple of 2**-`FRACTION` and split
into signed bytes, its digits. x' and m' are bytes too, so each digit takes one product of bytes
(`matrix_unit`). If few calls are missing, the second bracket takes no products (`listed_sums`). The
sums are integers of 96 bits, which no order of additions changes. docs/internals/grm-sums.md has
the error.

This pays off on a matrix unit only: a popcount takes a product for each bit of the weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.listed_sums import LARGEST_BITS, add_unlisted, added_bits
from genobit.engine.gemm.matrix_unit import (
    MOST_COLUMNS,
    MOST_ROWS,
    SQUARE,
    Operand,
    multiply_kind,
    usable,
)
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows, Planes

FRACTION = 41
"""Binary digits after the point."""
LARGEST = 2.0 ** (62 - FRACTION)
"""Weights fit 64 bits below it."""
DIGITS = 8
HALF = DIGITS // 2
"""Digits of the lower of the two parts of a sum."""
CARRY = 0x0080808080808080
"""Added to a number, it makes each byte below the highest a signed digit plus 128."""
MOST_WORDS = 2**17
"""Most words of a product of bytes: 128 times their 2**23 positions fit 32 bits."""

FEW = 0.04
"""Share of missing calls up to which lists of them are faster than products of digits.

For 1,000 samples and 20,000 variants, lists take 0.15 s at 3 % and 0.21 s at 5 %. Digits take
0.19 s (Emerald Rapids, shared).
"""


def pays(frequency: NDArray[np.float64] | None, samples: int) -> bool:
    """Return whether this CPU sums in exact integers faster, and whether the weights fit.

    ``frequency`` is that given for the variants. None means the samples' own.
    """
    largest = float(samples)
    if frequency is not None:
        variance = 2 * frequency * (1 - frequency)
        largest = 1 / float(np.min(variance, initial=1, where=variance > 0))
    return 2 * largest < LARGEST and usable("digits")


def _weights(frequency: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the brackets of each dosage, in steps: (2, 3, variants). They are 0 where 2pq is 0."""
    p = np.nan_to_num(frequency)
    variance = 2 * p * (1 - p)
    v = np.divide(2.0**FRACTION, variance, out=np.zeros_like(p), where=variance > 0)
    value = (np.arange(3)[:, None] - 2 * p) * v
    return np.rint(np.stack([value, (1 - 2 * p) * value])).astype(np.int64)


def _digits(weights: NDArray[np.int64], words: int) -> NDArray[np.int8]:
    """Return the signed bytes of weights (3, variants), the lowest first: (digits, 3, 64 words)."""
    octets = ((weights + CARRY) ^ CARRY).astype("<i8")[..., None].view(np.int8)
    used = DIGITS
    while used > 1 and not octets[..., used - 1].any():
        used -= 1
    out = np.zeros((used, 3, 64 * words), np.int8)
    out[..., : weights.shape[1]] = octets[..., :used].transpose(2, 0, 1)
    return out


@njit
def _add_shifted(
    counts: NDArray[np.int32], shift: int, top: int, left: int, out: NDArray[np.int64]
) -> None:
    """Add the counts times 2**shift to a block of out that starts at a row and a column."""
    columns = min(counts.shape[1], out.shape[1] - left)
    for i in range(min(counts.shape[0], out.shape[0] - top)):
        row = out[top + i]
        for j in range(columns):
            row[left + j] += np.int64(counts[i, j]) << shift


def _whole_squares(rows: int) -> int:
    """Round a number of rows or columns up to whole squares of tiles."""
    return -(-rows // SQUARE) * SQUARE


def _add_products(
    a: PlaneRows, b: Planes, weights: NDArray[np.int64], upper: bool, out: NDArray[np.int64]
) -> None:
    """Add sums of weights of a's dosages times b's values to out (2, m, k), the lower part first.

    a: m rows; b: mask and sign, or mask, of k rows; weights: (3, variants). With ``upper``, entries
    with ``row > column`` get arbitrary numbers.
    """
    words, (_, m, k) = b[0].shape[1], out.shape
    planes, digits = (*a.planes, a.call_mask()), _digits(weights, words)
    counts = aligned((MOST_ROWS * MOST_COLUMNS,), np.int32)
    for first in range(0, words, MOST_WORDS):
        part = slice(first, first + MOST_WORDS)
        some = np.ascontiguousarray(digits[..., 64 * part.start : 64 * part.stop])
        for left in range(0, k, MOST_COLUMNS):
            right = min(left + MOST_COLUMNS, k)
            width = _whole_squares(right - left)
            mask, *sign = (np.ascontiguousarray(x[left:right, part]) for x in b)
            columns = Operand(mask, sign[0] if sign else None)
            for top in range(0, min(m, right) if upper else m, MOST_ROWS):
                bottom = min(top + MOST_ROWS, m)
                height = _whole_squares(bottom - top)
                one, two, called = (np.ascontiguousarray(x[top:bottom, part]) for x in planes)
                block = counts[: height * width].reshape(height, width)
                limits = top - left if upper else -(2**62), np.zeros(width // SQUARE, np.int64)
                for t, digit in enumerate(some):
                    rows = Operand(one, two, called, digit)
                    multiply_kind("digits", rows, columns, *limits, block)
                    _add_shifted(block, 8 * (t % HALF), top, left, out[t // HALF])


def _lists_pay(rows: PlaneRows, weights: NDArray[np.int64]) -> bool:
    """Return whether the weights fit `listed_sums`, and few calls of the rows are missing."""
    if added_bits(weights) > LARGEST_BITS:
        return False
    calls = rows.bits * len(rows.planes[0])
    return rows.called is None or calls - count_rows(rows.called).sum() <= FEW * calls


def gram(
    chunks: Sequence[tuple[PlaneRows, PlaneRows | None, NDArray[np.float64]]],
) -> NDArray[np.int64]:
    """Sum products of standardised dosages over chunks: (2, rows of a, rows of b), see `total`.

    A chunk is (a, b, frequency of each variant). If b is None, a is multiplied with itself. Other
    chunks and methods may give other halves of the same sum.
    """
    a, b, _ = chunks[0]
    symmetric = b is None
    shape = 2, len(a.planes[0]), len((b or a).planes[0])
    out = np.zeros(shape, np.int64)
    for a, b, frequency in chunks:
        other = b or a
        of_signs, of_calls = _weights(frequency)
        _add_products(a, other.ternary(), of_signs, symmetric, out)
        if _lists_pay(other, of_calls):
            add_unlisted(a, other.missing(), of_calls, symmetric, out)
        else:
            _add_products(a, (other.call_mask(),), of_calls, symmetric, out)
    if symmetric:
        for half in out:
            mirror(half, 0, 0, half)
    return out


def total(sums: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of `gram`, over any chunks, as floats: (rows, columns)."""
    low, high = sums
    # The lower half may have a carry. Without it, floats hold both halves, and only the sum rounds.
    high, low = high + (low >> 32), low & 0xFFFFFFFF
    return (high * 2.0 ** (8 * HALF) + low) * 2.0**-FRACTION
