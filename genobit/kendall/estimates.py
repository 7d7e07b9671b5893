"""Estimates of rank correlation, from the cost model of the kernels.

The first chunk of measurements is read, because the cheapest kernel depends on ties, missing values
and the number of distinct values. Genotypes have bit planes, and nothing of them is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import xarray as xr

from genobit.data import packed
from genobit.data.estimates import Call, lazy
from genobit.data.pairs.table import PairTable
from genobit.engine import machine
from genobit.engine.schedule.costs import duration
from genobit.kendall import matrix as kendall_matrix
from genobit.kendall.variables import of_planes, of_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genobit.engine.schedule.costs import Estimate
    from genobit.kendall.kernels.tiles import TileSpec
    from genobit.kendall.matrix import Variables

DRAWN = 1.0
"""Cost of a permutation, relative to the correlation itself (Zen 5)."""


class Work(NamedTuple):
    """Sizes that decide the cost of correlations."""

    sizes: tuple[int, int]
    """Variables of the rows and of the columns."""
    observations: int
    tied: bool
    missing: bool
    levels: int
    """Largest number of distinct values of a variable."""
    planes: bool
    """Whether genotypes are counted as bit planes."""
    symmetric: bool


def kendall(call: Call) -> Estimate:
    """Return the estimate of `kendall`, with the seconds of each kernel."""
    result, wanted = call.result(), _wanted(call, pvalue=call["pvalue"])
    work, packing = _work(call, wanted, call["other"])
    rows, columns = work.sizes
    what = f"all pairs of {rows:,} variables"
    if not work.symmetric:
        what = f"all pairs of {rows:,} and {columns:,} variables"
    return _estimate(f"{what}, {work.observations:,} observations", result, wanted, work, packing)


def kendall_pairs(call: Call) -> Estimate:
    """Return the estimate of `kendall_pairs`; a share takes its part of the time."""
    result, wanted = call.result(), _wanted(call, pvalue=call["fdr"] is not None)
    work, packing = _work(call, wanted, None)
    what = f"all pairs of {work.sizes[0]:,} variables, {work.observations:,} observations"
    share = 1 if call["share"] is None else call["share"][1]
    if share > 1:
        what += f", share {call['share'][0]:,} of {share:,}"
    return _estimate(what, result, wanted, work, packing, share)


def _wanted(call: Call, *, pvalue: bool | str) -> TileSpec:
    options = {
        key: call[key]
        for key in ("dtype", "permutations", "seed", "min_pairs")
        if key in call.given
    }
    return kendall_matrix.checked(
        call["statistic"],
        pvalue=pvalue,
        missing=call["missing"],
        kernel=call["kernel"],
        **options,
    )


def _estimate(
    what: str, result: Any, wanted: TileSpec, work: Work, packing: float, share: int = 1
) -> Estimate:
    kernel, seconds = _kernels(work, wanted.kernel)
    rows, columns = work.sizes
    pairs = rows * columns / (2 if work.symmetric else 1)
    spent = seconds[kernel] * (1 + DRAWN * wanted.permutations)
    spent += pairs * machine.PVALUE * ("pvalue" in wanted.outputs)
    spent += pairs * machine.PAIR_INCOMPLETE * (work.missing and not work.planes)
    spent += pairs * machine.PAIR_SELECTED * isinstance(result, PairTable)
    found = [
        "ties" if work.tied else "no ties",
        "missing values" if work.missing else "nothing missing",
        f"up to {work.levels:,} levels",
    ]
    width = max(map(len, seconds))
    details = [
        f"kernel {kernel!r}: {', '.join(found)}; on one core",
        *(
            f"  {name:<{width}}  {duration(value)}{'  <- taken' if name == kernel else ''}"
            for name, value in sorted(seconds.items(), key=lambda item: item[1])
        ),
    ]
    edge = min(2048, max(rows, columns))
    held = 8 * edge * (edge * len(wanted.outputs) + 2 * work.observations)
    return lazy(what, result, packing + spent / share, details, held)


def _kernels(work: Work, asked: str) -> tuple[str, dict[str, float]]:
    """Return the kernel to take, and the seconds of each on one core."""
    from genobit.kendall.kernels import registry

    given: dict[str, Any] = {
        "others": None if work.symmetric else work.sizes[1],
        "tied": work.tied,
        "missing": work.missing,
        "levels": work.levels,
    }
    seconds = registry.costs(work.observations, work.sizes[0], **given, fitted=False)
    if min(seconds.values()) > registry.LONG:
        # Time the kernels on this machine for a long computation, as the choice itself does.
        seconds = registry.costs(work.observations, work.sizes[0], **given)
    if asked != "auto":
        return asked, seconds
    if work.planes:
        # Bit planes are always counted as contingency tables; ranks use the kernel of their tiles.
        return "table", seconds
    return registry.chosen_kernel(work.observations, work.sizes[0], **given), seconds


def _work(call: Call, wanted: TileSpec, other: Any) -> tuple[Work, float]:
    """Return what decides the cost, and the seconds to pack or rank."""
    if isinstance(call.data, xr.DataArray):
        return _of_values(call, wanted, other)
    ds, layout, planes = packed.by_variants(call.data, phased=False)
    sides = [planes]
    if other is not None:
        sides.append(packed.other_by_variants(other, ds, layout)[1])
    names = [("variants", "samples")] * len(sides)
    operands = of_planes(sides, names, layout, call["missing"], wanted)
    if operands[0].layout is None:
        return _seen(operands), 0.0
    missing = any(len(side) > len(layout.planes) for side in sides)
    work = Work(
        _sizes(operands),
        layout.bits,
        tied=True,
        missing=missing,
        levels=3,
        planes=True,
        symmetric=len(sides) == 1,
    )
    return work, 2 * sum(_sizes(operands)) * layout.bits / machine.PACKED


def _of_values(call: Call, wanted: TileSpec, other: Any) -> tuple[Work, float]:
    from genobit.kendall.methods.matrix import side_of

    sides = [side_of(call.data, call["dim"])]
    if other is not None:
        sides.append(side_of(other, sides[0].dims[1]))
    names = [(str(side.dims[0]), str(side.dims[1])) for side in sides]
    operands = of_values([side.data for side in sides], names, call["missing"], wanted)
    seconds = sum(side.size for side in sides) * machine.RANK
    return _seen(operands), seconds


def _sizes(operands: Sequence[Variables]) -> tuple[int, int]:
    return operands[0].arrays[0].shape[0], operands[-1].arrays[0].shape[0]


def _seen(operands: Sequence[Variables]) -> Work:
    """Compute the first chunk of each operand, and return what decides the cost."""
    from dask.base import compute

    from genobit.kendall.kernels.ranks import missing_any, ties

    chunks = compute(*(side.arrays[0].blocks[0] for side in operands))
    found = [ties(ranks) for ranks in chunks]
    return Work(
        _sizes(operands),
        chunks[0].shape[1],
        tied=any(bool(each.pairs.any()) for each in found),
        missing=any(missing_any(ranks) for ranks in chunks),
        levels=max(int(each.levels.max(initial=0)) for each in found),
        planes=False,
        symmetric=len(operands) == 1,
    )
