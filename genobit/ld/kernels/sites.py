"""LD between sites of several states: state sets -> planes -> contingency tables of pairs -> T.

A site has one plane for each state, with the taxa that have this state and no other. For two sites
the products of these planes form a contingency table (states, states) over the taxa valid at both.
An invalid taxon is in no plane, so the sums of the table are the counts of c_i & c_j.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from genobit.engine.gemm.products import stacked
from genobit.engine.pairwise.statistic import Float, Margins, PairStatistic
from genobit.engine.simd.jit import njit

Planes = tuple[NDArray[np.uint64], ...]
"""One plane for each state, (sites, words)."""
_TILE = 512
"""Sites packed at a time."""


@njit
def present(sets: NDArray[np.unsignedinteger], out: NDArray[np.unsignedinteger]) -> None:
    """Add to out (sites,) the states that taxa of a single state have, sets (taxa, sites)."""
    one = out.dtype.type(1)
    for taxon in range(sets.shape[0]):
        row = sets[taxon]
        for k in range(row.size):
            states = row[k]
            out[k] |= states if states & (states - one) == 0 else out.dtype.type(0)


@njit
def pack_states(
    sets: NDArray[np.unsignedinteger],
    wanted: NDArray[np.unsignedinteger],
    out: NDArray[np.uint64],
) -> None:
    """Set bit t of out (planes, sites, words) where sets (taxa, sites) of taxon t are as wanted.

    wanted: (planes, sites), of the type of the sets. A plane of zeros takes all taxa of a single
    state; elsewhere, no taxon has a set of 0.
    """
    planes, sites, words = out.shape
    octets = np.empty((8, _TILE), np.uint8)
    for p in range(planes):
        any_state = not wanted[p].any()
        for first in range(0, sites, _TILE):
            stop = min(first + _TILE, sites)
            for word in range(words):
                for j in range(8):
                    taxon = 64 * word + 8 * j
                    part = sets[taxon : min(taxon + 8, sets.shape[0]), first:stop]
                    octets[j] = 0
                    if any_state:
                        _add_single(part, octets[j])
                    else:
                        _add_equal(part, wanted[p, first:stop], octets[j])
                for k in range(stop - first):
                    bits = np.uint64(0)
                    for j in range(8):
                        bits |= np.uint64(octets[j, k]) << np.uint64(8 * j)
                    out[p, first + k, word] = bits


@njit
def _add_equal(
    sets: NDArray[np.unsignedinteger],
    wanted: NDArray[np.unsignedinteger],
    out: NDArray[np.uint8],
) -> None:
    for t in range(sets.shape[0]):
        row, bit = sets[t], np.uint8(1 << t)
        for k in range(row.size):
            out[k] |= bit if row[k] == wanted[k] else np.uint8(0)


@njit
def _add_single(sets: NDArray[np.unsignedinteger], out: NDArray[np.uint8]) -> None:
    one = sets.dtype.type(1)
    for t in range(sets.shape[0]):
        row, bit = sets[t], np.uint8(1 << t)
        for k in range(row.size):
            out[k] |= bit if row[k] & (row[k] - one) == 0 else np.uint8(0)


@njit
def _inverse_variances(sums: NDArray[np.int64], n: np.int64, out: NDArray[np.float64]) -> int:
    """Fill out (states,) with 1 / (x (n - x)), or 0 if absent; returns how many are present."""
    present = 0
    for s in range(sums.shape[0]):
        x = sums[s]
        present += x > 0
        out[s] = 1.0 / (float(x) * float(n - x)) if 0 < x < n else 0.0
    return present


@njit
def _table_block(counts: NDArray[np.int32], states: int, out: Float) -> None:
    """Compute T, out (rows, columns), from interleaved counts (states rows, states columns)."""
    x, y = np.empty(states, np.int64), np.empty(states, np.int64)
    of_x, of_y = np.empty(states), np.empty(states)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            x[:] = 0
            y[:] = 0
            n = np.int64(0)
            for s in range(states):
                for t in range(states):
                    both = np.int64(counts[states * i + s, states * j + t])
                    x[s] += both
                    y[t] += both
                    n += both
            v, w = _inverse_variances(x, n, of_x), _inverse_variances(y, n, of_y)
            if v < 2 or w < 2:
                out[i, j] = np.nan
                continue
            total = 0.0
            for s in range(states):
                for t in range(states):
                    both = np.int64(counts[states * i + s, states * j + t])
                    covariance = float(n * both - x[s] * y[t])
                    total += covariance * covariance * (of_x[s] * of_y[t])
            out[i, j] = (v - 1) * (w - 1) * float(n) / (v * w) * total


def statistic(states: int) -> PairStatistic:
    """Return T of sites with so many planes of states."""
    return PairStatistic(_stacked, partial(_table, states=states), states)


def _stacked(planes: Planes) -> Planes:
    return stacked(*planes)


def _table(
    counts: NDArray[np.int32], _: Margins, __: Margins, ___: int, out: Float, *, states: int
) -> None:
    _table_block(counts, states, out)
