"""The parsimony ratchet (Nixon 1999, Cladistics 15: 407-414).

A round doubles the weight of a random share of sites, swaps branches until the tree is shortest in
its neighbourhood under those weights, and swaps back under the true ones. So a search leaves a
local minimum for another that most of the data like as well. Rounds start from the last tree that
was as short as the shortest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.parsimony.kernels.random import next_word
from genobit.parsimony.kernels.sites import weighted
from genobit.parsimony.kernels.swaps import Work, swap
from genobit.parsimony.kernels.tree_set import LENGTH, Pool, keep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.parsimony.kernels.sites import Sites


def perturbed(
    weights: NDArray[np.int64], share: float, rounds: int, stream: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Weights of patterns (rounds, patterns) in which each site counts twice with chance ``share``.

    One binomial draw for each pattern: weights may be millions.
    """
    generator = np.random.Generator(np.random.Philox(key=int(next_word(stream))))
    return weights + generator.binomial(weights, share, (rounds, weights.size))


@njit
def ratchet_rounds(
    back: NDArray[np.int64],
    sites: Sites,
    perturbed_weights: NDArray[np.int64],
    moves: int,
    lengths: NDArray[np.int64],
    pool: Pool,
    work: Work,
    stream: NDArray[np.uint64],
) -> None:
    """Do a round for each of ``lengths``, which receive the shortest so far; move ``back`` along.

    ``perturbed_weights`` (rounds, patterns) are those of `perturbed`. ``back`` is a tree of the
    pool, swapped to its end.
    """
    for number in range(lengths.size):
        trial = back.copy()
        other = weighted(sites, perturbed_weights[number])
        swap(trial, other, moves, work, stream)
        length = swap(trial, sites, moves, work, stream)
        if length <= pool.state[LENGTH]:
            back[:] = trial
        keep(trial, length, pool)
        lengths[number] = pool.state[LENGTH]
