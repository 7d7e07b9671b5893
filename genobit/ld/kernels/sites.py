"""LD between sites of several states: state sets -> planes -> contingency tables of pairs -> T.

A site has one plane for each state, with the taxa that have this state and no other. For two sites
the products of these planes form a contingency table (states, states) over the taxa valid at both.
An invalid taxon is in no plane, so the sums of the table are the counts of c_i & c_j.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from genobit.engine.gemm.products import stacked
from genobit.engine.pairwise.statistic import Float, Margins, PairStatistic
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import equal_mask, unowned

Planes = tuple[NDArray[np.uint64], ...]
"""One plane for each state, (sites, words)."""


def state_bits(
    values: NDArray[np.uint8],
    codes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None:
    """Set bit k of ``out[state, taxon]`` where ``values[taxon, k]`` is a code of the state.

    values: (taxa, sites); codes: those of state s are ``codes[starts[s] : starts[s + 1]]``; out:
    (states, taxa, words), with padding bits of zero. A single row of ``out`` is of any taxon.
    """
    taxa, sites = values.shape
    if values.strides[1] != 1 or values.strides[0] < sites:
        values = np.ascontiguousarray(values)
    # A chunk of sites has parts of longer rows. The kernel takes what is between them along.
    stride = values.strides[0]
    flat = as_strided(values, ((taxa - 1) * stride + sites,), (1,))
    _state_bits(flat, stride, taxa, sites, codes, starts, out)


@njit
def _state_bits(
    flat: NDArray[np.uint8],
    stride: int,
    taxa: int,
    sites: int,
    codes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None:
    states, rows, words = out.shape
    octets, wanted = unowned(flat), codes.view(np.int8)
    out[:] = 0
    for taxon in range(taxa):
        row = min(taxon, rows - 1)
        for word in range(words):
            at = taxon * stride + 64 * word
            number = min(64, sites - 64 * word)
            if at + 64 > flat.size:
                # A whole register would reach past the data.
                _last_bits(flat[at : at + number], codes, starts, out[:, row, word])
                continue
            mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - number)
            for state in range(states):
                bits = np.uint64(0)
                for k in range(starts[state], starts[state + 1]):
                    bits |= equal_mask(octets, at, wanted[k])
                out[state, row, word] |= bits & mask


@njit
def _last_bits(
    values: NDArray[np.uint8],
    codes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None:
    for state in range(out.size):
        for k in range(starts[state], starts[state + 1]):
            for j in range(values.size):
                out[state] |= np.uint64(values[j] == codes[k]) << np.uint64(j)


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
