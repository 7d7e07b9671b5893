"""Estimates of parsimony: sites times nodes of a tree, and rearrangements of a search.

Rates are of one core of a Zen 5 (AMD EPYC 9005) with AVX-512.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.data import model
from genobit.data.alignment import alignment_of
from genobit.data.estimates import Call, estimate

if TYPE_CHECKING:
    from genobit.engine.schedule.costs import Estimate

READ = 1e8
"""Characters of an alignment that are read per second."""
FITCH = 2e9
"""Sites of nodes per second of the Fitch algorithm."""
SITES = 3e8
"""Sites of trees per second whose indices are derived."""
SANKOFF = 5.5e7
"""Sites of nodes per second with costs."""
STATES = 8e7
"""Sites of nodes per second whose states are named as text."""
MOVES = {"stepwise": 0.0, "nni": 0.5, "spr": 1.0, "tbr": 5.0, "ratchet": 1.0}
"""Work of a search or of a round of the ratchet, relative to SPR."""
SWAPPED = 4e-9
"""Seconds per taxa^3 of an SPR search, and again per 512 sites of it."""
ADDED = 1e-7
"""Seconds per taxa^2 of stepwise addition, and again per 512 sites of it."""
RESAMPLED = 2.5
"""Work of a bootstrap resample, relative to SPR."""


def alignment(call: Call) -> Estimate:
    """Return the estimate of `alignment`."""
    calls = model.require_genotypes(call.data)
    sites, taxa = (calls.sizes[dim] for dim in (model.VARIANTS, model.SAMPLES))
    tasks = len(calls.chunksizes.get(model.VARIANTS, (0,)))
    size = 4 * taxa * sites
    what = f"{taxa:,} taxa x {sites:,} sites"
    return estimate(what, taxa * sites / READ, tasks, size // tasks, size)


def parsimony(call: Call) -> Estimate:
    """Return the estimate of `parsimony`: each site of each node of each tree."""
    trees = _trees(call, call["tree"])
    taxa, sites = call.data.sizes["taxa"], call.data.sizes["sites"]
    rate = FITCH if call["costs"] is None else SANKOFF
    seconds = call.data.size / READ + trees * taxa * sites / rate
    size = 8 * trees * (4 if call["costs"] is None else 1)
    if call["sites"]:
        seconds += trees * sites / SITES
        size += 8 * sites * (3 * trees + 2 if call["costs"] is None else trees)
    what = f"{trees:,} tree{'' if trees == 1 else 's'} of {taxa:,} taxa, {sites:,} sites"
    return estimate(what, seconds, _chunks(call), 4 * taxa * sites // _chunks(call), size)


def ancestral_states(call: Call) -> Estimate:
    """Return the estimate of `ancestral_states`: each site of each node."""
    _trees(call, call["tree"])
    taxa, sites = call.data.sizes["taxa"], call.data.sizes["sites"]
    nodes = 2 * taxa - 1
    seconds = call.data.size / READ + nodes * sites / STATES
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
    swap, add = SWAPPED * taxa**3 * words, ADDED * taxa**2 * words
    rounds = 1 + (effort.iterations if call["method"] == "ratchet" else 0)
    each = add + rounds * MOVES[call["method"]] * swap
    seconds = call.data.size / READ + effort.replicates * each
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
