"""Products of dosages by the engine's products of bit planes, without a coding of their own.

Coding: the planes themselves, carrier (dosage 1 or 2) and hom_alt (dosage 2), so that
x = carrier + hom_alt.

Identity of "popcount": sum x y = |a & a'| + |a & h'| + |h & a'| + |h & h'|, four AND products.

Identity of the ternary product ("auto"): t = x - 1 is -1, 0 or 1, stored as a mask (homozygotes)
and a sign (dosage 0). Over n variants, sum x y = sum t t' + sum x + sum y - n. This takes one
product instead of four; the sums of rows are popcounts.

The operations for 128 products are those of `genobit.engine.gemm.products` on this CPU. With
Four Russians tables of four bits (AVX2), four AND products take 4 lookups and 4 additions. A
ternary product takes 2 lookups and 2 additions. Tables and columns are loaded once for a tile of
several rows, at most half a load for each lookup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import products, stacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import Rows


def by_and(a: Rows, b: Rows | None) -> NDArray[np.int64]:
    """Return dosage products from the four AND counts of two planes, (rows, columns) int64."""
    first = stacked(*a.planes)
    second = None if b is None else stacked(*b.planes)
    out = _empty(a, b)
    for rows, columns, counts in products("and", first, second, group=2, upper=b is None):
        found = counts[::2, ::2] + counts[::2, 1::2]
        found += counts[1::2, ::2]
        found += counts[1::2, 1::2]
        _write(found, rows.start // 2, columns.start // 2, out, symmetric=b is None)
    return out


def by_ternary(a: Rows, b: Rows | None) -> NDArray[np.int64]:
    """Return dosage products from ternary products of dosage - 1, (rows, columns) int64."""
    second = None if b is None else b.ternary()
    out = _empty(a, b)
    for rows, columns, counts in products("ternary", a.ternary(), second, upper=b is None):
        _write(counts, rows.start, columns.start, out, symmetric=b is None)
    out += _sums(a)[:, None]
    out += _sums(a if b is None else b) - a.bits
    return out


def _empty(a: Rows, b: Rows | None) -> NDArray[np.int64]:
    return np.empty((a.planes[0].shape[0], (a if b is None else b).planes[0].shape[0]), np.int64)


def _write(
    block: NDArray[np.int32], top: int, left: int, out: NDArray[np.int64], *, symmetric: bool
) -> None:
    if symmetric:
        mirror(block, top, left, out)
    else:
        out[top : top + block.shape[0], left : left + block.shape[1]] = block


def _sums(rows: Rows) -> NDArray[np.int64]:
    """Return the copies of the counted allele in each row, (rows,) int64."""
    return count_rows(rows.planes[0]) + count_rows(rows.planes[1])
