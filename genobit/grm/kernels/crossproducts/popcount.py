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

from genobit.engine.bits.words import count_rows
from genobit.engine.gemm.products import stacked
from genobit.engine.pairwise.statistic import Margins, PairStatistic, product, square

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows, Planes


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
