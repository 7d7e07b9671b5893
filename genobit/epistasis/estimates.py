"""Estimates of searches for interactions: a few blocks are searched, and timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data.estimates import Call, estimate
from genobit.engine import machine
from genobit.epistasis.preparation import prepared

if TYPE_CHECKING:
    from genobit.engine.schedule.costs import Estimate


def epistasis(call: Call) -> Estimate:
    """Return the estimate of `epistasis`: genotypes are read, and a calibration searches blocks.

    The time excludes units that ``checkpoint`` holds.
    """
    found = prepared(call.data, **call.given)
    if found.search is not None:
        return found.search.estimate(checkpoint=call["checkpoint"])
    variants, samples = found.ds.sizes["variants"], found.about["samples"]
    seconds = variants * samples * (1 + call["permutations"]) / machine.SINGLE_VARIANTS
    what = f"{variants:,} single variants"
    return estimate(what, seconds, 1, variants * samples // 4, 32 * call["top"])
