"""Tree searches in steps: each step continues from the arrays of the previous step.

Replicates, resamples, and branch and bound are chains of steps of about a second. A step's result
depends only on its arguments. A chain may therefore stop anywhere, continue on another computer,
and end with the same result.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.parsimony.kernels import branch_and_bound, swaps, tree_set
from genobit.parsimony.kernels.additions import added_stepwise
from genobit.parsimony.kernels.half_edges import empty_views, tree_length
from genobit.parsimony.kernels.planes import sites_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.patterns import Drawn, Informative
    from genobit.parsimony.kernels.planes import Sites
    from genobit.parsimony.kernels.tree_set import Pool

State = dict[str, Any]
"""Arrays of a chain; ``done`` is the finished share, 1 at the end."""
MOVES = {
    "stepwise": 0,
    "nni": swaps.NNI,
    "spr": swaps.SPR,
    "tbr": swaps.TBR,
    # Rounds of SPR took half the time of rounds of TBR, and found trees as short.
    "ratchet": swaps.SPR,
    "branch_and_bound": swaps.TBR,
}
ROUNDS = 10
"""Most rounds of the ratchet in a step."""
LOOKS = 20_000
"""Partial trees that branch and bound examines in a step."""
SEARCH, RESAMPLE = 0, 1
"""Kinds of chains, each with its own random numbers."""


class Plan(NamedTuple):
    """Data and parameters of a search."""

    patterns: Informative
    drawn: Drawn
    """Sites from which resamples are drawn; empty without resampling."""
    method: str
    start: str | NDArray[np.int64]
    """"random" or "closest" addition, or a tree as half-edges."""
    seed: int
    replicates: int
    iterations: int
    patience: int
    share: float
    max_trees: int
    bootstrap: int

    @property
    def chains(self) -> int:
        """Number of chains: replicates, then resamples."""
        return self.replicates + self.bootstrap


def step(plan: Plan, chain: int, state: State | None) -> State:
    """Run the next step of a chain, the first if ``state`` is None."""
    if chain >= plan.replicates:
        return _resampled(plan, chain - plan.replicates)
    if plan.method == "branch_and_bound":
        return _bounded(plan, state)
    return _begun(plan, chain) if state is None else _ratchet(plan, state)


def stream_of(plan: Plan, kind: int, chain: int) -> NDArray[np.uint64]:
    """Return the initial state of a chain's random numbers, (1,) uint64."""
    sequence = np.random.SeedSequence(plan.seed, spawn_key=(kind, chain))
    return sequence.generate_state(1, np.uint64).astype(np.uint64)


def _start(plan: Plan, sites: Sites, stream: NDArray[np.uint64]) -> NDArray[np.int64]:
    if isinstance(plan.start, str):
        return added_stepwise(sites, plan.start == "closest", stream)
    return plan.start.copy()


def _swapped(
    plan: Plan, sites: Sites, stream: NDArray[np.uint64], moves: int
) -> tuple[NDArray[np.int64], list[int]]:
    """Return a tree at a local minimum, and its lengths before and after branch swapping."""
    back = _start(plan, sites, stream)
    if not moves:
        return back, [tree_length(back, sites)]
    lengths = [tree_length(back, sites)]
    work = swaps.room_for_search(sites)
    return back, [*lengths, swaps.swap(back, sites, moves, work, stream)]


def _resampled(plan: Plan, number: int) -> State:
    """Search a tree for sites drawn with replacement, each with its weight (Felsenstein 1985)."""
    sequence = np.random.SeedSequence(plan.seed, spawn_key=(RESAMPLE, number, 0))
    generator = np.random.Generator(np.random.Philox(sequence))
    weights = plan.drawn.weights_again(generator, plan.patterns.of_column.size)
    sites = sites_of(plan.patterns.reweighted(weights))
    again = plan._replace(start="random")
    back, _ = _swapped(again, sites, stream_of(plan, RESAMPLE, number), swaps.TBR)
    return {"back": back, "done": np.float64(1)}


def _begun(plan: Plan, chain: int) -> State:
    sites, stream = sites_of(plan.patterns), stream_of(plan, SEARCH, chain)
    back, lengths = _swapped(plan, sites, stream, MOVES[plan.method])
    done = 1.0 if plan.method != "ratchet" or plan.iterations == 0 else 0.0
    return {
        "back": back,
        "trees": back[None],
        "lengths": np.array(lengths, np.int64),
        "of_rounds": np.array(lengths, np.int64),
        "stream": stream,
        "done": np.float64(done),
    }


def pool_of(state: State, sites: Sites, max_trees: int) -> Pool:
    """Return a pool with the trees of a chain."""
    pool = tree_set.empty_pool(sites.taxa, max_trees, int(state["lengths"][-1]))
    for tree in state["trees"]:
        tree_set.keep(tree, int(state["lengths"][-1]), pool)
    return pool


def trees_in(pool: Pool) -> NDArray[np.int64]:
    """Return a copy of the trees of a pool, (trees, half-edges)."""
    return pool.trees[: pool.state[tree_set.COUNT]].copy()


def _ratchet(plan: Plan, state: State) -> State:
    sites, lengths = sites_of(plan.patterns), state["lengths"]
    pool, back, stream = pool_of(state, sites, plan.max_trees), *_copies(state)
    more = np.zeros((min(ROUNDS, _rounds_left(plan, lengths)), 2), np.int64)
    work = swaps.room_for_search(sites)
    moves = MOVES[plan.method]
    weights = swaps.perturbed(plan.patterns.weights, plan.share, len(more), stream)
    swaps.ratchet_rounds(back, sites, weights, moves, more, pool, work, stream)
    lengths = np.concatenate([lengths, more[:, 1]])
    left = _rounds_left(plan, lengths)
    # The first two lengths are the start and its swapping, not rounds.
    rounds = lengths.size - 2
    return {
        "back": back,
        "trees": trees_in(pool),
        "lengths": lengths,
        "of_rounds": np.concatenate([state["of_rounds"], more[:, 0]]),
        "stream": stream,
        "done": np.float64(rounds / (rounds + left)),
    }


def _copies(state: State) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    return state["back"].copy(), state["stream"].copy()


def _rounds_left(plan: Plan, lengths: NDArray[np.int64]) -> int:
    """Return the number of rounds left if none of them finds a shorter tree."""
    rounds = lengths.size - 2
    idle = int(np.count_nonzero(lengths[2:] == lengths[-1]))
    if lengths.size > 2 and lengths[1] > lengths[-1]:
        # The round that found it was not idle.
        idle -= 1
    return max(plan.iterations - rounds, plan.patience - idle, 0)


def _bounded(plan: Plan, state: State | None) -> State:
    sites = sites_of(plan.patterns)
    later = branch_and_bound.later(plan.patterns, sites)
    if state is None:
        return _bounded_start(plan, sites, later)
    levels = branch_and_bound.Levels(*[state[f"level_{name}"].copy() for name in _LEVELS])
    pool = pool_of(state, sites, plan.max_trees)
    views = empty_views(sites, sites.taxa)
    end = branch_and_bound.search_levels(sites, later, levels, pool, views, LOOKS)
    length = int(pool.state[tree_set.LENGTH])
    done = 1.0 if end else min(branch_and_bound.done(levels), 0.999)
    return {
        "trees": trees_in(pool),
        "lengths": np.append(state["lengths"], length),
        "done": np.float64(done),
        **_of_levels(levels),
    }


_LEVELS = branch_and_bound.Levels._fields


def _of_levels(levels: branch_and_bound.Levels) -> State:
    return {f"level_{name}": getattr(levels, name) for name in _LEVELS}


def _bounded_start(plan: Plan, sites: Sites, later: branch_and_bound.Later) -> State:
    """Return a short tree, found by a few rounds of the ratchet, and the first level."""
    begun = _begun(plan._replace(method="ratchet", iterations=ROUNDS), 0)
    if sites.taxa > 3:
        begun = _ratchet(plan._replace(method="ratchet", iterations=ROUNDS, patience=0), begun)
    three = branch_and_bound.best_three(sites, later) if sites.taxa > 3 else np.arange(3)
    levels = branch_and_bound.first_level(sites, later, three)
    return {
        "trees": begun["trees"],
        "lengths": begun["lengths"][[0, -1]],
        "done": np.float64(1.0 if sites.taxa == 3 else 0.0),
        **_of_levels(levels),
    }


def looks(plan: Plan) -> tuple[float, float]:
    """Estimate the partial trees of a branch and bound (Knuth 1975), and the seconds for one."""
    sites, stream = sites_of(plan.patterns), stream_of(plan, SEARCH, 0)
    later = branch_and_bound.later(plan.patterns, sites)
    state = _bounded_start(plan, sites, later)
    three = branch_and_bound.best_three(sites, later)
    views = empty_views(sites, sites.taxa)
    length = int(state["lengths"][-1])
    counts = [
        branch_and_bound.probe(
            sites, later, branch_and_bound.first_level(sites, later, three), length, views, stream
        )
        for _ in range(PROBES)
    ]
    levels = branch_and_bound.first_level(sites, later, three)
    pool = pool_of(state, sites, plan.max_trees)
    # The first call, of one partial tree, compiles the search.
    for few in (1, TIMED):
        start = time.thread_time()
        branch_and_bound.search_levels(sites, later, levels, pool, views, few)
    return float(np.mean(counts)), (time.thread_time() - start) / TIMED


PROBES = 200
"""Random descents that estimate the size of a search."""
TIMED = 5_000
"""Partial trees that are examined to time one."""
