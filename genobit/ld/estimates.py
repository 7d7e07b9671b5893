"""Estimates of linkage disequilibrium: pairs of variants in windows times observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import model
from genobit.data.aligning import populations_of
from genobit.data.alignment import SITES, alignment_of
from genobit.data.checks import check_one_of
from genobit.data.estimates import Call, Genotypes, estimate, lazy, product_line
from genobit.data.selection_by_label import positions
from genobit.data.windows import window_ends
from genobit.engine import machine
from genobit.engine.gemm.products import chosen_kernel
from genobit.engine.options import get_options
from genobit.engine.schedule import costs
from genobit.ld import sites as site_statistics
from genobit.ld.methods.prune import p_values_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from genobit.engine.schedule.costs import Estimate


def ld(call: Call) -> Estimate:
    """Return the estimate of `ld`: a tile for each pair of chunks."""
    if isinstance(call.data, xr.DataArray):
        return _sites(call)
    result, own = call.result(), call.genotypes(phased=call["phased"])
    rows, last = own.variants, None
    pairs, tiles = rows * rows / 2, costs.triangle(rows)
    what = f"all pairs of {rows:,} variants"
    if call["window"] is not None:
        last = window_ends(own.ds, call["window"])
        pairs, tiles = _pairs(last), costs.band(last)
        what = f"{pairs:,} pairs of {rows:,} variants in windows"
    elif call["other"] is not None:
        columns = result.shape[1]
        pairs, tiles = rows * columns, costs.rectangle(rows, columns)
        what = f"all pairs of {rows:,} and {columns:,} variants"
    details = _tile_costs(own, tiles)
    return lazy(what, result, _seconds(own, pairs, call["statistic"]), details, 2 * own.chunk)


def ld_pairs(call: Call) -> Estimate:
    """Return the estimate of `ld_pairs`."""
    own = call.genotypes(phased=call["phased"])
    last = _last(own, call["window"])
    pairs, tiles = _pairs(last), costs.band(last)
    what = f"{pairs:,} pairs of {own.variants:,} variants"
    if call["variants"] is not None:
        chosen = np.unique(positions(own.ds, call["variants"], model.VARIANTS))
        first = np.searchsorted(last, chosen)
        pairs = int((last[chosen] - first).sum())
        tiles = costs.of_rows(chosen, first, last)
        what = f"{pairs:,} pairs of {chosen.size:,} of {own.variants:,} variants"
    seconds = _seconds(own, pairs, call["statistic"])
    tile = 4 * max(own.rows, default=0) ** 2
    details = _tile_costs(own, tiles)
    return lazy(what, call.result(), seconds, details, tile + 2 * own.chunk)


def ld_score(call: Call) -> Estimate:
    """Return the estimate of `ld_score`."""
    own = call.genotypes(phased=call["phased"])
    pairs = _pairs(window_ends(own.ds, call["window"]))
    what = f"{pairs:,} pairs of {own.variants:,} variants in windows"
    return lazy(what, call.result(), _seconds(own, pairs), held=2 * own.chunk)


def ld_prune(call: Call) -> Estimate:
    """Return the estimate of `ld_prune`, as if no variant were removed."""
    own = call.genotypes(phased=call["phased"])
    last = window_ends(own.ds, call["window"], count=True)
    what = f"{_pairs(last):,} pairs of {own.variants:,} variants in windows"
    seconds = _seconds(own, _pairs(last))
    return estimate(what, seconds, _tiles(own, last), 2 * own.chunk, own.variants)


def ld_clump(call: Call) -> Estimate:
    """Return the estimate of `ld_clump`: windows of all variants that may lead a clump."""
    own = call.genotypes(phased=call["phased"])
    last = window_ends(own.ds, call["window"], open_end=True)
    given = p_values_of(own.ds, call["p"], log10=call["log10"])
    leads = int((given >= -np.log10(call["p1"]) if call["log10"] else given <= call["p1"]).sum())
    pairs = _pairs(last)
    of_leads = min(pairs, -(-2 * leads * pairs // max(1, own.variants)))
    em = call["statistic"] == "r2_em" or (call["statistic"] is None and own.layout.kind == "dosage")
    seconds = _seconds(own, pairs) + (machine.LD_EM * of_leads if em else 0.0)
    what = f"windows of {leads:,} index variants, {of_leads:,} pairs"
    return estimate(what, seconds, _tiles(own, last), 2 * own.chunk)


def ld_blocks(call: Call) -> Estimate:
    """Return the estimate of `ld_blocks`, as if all variants passed ``min_maf``."""
    own = call.genotypes(phased=False)
    last = window_ends(own.ds, call["window"])
    pairs = _pairs(last)
    seconds = _seconds(own, pairs) + pairs * machine.LD_INTERVAL
    what = f"{pairs:,} pairs of {own.variants:,} variants in windows"
    return estimate(what, seconds, _tiles(own, last), 2 * own.chunk)


def ld_decay(call: Call) -> Estimate:
    """Return the estimate of `ld_decay`: all pairs in windows, for each population."""
    own = call.genotypes(phased=call["phased"])
    last = window_ends(own.ds, call["window"])
    given, populations = call["populations"], 1
    if given is not None:
        populations = len(populations_of(own.ds, given))
    pairs, tiles = _pairs(last), _tiles(own, last)
    # The products of all populations together are those of all samples.
    each = machine.LD_EM if call["statistic"] == "r2_em" else machine.LD_PAIR
    more = (populations - 1) * pairs * each
    fitting = populations * call["resamples"] * machine.DECAY_FIT
    seconds = _seconds(own, pairs, call["statistic"]) + more + fitting
    what = f"{pairs:,} pairs of {own.variants:,} variants in windows"
    if given is not None:
        what += f", in {populations:,} populations"
    return estimate(what, seconds, populations * tiles, 2 * own.chunk)


def _sites(call: Call) -> Estimate:
    """Return the estimate for sites, whose states the call itself reads."""
    check_one_of("statistic", call["statistic"], tuple(site_statistics.LONG_NAMES))
    aligned = alignment_of(call.data, call["gap"])
    taxa, sites = aligned.values.shape
    edge = get_options().edge
    if call["window"] is None:
        pairs, tiles, size = sites * sites // 2, costs.triangle(sites)(edge), sites * sites
    else:
        along = call.data.coords.to_dataset().rename({SITES: model.VARIANTS})
        if SITES not in call.data.coords:
            along = along.assign_coords({model.VARIANTS: np.arange(sites)})
        last = window_ends(along, call["window"])
        pairs, tiles = _pairs(last), costs.band(last)(edge)
        size = sites * int((last - np.arange(sites)).max(initial=0))
    seconds = taxa * sites / machine.SITES_READ + pairs * (
        taxa / machine.SITE_PAIRS[call["statistic"] == "T"] + machine.LD_PAIR
    )
    return estimate(f"{pairs:,} pairs of {sites:,} sites", seconds, tiles, 4 * edge**2, 4 * size)


def _seconds(own: Genotypes, pairs: float, statistic: str = "r2") -> float:
    """Return the seconds of a statistic of pairs of variants on one core."""
    each = machine.LD_EM if statistic.endswith("_em") else machine.LD_PAIR
    kind = own.layout.kind, own.missing
    product = "ternary" if kind == ("dosage", False) else "and"
    rate = machine.counted(machine.LD_PRODUCTS[kind], product)
    return own.packing + pairs * (own.layout.bits / rate + each)


def _last(own: Genotypes, window: Any) -> NDArray[np.int64]:
    """Return the last variant in each window; without a window, all pairs of a contig."""
    return window_ends(own.ds, own.variants if window is None else window)


def _pairs(last: NDArray[np.int64]) -> int:
    return int((last - np.arange(last.size)).sum())


def _tiles(own: Genotypes, last: NDArray[np.int64]) -> int:
    return costs.band(last)(max(1, max(own.rows, default=1)))


def _tile_costs(own: Genotypes, tiles: Callable[[int], int]) -> tuple[str, ...]:
    """Describe the product, and tiles of several sizes."""
    # Dosages with missing calls are nine "and" products of planes, or six of bytes.
    ternary = own.layout.kind == "dosage" and (
        not own.missing or chosen_kernel("ternary", max(own.rows, default=1)) == "matrix"
    )
    found = costs.tile_costs(
        "ld",
        own.variants,
        own.layout.bits,
        len(own.planes),
        taken=max(own.rows, default=1),
        tiles=tiles,
    )
    return (product_line("ternary" if ternary else "and"), *found.lines)
