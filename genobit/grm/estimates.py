"""Estimates of relationship matrices: products of samples^2 / 2 times variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data import model, packed
from genobit.data.autosomes import choose
from genobit.data.estimates import Call, estimate, lazy, product_line
from genobit.data.haploid import as_diploid
from genobit.engine import machine
from genobit.engine.schedule import costs
from genobit.grm.methods.pairs import RelativesMethods

if TYPE_CHECKING:
    from genobit.engine.schedule.costs import Estimate, TileCosts
    from genobit.engine.schedule.pair_sums import SampleChunks

COUNTED = {"king", "ibs"}
"""Methods of exact counts, which missing calls do not change."""
BY_BITS = {"vanraden1", "endelman_jannink", "hadamard", *COUNTED}
"""Methods that count bits if no call is missing."""
WEIGHTED_LINE = "weighted products: tables of three calls"
EXACT_LINE = "weighted products: exact integers on the matrix unit"


def grm(call: Call) -> Estimate:
    """Return the estimate of `grm` or `grm_pairs`: a chain of sums for each pair of tiles."""
    from genobit.engine.gemm import exact

    result, (samples, packing) = call.result(), _samples(call)
    edges = _tile_costs(samples)
    seconds = packing + _seconds(call["method"], samples)
    what = f"all pairs of {sum(samples.tiles):,} samples, {sum(samples.variants):,} variants"
    weighted = len(samples.planes) > 2 and call["method"] not in COUNTED
    by_bits = call["method"] in BY_BITS and not weighted
    by_digits = call["method"] in {"gcta", "vanraden2"} and exact.pays(None, sum(samples.tiles))
    weights = EXACT_LINE if by_digits else WEIGHTED_LINE
    product = product_line("ternary") if by_bits else weights
    return lazy(what, result, seconds, (product, *edges.lines), _held(edges))


grm_pairs = grm


def unrelated(call: Call) -> Estimate:
    """Return the estimate of `unrelated`: the kinship of all pairs, streamed, or given pairs."""
    if call["pairs"] is not None:
        return estimate("a table of pairs", 0.0, 0, 0, call.data.sizes[model.SAMPLES])
    samples, packing = _samples(call)
    n = sum(samples.tiles)
    pairs = RelativesMethods(call.data).grm_pairs(threshold=0.0, autosomes=call["autosomes"])
    what = f"all pairs of {n:,} samples, {sum(samples.variants):,} variants"
    held = _held(_tile_costs(samples))
    rate = machine.counted(machine.RELATED, "ternary")
    seconds = packing + n * n / 2 * sum(samples.variants) / rate
    return estimate(what, seconds, pairs.tasks, held, n)


def crossproduct(call: Call) -> Estimate:
    """Return the estimate of `crossproduct`."""
    result, (samples, packing) = call.result(), _samples(call)
    n, variants = sum(samples.tiles), sum(samples.variants)
    what = f"all pairs of {n:,} samples, {variants:,} variants"
    rate = machine.counted(machine.CROSSPRODUCTS, "ternary")
    return lazy(what, result, packing + n * n / 2 * variants / rate)


def _samples(call: Call) -> tuple[SampleChunks, float]:
    """Return the planes by samples, and the seconds to pack and turn them."""
    chosen = choose(call.data, call.given.get("autosomes", True))
    contigs = bool(call.given.get("loco"))
    samples = packed.by_samples(as_diploid(call.data), variants=chosen.kept, contigs=contigs)[2]
    return samples, 2 * sum(samples.tiles) * sum(samples.variants) / machine.PACKED


def _seconds(method: str, samples: SampleChunks) -> float:
    n, variants = sum(samples.tiles), sum(samples.variants)
    rate = machine.GRM_PRODUCTS[method]
    if method in BY_BITS:
        rate = machine.counted(rate, "ternary")
    if len(samples.planes) > 2 and method not in COUNTED:
        rate = min(rate, machine.GRM_WEIGHTED)
    return n * n / 2 * variants / rate


def _tile_costs(samples: SampleChunks) -> TileCosts:
    return costs.sum_costs(
        sum(samples.tiles), samples.variants, len(samples.planes), max(samples.tiles)
    )


def _held(edges: TileCosts) -> int:
    """Return the bytes of a task with the edge in force."""
    return next(edge.held for edge in edges.edges if edge.rows == edges.taken)
