"""Estimates of similarities: products of pairs of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data.estimates import Call, lazy, product_line
from genobit.engine import machine

if TYPE_CHECKING:
    from genobit.engine.schedule.costs import Estimate


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
    packing = (da.size + (0 if other is None else other.size)) / machine.VALUES_PACKED
    rate = machine.counted(machine.SIMILARITY_BITS, "and")
    seconds = packing + pairs * (bits / rate + machine.SIMILARITY_PAIR)
    return lazy(what, result, seconds, [product_line("and")], held=16 * 1024**2)
