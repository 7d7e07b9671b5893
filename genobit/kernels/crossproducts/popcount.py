"""Ours: the engine's products of bit planes, without a coding of their own.

Coding: the planes themselves, carrier (dosage 1 or 2) and hom_alt (dosage 2), so that
x = carrier + hom_alt.

Identity of "popcount": sum x y = |a & a'| + |a & h'| + |h & a'| + |h & h'|, four AND products.

Identity of the ternary product ("auto"): t = 1 - x is -1, 0 or 1, a mask (homozygotes) and a sign
(hom_alt), and sum x y = sum t t' + sum x + sum y - n over n variants. One product instead of four;
the sums of rows are popcounts.

Operations for 128 products, those of `genobit.kernels.gemm` on this CPU. By tables of four bits
(AVX2): 4 lookups and 4 additions of four AND products, or 2 and 2 of a ternary product. Tables and
columns are loaded once for a tile of several rows, half a load a lookup or less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.kernels.bits import count_rows
from genobit.kernels.gemm import products, stacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.kernels.rows import Planes, Rows


def by_and(a: Rows, b: Rows | None) -> NDArray[np.int64]:
    """Products of dosages from the four AND counts of two planes."""
    first = stacked(*a.planes)
    second = None if b is None else stacked(*b.planes)
    out = _empty(a, b)
    for rows, columns, counts in products("and", first, second, group=2, upper=b is None):
        m, n = counts.shape[0] // 2, counts.shape[1] // 2
        four = counts.reshape(m, 2, n, 2)
        where = slice(rows.start // 2, rows.stop // 2), slice(columns.start // 2, columns.stop // 2)
        out[where] = four.sum(axis=(1, 3), dtype=np.int64)
    return out if b is not None else _mirrored(out)


def by_ternary(a: Rows, b: Rows | None) -> NDArray[np.int64]:
    """Products of dosages from the sums of products of one less the dosage."""
    second = None if b is None else _ternary(b)
    out = _empty(a, b)
    for rows, columns, counts in products("ternary", _ternary(a), second, upper=b is None):
        out[rows, columns] = counts
    if b is None:
        out = _mirrored(out)
    out += _sums(a)[:, None]
    out += _sums(a if b is None else b) - a.bits
    return out


def _empty(a: Rows, b: Rows | None) -> NDArray[np.int64]:
    return np.empty((a.planes[0].shape[0], (a if b is None else b).planes[0].shape[0]), np.int64)


def _ternary(rows: Rows) -> Planes:
    hom_alt, hom_ref = rows.homozygotes()
    return hom_alt | hom_ref, hom_alt


def _sums(rows: Rows) -> NDArray[np.int64]:
    """Copies of the counted allele of each row."""
    return count_rows(rows.planes[0]) + count_rows(rows.planes[1])


def _mirrored(upper: NDArray[np.int64]) -> NDArray[np.int64]:
    lower = np.tril_indices(upper.shape[0], -1)
    upper[lower] = upper.T[lower]
    return upper
