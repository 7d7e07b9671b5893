"""Results of searches for the shortest trees: merged replicates, and support of branches.

Trees are unrooted and binary. Two trees are equal if they have the same splits. Branches without a
change are not collapsed, so each resolution of an unresolved node is a separate tree.

Length: Fitch 1971. Ratchet: Nixon 1999. Branch and bound: Hendy and Penny 1982. Support: the share
of trees from resampled sites that have a branch (Felsenstein 1985, Evolution 39: 783-791).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.data.topology import NO_PARENT
from genobit.engine.schedule.costs import check_time
from genobit.parsimony.kernels import swaps, tree_set
from genobit.parsimony.kernels.half_edges import next_at_node, parents_from_halves, preorder
from genobit.parsimony.kernels.planes import sites_of
from genobit.parsimony.rooting import splits
from genobit.parsimony.schedule.steps import MOVES, looks, trees_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.parsimony.schedule.runs import Run
    from genobit.parsimony.schedule.steps import Plan, State

ALWAYS_FEASIBLE = 11
"""Taxa with 34 million trees, up to which no estimate is needed."""


class Found(NamedTuple):
    """Results of a search."""

    trees: NDArray[np.int64]
    """Half-edges of the shortest trees, (trees, half-edges)."""
    length: int
    trace: NDArray[np.int64]
    """Shortest length so far: after the start, its swapping, and each round."""
    of_rounds: NDArray[np.float64]
    """Length of the tree of each round, (replicates, rounds), NaN after the last round of a
    replicate; without rows for branch and bound."""
    proven: bool
    partial: bool
    complete: bool
    """Whether the pool had room for all shortest trees that the search met."""
    resamples: NDArray[np.int64]
    """Trees of resampled sites, (resamples, half-edges)."""


def check_feasible(plan: Plan, share: float) -> None:
    """Refuse a branch and bound that would take longer than ``get_options().longest_search``.

    ``share`` is the part of the search still to do, 1 at its start. Raises ValueError with the
    number of partial trees, the estimate, and ways to reduce it.
    """
    taxa = plan.patterns.sets.shape[0]
    if plan.method != "branch_and_bound" or taxa <= ALWAYS_FEASIBLE:
        return
    count, each = looks(plan)
    count *= share
    check_time(
        f"the branch and bound of {taxa} taxa looks at about {count:.0e} partial trees and",
        count * each,
        1,
        'method="ratchet", which proves nothing but finds short trees; or fewer taxa',
    )


def gathered(plan: Plan, run: Run) -> Found:
    """Merge the results of the chains, and swap the shortest trees to find others as short."""
    states = [run.states[k] for k in range(plan.replicates) if k in run.states]
    sites = sites_of(plan.patterns)
    length = min(int(state["lengths"][-1]) for state in states)
    pool = tree_set.empty_pool(sites.taxa, plan.max_trees, length)
    for state in states:
        for tree in state["trees"]:
            tree_set.keep(tree, int(state["lengths"][-1]), pool)
    partial = run.partial
    proven = plan.method == "branch_and_bound" and not partial
    if not proven and MOVES[plan.method]:
        moves = swaps.TBR if plan.method == "ratchet" else MOVES[plan.method]
        work = swaps.room_for_search(sites)
        try:
            while pool.state[tree_set.SWAPPED] < pool.state[tree_set.COUNT]:
                swaps.swap_pool(sites, moves, 1, pool, work)
        except KeyboardInterrupt:
            partial = True
    constant = plan.patterns.constant
    length = int(pool.state[tree_set.LENGTH])
    resamples = [
        run.states[k]["back"] for k in range(plan.replicates, plan.chains) if k in run.states
    ]
    return Found(
        trees_in(pool),
        length + constant,
        _trace([state["lengths"] for state in states], length) + constant,
        _of_rounds(states) + constant,
        proven,
        partial,
        bool(pool.state[tree_set.COUNT] < plan.max_trees),
        np.array(resamples, np.int64).reshape(len(resamples), pool.trees.shape[1]),
    )


def _trace(traces: list[NDArray[np.int64]], length: int) -> NDArray[np.int64]:
    """Return the shortest length of all replicates after each round, extending finished ones."""
    longest = max(trace.size for trace in traces)
    each = [np.pad(trace, (0, longest - trace.size), mode="edge") for trace in traces]
    shortest = np.minimum.accumulate(np.min(each, axis=0))
    # Swapping to find equally short trees may find a shorter one.
    return np.append(shortest, length) if length < shortest[-1] else shortest


def _of_rounds(states: list[State]) -> NDArray[np.float64]:
    """Return the lengths of rounds (replicates, rounds), NaN where a replicate has ended."""
    each = [state["of_rounds"].astype(np.float64) for state in states if "of_rounds" in state]
    longest = max((lengths.size for lengths in each), default=0)
    padded = [np.pad(x, (0, longest - x.size), constant_values=np.nan) for x in each]
    return np.array(padded).reshape(len(each), longest)


def splits_of(back: NDArray[np.int64], taxa: int) -> dict[int, int]:
    """Return the inner branches: split without taxon 0, as bits of an int, to its half-edge."""
    order = np.empty(back.size, np.int64)
    count = preorder(back, taxa, order)
    below: dict[int, int] = {}
    for h in reversed(order[:count].tolist()):
        if h < taxa:
            below[h] = 1 << h
        else:
            g = next_at_node(h, taxa)
            below[h] = below[int(back[g])] | below[int(back[next_at_node(g, taxa)])]
    # The first half-edge in order belongs to the branch of tip 0.
    return {below[h]: h for h in order[1:count].tolist() if h >= taxa}


def support_of(found: Found, taxa: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the percent of resamples with each inner branch, and the taxa of its split.

    Returns (trees, splits) and (trees, splits, taxa). A split is the side without the first taxon;
    the splits of a tree are sorted.
    """
    counts: dict[int, int] = {}
    for back in found.resamples:
        for split in splits_of(back, taxa):
            counts[split] = counts.get(split, 0) + 1
    shape = (len(found.trees), max(taxa - 3, 0))
    support, members = np.zeros(shape), np.zeros((*shape, taxa), np.bool_)
    for tree, back in enumerate(found.trees):
        for number, split in enumerate(sorted(splits_of(back, taxa))):
            support[tree, number] = 100 * counts.get(split, 0) / max(len(found.resamples), 1)
            members[tree, number] = [split >> taxon & 1 for taxon in range(taxa)]
    return support, members


def drawn(
    back: NDArray[np.int64], taxa: int, outgroup: Sequence[int]
) -> tuple[NDArray[np.int64], dict[int, int]]:
    """Return the parents of a tree for output, and its inner nodes by split.

    Without an outgroup, the root is an inner node of three branches. With one, the root is on the
    branch of the outgroup. If no branch separates the outgroup, its first taxon is used.
    """
    if not outgroup:
        parents = parents_from_halves(back, taxa)
        return parents, _nodes_by_split(parents, taxa)
    whole = (1 << taxa) - 1
    wanted = sum(1 << taxon for taxon in set(outgroup))
    halves = {**splits_of(back, taxa), **{1 << tip: tip for tip in range(taxa)}}
    half = halves.get(wanted, halves.get(whole ^ wanted, outgroup[0]))
    parents = _rooted(back, taxa, half)
    return parents, _nodes_by_split(parents, taxa)


def _rooted(back: NDArray[np.int64], taxa: int, half: int) -> NDArray[np.int64]:
    """Return the parents of a tree rooted in the middle of the branch of ``half``."""
    root = 2 * taxa - 2
    parents = np.full(root + 1, NO_PARENT, np.int64)
    waiting, free = [(int(half), root), (int(back[half]), root)], root - 1
    while waiting:
        h, parent = waiting.pop()
        if h < taxa:
            parents[h] = parent
            continue
        # Numbered from the root down, so that children have smaller numbers than their parent.
        parents[free] = parent
        g = next_at_node(h, taxa)
        waiting += [(int(back[g]), free), (int(back[next_at_node(g, taxa)]), free)]
        free -= 1
    return parents


def _nodes_by_split(parents: NDArray[np.int64], taxa: int) -> dict[int, int]:
    """Return the inner nodes, except the root, by the split of their branch without taxon 0."""
    return {split: node for node, split in enumerate(splits(parents)) if node >= taxa}
