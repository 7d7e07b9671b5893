"""LD between sites of several states: contingency tables of states of pairs -> T.

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
