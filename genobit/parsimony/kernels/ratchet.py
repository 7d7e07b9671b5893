"""The parsimony ratchet (Nixon 1999, Cladistics 15: 407-414).

A round doubles the weight of a random share of the sites and swaps branches to a local minimum
under these weights. It then swaps branches under the true weights. In this way, a search leaves one
local minimum for another that fits most of the data equally well. Each round starts from the last
tree that was as short as the shortest.
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
    """Draw weights (rounds, patterns) in which each site counts twice with probability ``share``.

    Each pattern takes one binomial draw, because weights may be in the millions.
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
    """Run one round for each entry of ``lengths``, which receives the shortest length so far.

    perturbed_weights: (rounds, patterns), from `perturbed`. ``back`` is a tree of the pool at a
    local minimum, and is updated in place.
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
