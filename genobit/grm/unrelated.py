"""Set of unrelated samples: an independent set of the graph of relatives.

Finding the largest set is NP-hard. Two greedy rules are tried and the larger set is kept; rule 1
wins ties:

1. Remove samples until no related pair is left. If a sample has a single relative, remove this
   relative. Otherwise remove the sample with the most relatives (``plink2 --king-cutoff``,
   ``plink --rel-cutoff``). Then add back, in order, each sample without a relative in the set.
2. Keep the sample with the fewest relatives, remove its relatives, and repeat (Halldórsson and
   Radhakrishnan 1997).

The order of the samples decides ties. Rule 1 removes the first of the samples with the most
relatives, or the relative of the first sample that has a single one. Rule 2 keeps the first sample.
The set is therefore always the same. Both sets are maximal: each removed sample has a relative in
the set.

Among 1,814 heterogeneous-stock mice at 0.0884 (73,075 pairs) the rules keep 135 and 143 samples,
and plink2 keeps 134. For the HapMap trios all three keep 207 of 279.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Relatives = list[list[int]]
"""Relatives of each sample."""


def _relatives(pairs: NDArray[np.int64], n: int) -> Relatives:
    ends = np.concatenate([pairs, pairs[::-1]], axis=1)
    ends = ends[:, np.lexsort((ends[1], ends[0]))]
    starts = np.searchsorted(ends[0], np.arange(n + 1))
    others = ends[1].tolist()
    return [others[a:b] for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]


class _Degrees:
    """Number of relatives that each sample has left, with a heap ordered by that number."""

    def __init__(self, relatives: Relatives, sign: int) -> None:
        self.relatives, self.sign = relatives, sign
        self.left = [len(others) for others in relatives]
        self.present = [True] * len(relatives)
        self.heap = [(sign * count, k) for k, count in enumerate(self.left)]
        heapq.heapify(self.heap)

    def pop(self) -> int | None:
        """Return the present sample with fewest (sign 1) or most (-1) relatives, or None.

        Ties go to the earliest sample.
        """
        while self.heap:
            count, k = heapq.heappop(self.heap)
            # Skip heap entries with an outdated count.
            if self.present[k] and count == self.sign * self.left[k]:
                return k
        return None

    def remove(self, k: int) -> list[int]:
        """Remove a sample and return its relatives that are still present."""
        self.present[k] = False
        others = [other for other in self.relatives[k] if self.present[other]]
        for other in others:
            self.left[other] -= 1
            heapq.heappush(self.heap, (self.sign * self.left[other], other))
        return others


def _remove_most_related(relatives: Relatives) -> list[bool]:
    """Apply rule 1; return for each sample whether it is kept."""
    degrees = _Degrees(relatives, -1)
    single = [k for k, count in enumerate(degrees.left) if count == 1]
    while True:
        if single:
            k = heapq.heappop(single)
            if not degrees.present[k] or degrees.left[k] != 1:
                continue
            k = next(other for other in relatives[k] if degrees.present[other])
        else:
            most = degrees.pop()
            if most is None or not degrees.left[most]:
                break
            k = most
        for other in degrees.remove(k):
            if degrees.left[other] == 1:
                heapq.heappush(single, other)
    kept = degrees.present
    for k, others in enumerate(relatives):
        kept[k] = kept[k] or not any(kept[other] for other in others)
    return kept


def _keep_least_related(relatives: Relatives) -> list[bool]:
    """Apply rule 2; return for each sample whether it is kept."""
    degrees = _Degrees(relatives, 1)
    kept = [False] * len(relatives)
    while (k := degrees.pop()) is not None:
        kept[k] = True
        for other in degrees.remove(k):
            degrees.remove(other)
    return kept


def unrelated(pairs: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Return a maximal set of samples without a related pair, by the better of two greedy rules.

    pairs: (2, pairs), each related pair once; returns bool (samples,), whether each sample is kept.

    Examples
    --------
    >>> unrelated(np.array([[0, 0, 1], [1, 2, 2]]), 4).tolist()
    [False, True, False, True]
    >>> unrelated(np.array([[0, 0], [1, 2]]), 3).tolist()
    [False, True, True]
    """
    relatives = _relatives(pairs, n)
    first, second = _remove_most_related(relatives), _keep_least_related(relatives)
    return np.array(first if sum(first) >= sum(second) else second, bool)
