"""Estimates of similarities: products of pairs of rows.

Rates are of one core of a Zen 5 (AMD EPYC 9005) with AVX-512.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data.estimates import Call, lazy, product_line

if TYPE_CHECKING:
    from genobit.engine.schedule.costs import Estimate

BITS = 4e11
"""Bits of pairs per second."""
EACH = 5e-9
"""Seconds per pair besides its product: the division, and its place in the result."""
PACKED = 4e8
"""Values packed per second."""


def similarity(call: Call) -> Estimate:
    """Return the estimate of `similarity`."""
    result, da = call.result(), call.data
    rows = result.shape[0] if call["top"] is None else result["similarity"].shape[0]
    bits = da.size // max(1, rows)
    other = call["other"]
    columns = rows if other is None else other.size // max(1, bits)
    pairs = rows * columns / (2 if other is None else 1)
    what = f"all pairs of {rows:,} rows of {bits:,} bits"
    if other is not None:
        what = f"all pairs of {rows:,} and {columns:,} rows of {bits:,} bits"
    packing = (da.size + (0 if other is None else other.size)) / PACKED
    seconds = packing + pairs * (bits / BITS + EACH)
    return lazy(what, result, seconds, [product_line("and")], held=16 * 1024**2)
