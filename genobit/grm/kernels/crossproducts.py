"""Kernels of M M' of dosages M (samples x variants): six published methods and two of our own.

`genobit.grm.kernels.published_products` has the six of Schlather (2020), bioRxiv
2020.01.12.903146. Two need no coding of their own. They take the planes carrier (dosage 1 or 2) and
hom_alt (dosage 2), so that x = carrier + hom_alt:

- "popcount": sum x y = |a & a'| + |a & h'| + |h & a'| + |h & h'|, four AND products.
- "auto", the ternary product: t = x - 1 is -1, 0 or 1, stored as a mask (homozygotes) and a sign
  (dosage 0). Over n variants, sum x y = sum t t' + sum x + sum y - n. This takes one product
  instead of four; the sums of rows are popcounts.

Their operations for 128 products are those of `genobit.engine.gemm.products` on this CPU. With Four
Russians tables of four bits (AVX2), four AND products take 4 lookups and 4 additions. A ternary
product takes 2 lookups and 2 additions. Tables and columns are loaded once for a tile of several
rows, at most half a load for each lookup.

All kernels take `PlaneRows` without missing calls and return the same integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import stacked
from genobit.engine.pairwise.statistic import Margins, PairStatistic, product, square
from genobit.engine.simd.cpu import host
from genobit.engine.spelling import did_you_mean
from genobit.grm.kernels.published_products import NAMES as PUBLISHED
from genobit.grm.kernels.published_products import add_products, coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows, Planes

KERNELS = (*PUBLISHED, "popcount")
SLAB = 224
"""Words of a plane coded at a time: 14,336 variants, 3.5 to 7 KiB a sample."""
TILE = 32
"""Samples in a tile; their codes, 112 to 224 KiB, stay in the L2 cache."""


def crossproduct(kernel: str, a: PlaneRows, b: PlaneRows | None = None) -> NDArray[np.int64]:
    """Return sums over variants of dosage products, (rows of a, rows of b) int64, exact.

    ``kernel`` is one of `KERNELS`, or "auto" for the engine's ternary product, the fastest here.
    Without ``b``, ``a`` is multiplied by itself. Raises ValueError for an unknown kernel, a kernel
    that this CPU cannot run, or missing calls.
    """
    check_kernel(kernel)
    for rows in (a,) if b is None else (a, b):
        _refuse_missing(rows)
    if kernel == "auto":
        return by_ternary(a, b)
    if kernel == "popcount":
        return by_and(a, b)
    return _by_pairs(kernel, a, b)


def check_kernel(kernel: str) -> None:
    """Raise ValueError for an unknown kernel or one that this CPU has no instruction for."""
    if kernel not in {"auto", *KERNELS}:
        known = ("auto", *KERNELS)
        msg = f"kernel={kernel!r} is not one of {', '.join(map(repr, known))}"
        msg += did_you_mean(kernel, known)
        raise ValueError(msg)
    if kernel == "shuffle" and not host().byte_lanes:
        msg = (
            "kernel='shuffle' needs a CPU with a byte lookup (SSSE3, AVX2, NEON): this CPU has "
            "none, use 'packed' or 'auto'"
        )
        raise ValueError(msg)


def _refuse_missing(rows: PlaneRows) -> None:
    if rows.complete():
        return
    called = count_rows(rows.call_mask())
    k = int((called < rows.bits).argmax())
    msg = (
        f"samples[{k}] of a tile misses {rows.bits - called[k]} of {rows.bits} calls in "
        "plane_called: crossproduct() multiplies dosages as they are and needs all of them; "
        "use ds.genobit.grm(missing=...), which says how missing calls count, or select complete "
        "variants with ds.genobit.isel"
    )
    raise ValueError(msg)


def _by_pairs(method: str, a: PlaneRows, b: PlaneRows | None) -> NDArray[np.int64]:
    """Return all products, by slabs of variants and tiles of samples that stay in cache."""
    other = a if b is None else b
    m, n = a.planes[0].shape[0], other.planes[0].shape[0]
    counts = np.zeros((m, n), np.int64)
    for start in range(0, a.planes[0].shape[1], SLAB):
        words = slice(start, start + SLAB)
        rows = coded(method, *_slab(a, words), second=False)
        columns = coded(method, *_slab(other, words), second=True)
        for left in range(0, n, TILE):
            bottom = m if b is not None else min(m, left + TILE)
            tile = counts[:bottom, left : left + TILE]
            # Without b, a row starts at its diagonal column; with b, every row takes all columns.
            diagonal = -left if b is None else -m
            add_products(method, rows[:bottom], columns[left : left + TILE], diagonal, tile)
    if b is None:
        mirror(counts, 0, 0, counts)
    return counts


def _slab(rows: PlaneRows, words: slice) -> tuple[NDArray[np.uint64], ...]:
    return tuple(np.ascontiguousarray(plane[:, words]) for plane in rows.planes)


def by_and(a: PlaneRows, b: PlaneRows | None) -> NDArray[np.int64]:
    """Products of dosages from the four AND counts of two planes."""
    return square(PairStatistic(_planes, _epilogue, 2), a, b, np.int64)


def _planes(rows: PlaneRows) -> Planes:
    return stacked(*rows.planes)


def _epilogue(
    counts: NDArray[np.int32], _: Margins, __: Margins, ___: int, out: NDArray[np.int64]
) -> None:
    # In int32: numpy adds numbers of two widths through a buffer.
    found = counts[::2, ::2] + counts[::2, 1::2]
    found += counts[1::2, ::2]
    found += counts[1::2, 1::2]
    out[...] = found


def by_ternary(a: PlaneRows, b: PlaneRows | None) -> NDArray[np.int64]:
    """Return dosage products from ternary products of dosage - 1, (rows, columns) int64."""
    second = None if b is None else b.ternary()
    out: NDArray[np.int64] = product("ternary", a.ternary(), second, np.int64)
    out += _sums(a)[:, None]
    out += _sums(a if b is None else b) - a.bits
    return out


def _sums(rows: PlaneRows) -> NDArray[np.int64]:
    """Return the copies of the counted allele in each row, (rows,) int64."""
    return count_rows(rows.planes[0]) + count_rows(rows.planes[1])
