"""Correlation of single pairs of rows, for greedy passes that need few of all pairs.

The sums are those of `genobit.ld.kernels.r2`. For two complete rows the allele counts alone bound
r2 (Frechet bounds: the overlap of carriers is at most the smaller set, and at least the excess of
both over n). Most pairs with a rare variant are decided without reading their words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from genobit.engine.bits.planes import all_called, tail_mask
from genobit.engine.gemm.scratch import Scratch
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import REGISTER_WORDS
from genobit.engine.simd.vector import popcount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genobit.engine.bits.planes import PlaneRows

ROUNDING = 2.0**-44
"""Relative tolerance of comparisons, as in plink; well above a few roundings of a double."""
Words = NDArray[np.uint64]


class PairRows(NamedTuple):
    """Rows prepared for the functions of this module; all arrays (rows, ...)."""

    haplotypes: bool
    bits: int
    first: Words
    """alt for haplotypes; mask of dosage - 1."""
    second: Words
    """Sign of dosage - 1; without words for haplotypes."""
    called: Words
    """Without words if no call is missing."""
    counts: NDArray[np.int64]
    """Calls, carriers (or alternative alleles), homozygotes of the alternative allele."""
    total: NDArray[np.int64]
    """Sum of alleles, or of dosages - 1; products use the same coding."""
    spread: NDArray[np.float64]
    """Variance of alleles times the square of the bits; -1 for a row with missing calls."""


def pair_rows(
    chunks: Sequence[PlaneRows],
    held: PairRows | None = None,
    start: int = 0,
    memory: Scratch | None = None,
) -> PairRows:
    """Prepare planes for the functions of this module, after the rows of ``held`` from ``start``.

    The result uses ``memory``, if given. It must not be the memory of ``held``.
    """
    like, kept = chunks[0], 0 if held is None else held.total.size - start
    bits, words = like.bits, like.planes[0].shape[1]
    n = sum(rows.planes[0].shape[0] for rows in chunks)
    gaps = not all(rows.complete() for rows in chunks)
    if held is not None and held.called.shape[1] and (held.spread[start:] < 0).any():
        gaps = True
    # Whole registers: words past the row are 0.
    width = -(-words // REGISTER_WORDS) * REGISTER_WORDS
    new = Scratch() if memory is None else memory
    out = PairRows(
        like.haplotypes,
        bits,
        first=new.array("first", (kept + n, width), np.uint64),
        second=new.array("second", (kept + n, 0 if like.haplotypes else width), np.uint64),
        called=new.array("called", (kept + n, width if gaps else 0), np.uint64),
        counts=new.array("counts", (kept + n, 3), np.int64),
        total=new.array("total", (kept + n,), np.int64),
        spread=new.array("spread", (kept + n,), np.float64),
    )
    if held is not None:
        for name, values in out._asdict().items():
            if isinstance(values, np.ndarray) and name != "called":
                values[:kept] = getattr(held, name)[start:]
        if gaps:
            out.called[:kept] = (
                held.called[start:] if held.called.shape[1] else all_called(bits, width)
            )
    arrays: list[Any] = list(out[2:])
    for rows in chunks:
        size = rows.planes[0].shape[0]
        nothing = np.empty((size, 0), np.uint64)
        hom_alt = nothing if rows.haplotypes else rows.planes[1]
        called = rows.called if gaps and rows.called is not None else nothing
        part = slice(kept, kept + size)
        _prepare(rows.planes[0], hom_alt, called, bits, *(array[part] for array in arrays))
        kept += size
    return out


@njit
def _count(words: Words) -> int:
    """Return the number of bits set in one row (words,)."""
    total = np.uint64(0)
    for w in range(words.shape[0]):
        total += popcount(words[w])
    return np.int64(total)  # type: ignore[return-value]


@njit
def _prepare(
    alt: Words,
    hom_alt: Words,
    called: Words,
    n: int,
    first: Words,
    second: Words,
    kept: Words,
    counts: NDArray[np.int64],
    total: NDArray[np.int64],
    spread: NDArray[np.float64],
) -> None:
    """Prepare planes (rows, words) in one pass; the second and third may have no words."""
    # Loops over a row, and arrays outside a tuple, take an eighth of the time.
    dosages, gaps = hom_alt.shape[1] > 0, called.shape[1] > 0
    words, tail = alt.shape[1], tail_mask(n)
    for i in range(alt.shape[0]):
        for w in range(called.shape[1]):
            kept[i, w] = called[i, w]
        kept[i, called.shape[1] :] = 0
        if dosages:
            for w in range(words):
                second[i, w] = (called[i, w] if gaps else ~np.uint64(0)) & ~alt[i, w]
            if words:
                second[i, words - 1] &= tail
            second[i, words:] = 0
            for w in range(words):
                first[i, w] = hom_alt[i, w] | second[i, w]
        else:
            for w in range(words):
                first[i, w] = alt[i, w]
        first[i, words:] = 0
        calls, c, h = _count(called[i]) if gaps else n, _count(alt[i]), _count(hom_alt[i])
        counts[i, 0], counts[i, 1], counts[i, 2] = calls, c, h
        total[i] = c + h - n if dosages else c
        spread[i] = variance(n, c, h) if calls == n else -1.0


@njit
def minor_frequency(rows: PairRows) -> NDArray[np.float64]:
    """Return the frequency of the rarer allele of each row; NaN without calls."""
    out = np.empty(rows.counts.shape[0])
    for i in range(out.size):
        calls, carriers, homozygous = rows.counts[i]
        alleles, counted = calls * (1 if rows.haplotypes else 2), carriers + homozygous
        out[i] = min(counted, alleles - counted) / alleles if alleles else np.nan
    return out


@njit
def polymorphic(rows: PairRows) -> NDArray[np.bool_]:
    """Return whether the calls of each row differ."""
    out = np.empty(rows.counts.shape[0], np.bool_)
    for i in range(out.shape[0]):
        n, carriers, homozygous = rows.counts[i]
        total = carriers + homozygous
        out[i] = n * (carriers + 3 * homozygous) > total * total
    return out


@njit
def variance(n: int, c: int, h: int) -> float:
    """Return the variance of alleles times n^2, for c carriers and h homozygotes among n."""
    return float(n * (c + 3 * h) - (c + h) * (c + h))


@njit
def _overlap(n: int, a: int, b: int) -> int:
    """Return the fewest positions that two sets of a and b among n share."""
    return max(0, a + b - n)


@njit
def reachable(n: int, c: int, h: int, d: int, k: int, limit: float) -> bool:
    """Whether r2 can exceed the limit, given carriers c, d and homozygotes h, k of two rows."""
    most = min(c, d) + min(c, k) + min(h, d) + min(h, k)
    least = _overlap(n, c, d) + _overlap(n, c, k) + _overlap(n, h, d) + _overlap(n, h, k)
    x, y = c + h, d + k
    covariance = float(max(n * most - x * y, x * y - n * least))
    return covariance * covariance > limit * (variance(n, c, h) * variance(n, d, k))


@njit
def shared(a: Words, b: Words) -> int:
    """Return the number of bits set in both rows (words,)."""
    both = np.uint64(0)
    for w in range(a.shape[0]):
        both += popcount(a[w] & b[w])
    return np.int64(both)  # type: ignore[return-value]


@njit
def product(a: Words, a_sign: Words, b: Words, b_sign: Words) -> int:
    """Return the sum of products of two rows of -1, 0 and 1: masks and signs (words,)."""
    both = np.uint64(0)
    differ = np.uint64(0)
    for w in range(a.shape[0]):
        present = a[w] & b[w]
        both += popcount(present)
        differ += popcount(present & (a_sign[w] ^ b_sign[w]))
    return np.int64(both) - 2 * np.int64(differ)  # type: ignore[return-value]


@njit
def called_terms(rows: PairRows, i: int, j: int) -> tuple[float, float]:
    """Return covariance and product of variances over the calls of both rows, times n^2 and n^4."""
    a, b, here, there = rows.first[i], rows.first[j], rows.called[i], rows.called[j]
    n = shared(here, there)
    xx, yy = shared(a, there), shared(b, here)
    if rows.haplotypes:
        x, y, xy = xx, yy, shared(a, b)
    else:
        # A sign is set only where its mask is.
        x = xx - 2 * shared(rows.second[i], there)
        y = yy - 2 * shared(rows.second[j], here)
        xy = product(a, rows.second[i], b, rows.second[j])
    return float(n * xy - x * y), float(n * xx - x * x) * float(n * yy - y * y)
