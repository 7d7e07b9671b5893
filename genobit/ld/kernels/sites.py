"""LD between sites of several states: contingency tables of states of pairs -> T.

A site has one plane for each state, with the taxa that have this state and no other. For two sites
the products of these planes form a contingency table (states, states) over the taxa valid at both.
An invalid taxon is in no plane, so the sums of the table are the counts of c_i & c_j.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from genobit.engine.gemm.products import BLOCK_COLUMNS, stacked
from genobit.engine.pairwise import blocks
from genobit.engine.pairwise.blocks import BandRows, Float, band_columns
from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genobit.engine.pairwise.blocks import Values

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


def _blocks(
    a: Planes,
    b: Planes | None,
    *,
    upper: bool,
    rows_of: Callable[[int, int], tuple[int, int]] | None = None,
    columns: int = BLOCK_COLUMNS,
) -> Iterator[Values]:
    states = len(a)

    def kernel(counts: NDArray[np.int32], _: slice, __: slice, out: Float) -> None:
        _table_block(counts, states, out)

    return blocks.of_groups(
        kernel,
        stacked(*a),
        None if b is None else stacked(*b),
        states,
        dtype=np.float32,
        upper=upper,
        rows_of=rows_of,
        columns=columns,
    )


def square(a: Planes, b: Planes | None = None) -> NDArray[np.float32]:
    """Return T of every site of ``a`` with every site of ``b``, or of ``a``: float32."""
    other = a if b is None else b
    found = _blocks(a, b, upper=b is None)
    shape = a[0].shape[0], other[0].shape[0]
    return blocks.square(found, *shape, np.float32, symmetric=b is None)


def band(a: Planes, b: Planes, last: NDArray[np.int64], width: int) -> NDArray[np.float32]:
    """Return T of site i of ``a`` with sites i + 1 .. last[i] of ``b``: (rows, width) float32.

    The sites of ``a`` are the first sites of ``b``. The values of ``last`` never decrease. Pairs
    outside are NaN.
    """
    found = _blocks(a, b, upper=True, rows_of=BandRows(last), columns=band_columns(last))
    return blocks.band(found, a[0].shape[0], last, width)
