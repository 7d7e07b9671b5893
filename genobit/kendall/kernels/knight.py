"""Kendall scores by merge sort in vector registers: Knight's algorithm on packed pairs of ranks.

This is VSE, the vectorised sort-enabled algorithm of Liu, Pan, Green, Aluru 2017. If observations
are sorted by one variable and then by the other, sorting them by the other variable takes D
exchanges of neighbours. D is the number of discordant pairs (Knight 1966), and

    score = n (n - 1) / 2 - ties of x - ties of y + ties of both - 2 D

Both ranks of an observation are one integer, so a register sorts several observations at once. See
docs/internals/kendall-knight.md for keys and their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import truncate_to
from genobit.kendall.kernels.bitonic_sort import BLOCK
from genobit.kendall.kernels.ranks import missing, ties
from genobit.kendall.kernels.simd_merge_sort import constants, count_exchanges

if TYPE_CHECKING:
    from numpy.typing import NDArray

NARROW = 32_767
"""Most observations for 32-bit keys: two ranks of 15 bits, a sign and a flag."""
ROWS = 64
"""Rows that share a sorted column: sorting it costs about as much as one pair."""


@njit
def _starts(ranks: NDArray[Any], absent: int, starts: NDArray[np.int32]) -> Any:
    """Write the first place of each rank in sorted order; returns the number present."""
    starts[:] = 0
    for k in range(ranks.shape[0]):
        if ranks[k] != absent:
            starts[ranks[k] + 1] += 1
    for k in range(1, starts.shape[0]):
        starts[k] += starts[k - 1]
    return starts[-1]


@njit
def _order(
    ranks: NDArray[Any], absent: int, places: NDArray[np.int32], order: NDArray[np.int32]
) -> Any:
    """Write the present observations sorted by rank; returns their number. Overwrites places."""
    present = _starts(ranks, absent, places)
    for k in range(ranks.shape[0]):
        if ranks[k] != absent:
            order[places[ranks[k]]] = k
            places[ranks[k]] += 1
    return present


@njit
def _gather(
    x: NDArray[Any], absent: int, order: NDArray[np.int32], shift: Any, keys: NDArray[Any]
) -> Any:
    """Write keys (x, place in the order of an untied y), sorted by y; returns their number."""
    n = 0
    for k in range(order.shape[0]):
        rank = np.int64(x[order[k]])
        # The key of a missing value may overflow; it is overwritten or stays past the end.
        keys[n] = truncate_to(keys, (rank << shift) | (k << 1))
        n += rank != absent
    return n


@njit
def _place(x: NDArray[Any], y: NDArray[Any], shift: Any, keys: NDArray[Any]) -> Any:
    """Write keys (y, x), sorted by an untied x without missing values; returns their number."""
    for k in range(x.shape[0]):
        rank = np.int64(x[k])
        keys[rank] = (np.int64(y[k]) << shift) | (rank << 1)
    return x.shape[0]


@njit
def _deal(
    x: NDArray[Any],
    y: NDArray[Any],
    absent: int,
    order: NDArray[np.int32],
    starts: NDArray[np.int32],
    places: NDArray[np.int32],
    shift: Any,
    keys: NDArray[Any],
) -> Any:
    """Write keys (y, x), sorted by x and then by y; returns their number. Overwrites places.

    ``order`` sorts y over its present observations.
    """
    for k in range(starts.shape[0]):
        places[k] = starts[k]
    gaps = x.shape[0] > order.shape[0]
    if gaps:
        for k in range(x.shape[0]):
            keys[k] = -1
    for k in range(order.shape[0]):
        rank = np.int64(x[order[k]])
        if rank != absent:
            keys[places[rank]] = (np.int64(y[order[k]]) << shift) | (rank << 1)
            places[rank] += 1
    if not gaps:
        return places[-1]
    n = 0
    for k in range(x.shape[0]):
        keys[n] = keys[k]
        n += keys[k] >= 0
    return n


@njit
def _tied(keys: NDArray[Any], n: int, mask: Any) -> Any:
    """Count the pairs of keys with equal bits under the mask; keys are sorted by these bits."""
    pairs = run = np.int64(0)
    for k in range(1, n):
        run = run + 1 if (keys[k] ^ keys[k - 1]) & mask == 0 else np.int64(0)
        pairs += run
    return pairs


@njit
def _sorted(
    keys: NDArray[Any], other: NDArray[Any], n: int, lanes: NDArray[Any]
) -> tuple[Any, NDArray[Any]]:
    """Sort n keys; returns the number of exchanges and the sorted keys."""
    padded = (n + BLOCK - 1) // BLOCK * BLOCK
    # Pad with keys that are larger than any key and have the lowest bit clear.
    for k in range(n, padded):
        keys[k] = np.iinfo(keys.dtype).max - 1
    exchanges, swapped = count_exchanges(keys, other, padded, lanes)
    return exchanges, other if swapped else keys


@njit
def _block(
    a: NDArray[Any],
    b: NDArray[Any],
    absent: int,
    first: int,
    upper: bool,
    tied_a: NDArray[np.int64],
    tied_b: NDArray[np.int64],
    lanes: NDArray[Any],
    keys: NDArray[Any],
    other: NDArray[Any],
    out: NDArray[np.int64],
) -> None:
    """Write the scores of a block ``a`` (rows, n), which starts at row ``first``, with ``b``.

    tied_a, tied_b: tied pairs of each variable over its present observations.
    """
    rows, n = a.shape
    shift = np.int64(keys.itemsize * 4)
    low, whole = (np.int64(1) << shift) - 1, np.int64(-1)
    starts, present = np.empty((rows, n + 1), np.int32), np.empty(rows, np.int64)
    for i in range(rows):
        present[i] = _starts(a[i], absent, starts[i])
    places, order = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    for j in range(first if upper else 0, b.shape[0]):
        y = b[j]
        of_y = _order(y, absent, places, order)
        for i in range(min(rows, j - first + 1) if upper else rows):
            x, complete = a[i], of_y == n and present[i] == n
            x_ties, y_ties, both = tied_a[i], tied_b[j], np.int64(0)
            if y_ties == 0:
                count = _gather(x, absent, order[:of_y], shift, keys)
            elif x_ties == 0 and complete:
                count = _place(x, y, shift, keys)
            else:
                count = _deal(x, y, absent, order[:of_y], starts[i], places, shift, keys)
                if x_ties and not complete:
                    x_ties = _tied(keys, count, low)
            exchanges, ordered = _sorted(keys, other, count, lanes)
            if y_ties and x_ties:
                both = _tied(ordered, count, whole)
            if y_ties and not complete:
                y_ties = _tied(ordered, count, ~low)
            elif x_ties and not complete:
                x_ties = _tied(ordered, count, ~low)
            pairs = np.int64(count) * (count - 1) // 2
            out[i, j] = pairs - x_ties - y_ties + both - 2 * exchanges


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Write the scores of the rows of ``a`` with those of ``b`` to ``out``.

    a: (rows, n), b: (columns, n); writes out (rows, columns), with ``upper`` only where row <=
    column.
    """
    n, absent = a.shape[1], missing(a)
    dtype = np.int32 if n <= NARROW else np.int64
    size = -(-max(n, 1) // BLOCK) * BLOCK
    keys, other = np.empty(size, dtype), np.empty(size, dtype)
    tied_a = ties(a).pairs
    tied_b = tied_a if a is b else ties(b).pairs
    if dtype is np.int64:
        # 64-bit keys always take 32-bit ranks, so numba compiles one version.
        a, b = a.astype(np.uint32, copy=False), b.astype(np.uint32, copy=False)
    lanes = constants(dtype)
    for first in range(0, a.shape[0], ROWS):
        part = slice(first, first + ROWS)
        _block(
            a[part], b, absent, first, upper, tied_a[part], tied_b, lanes, keys, other, out[part]
        )
