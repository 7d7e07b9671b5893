"""Estimates of parsimony: sites times nodes of a tree, and rearrangements of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.data import model
from genobit.data.alignment import alignment_of
from genobit.data.estimates import Call, estimate
from genobit.engine import machine

if TYPE_CHECKING:
    from genobit.engine.schedule.costs import Estimate

MOVES = {"stepwise": 0.0, "nni": 0.5, "spr": 1.0, "tbr": 5.0, "ratchet": 1.0}
"""Work of a search or of a round of the ratchet, relative to SPR."""
RESAMPLED = 2.5
"""Work of a bootstrap resample, relative to SPR."""


def alignment(call: Call) -> Estimate:
    """Return the estimate of `alignment`."""
    calls = model.require_genotypes(call.data)
    sites, taxa = (calls.sizes[dim] for dim in (model.VARIANTS, model.SAMPLES))
    tasks = len(calls.chunksizes.get(model.VARIANTS, (0,)))
    size = 4 * taxa * sites
    what = f"{taxa:,} taxa x {sites:,} sites"
    return estimate(what, taxa * sites / machine.STATES_READ, tasks, size // tasks, size)


def parsimony(call: Call) -> Estimate:
    """Return the estimate of `parsimony`: each site of each node of each tree."""
    trees = _trees(call, call["tree"])
    taxa, sites = call.data.sizes["taxa"], call.data.sizes["sites"]
    rate = machine.FITCH if call["costs"] is None else machine.SANKOFF
    seconds = call.data.size / machine.STATES_READ + trees * taxa * sites / rate
    size = 8 * trees * (4 if call["costs"] is None else 1)
    if call["sites"]:
        seconds += trees * sites / machine.SITE_INDICES
        size += 8 * sites * (3 * trees + 2 if call["costs"] is None else trees)
    what = f"{trees:,} tree{'' if trees == 1 else 's'} of {taxa:,} taxa, {sites:,} sites"
    return estimate(what, seconds, _chunks(call), 4 * taxa * sites // _chunks(call), size)


def ancestral_states(call: Call) -> Estimate:
    """Return the estimate of `ancestral_states`: each site of each node."""
    _trees(call, call["tree"])
    taxa, sites = call.data.sizes["taxa"], call.data.sizes["sites"]
    nodes = 2 * taxa - 1
    seconds = call.data.size / machine.STATES_READ + nodes * sites / machine.STATES_NAMED
    what = f"{nodes:,} nodes, {sites:,} sites"
    return estimate(
        what, seconds, _chunks(call), 8 * nodes * sites // _chunks(call), 8 * nodes * sites
    )


def parsimony_search(call: Call) -> Estimate:
    """Return the estimate of `parsimony_search`.

    A ratchet has at least ``iterations`` rounds, each a search of its own. The size of a branch and
    bound is estimated from random descents in its tree, for which the alignment is read.
    """
    from genobit.parsimony.effort import effort_of
    from genobit.parsimony.methods.lengths import weights_of
    from genobit.parsimony.methods.search import planned

    effort = effort_of(call["effort"])
    taxa, sites = call.data.sizes["taxa"], call.data.sizes["sites"]
    size = 16 * taxa
    if call["method"] == "branch_and_bound":
        from genobit.parsimony.schedule.steps import looks

        aligned = alignment_of(call.data, call["gap"])
        given = {key: call[key] for key in ("start", "method", "seed", "bootstrap")}
        weights = None if call["weights"] is None else weights_of(call.data, call["weights"])
        count, each = looks(planned(aligned, weights, effort=effort, **given))
        what = f"about {count:.0e} partial trees of {taxa:,} taxa"
        return estimate(what, count * each, 1, 4 * taxa * sites, size)
    words = 1 + sites / 512
    swap, add = machine.SWAPPED * taxa**3 * words, machine.ADDED * taxa**2 * words
    rounds = 1 + (effort.iterations if call["method"] == "ratchet" else 0)
    each = add + rounds * MOVES[call["method"]] * swap
    seconds = call.data.size / machine.STATES_READ + effort.replicates * each
    seconds += call["bootstrap"] * (add + RESAMPLED * swap)
    tasks = effort.replicates + call["bootstrap"]
    what = (
        f"{tasks:,} search{'' if tasks == 1 else 'es'} of trees of {taxa:,} taxa, {sites:,} sites"
    )
    return estimate(what, seconds, tasks, 4 * taxa * sites, size * effort.max_trees)


def _trees(call: Call, tree: Any) -> int:
    """Return the number of trees, which are read."""
    from genobit.io.trees import read_trees

    aligned = alignment_of(call.data, call["gap"])
    return len(read_trees(tree, aligned.taxa).trees)


def _chunks(call: Call) -> int:
    chunks = call.data.chunksizes.get("sites", (0,))
    return max(1, len(chunks))
