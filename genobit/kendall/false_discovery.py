"""False discovery rates of p-values that arrive in parts and are never held all at once.

Benjamini and Hochberg (1995) define the q-value of the k-th smallest of m p-values:

    q_(k) = min over j >= k of p_(j) m / j

The p-values with q <= fdr are the p-values up to a cutoff. Suppose that d tests are known, c of
them with p <= b, and that l pairs are still to come. If the cutoff is at most b, it is at most fdr
(c + l) / (d + l). `FalseDiscovery` keeps only p-values up to this bound, which starts at fdr and
falls. Equal p-values are stored once with their count. With n untied observations there are at most
n (n - 1) / 4 + 1 distinct p-values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SLACK = 1 + 1e-9
"""Factor on the bound, larger than any rounding error."""
ROUNDS = 30


class FalseDiscovery:
    """Decide which of many tests pass a false discovery rate ``fdr`` in (0, 1].

    ``pairs`` is the largest possible number of tests, that is the number of all pairs.

    Examples
    --------
    >>> tests = FalseDiscovery(0.05, pairs=4)
    >>> tests.add(*np.unique([0.001, 0.04], return_counts=True), tests=2, pairs=2)
    >>> tests.add(*np.unique([0.02], return_counts=True), tests=2, pairs=2)
    >>> tests.qvalues(np.array([0.001, 0.02])).round(9).tolist()
    [0.004, 0.04]
    """

    def __init__(self, fdr: float, pairs: int) -> None:
        self.fdr = fdr
        self.bound = min(1.0, fdr * SLACK)
        """No p-value above this bound can pass."""
        self.tests = 0
        """Number of tests added so far."""
        self._left = pairs
        self._values = np.empty(0)
        self._counts = np.empty(0, np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes of the stored p-values and counts."""
        return self._values.nbytes + self._counts.nbytes

    def add(
        self, values: NDArray[np.float64], counts: NDArray[np.int64], tests: int, pairs: int
    ) -> None:
        """Add the tests of some pairs and lower the bound.

        ``values`` are p-values, which may repeat, and ``counts`` says how often each occurred.
        Values above ``bound`` may be left out. ``tests`` counts all tests of the part, with any
        p-value. ``pairs`` also counts the pairs without a p-value.
        """
        self.tests += tests
        self._left -= pairs
        self._values, self._counts = merged(
            np.concatenate([self._values, values]), np.concatenate([self._counts, counts])
        )
        for _ in range(ROUNDS):
            known = int(self._counts[: self._below(self.bound)].sum())
            most = self.fdr * SLACK * (known + self._left) / max(1, self.tests + self._left)
            if most >= self.bound:
                break
            self.bound = most
        keep = self._below(self.bound)
        self._values, self._counts = self._values[:keep].copy(), self._counts[:keep].copy()

    def _below(self, bound: float) -> int:
        return int(np.searchsorted(self._values, bound, side="right"))

    def qvalues(self, pvalues: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return q-values of p-values that were added.

        Up to ``fdr`` they equal ``scipy.stats.false_discovery_control`` on all tests, to the last
        bit. Larger q-values are replaced by some value above ``fdr``.
        """
        ranks = np.cumsum(self._counts)
        q = self._values * (self.tests / ranks)
        q = np.minimum(np.minimum.accumulate(q[::-1])[::-1], 1.0)
        place = np.searchsorted(self._values, pvalues)
        out = np.full(pvalues.shape, np.inf)
        kept = place < len(q)
        out[kept] = q[place[kept]]
        return out


def merged(values: Any, counts: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct values in ascending order and the sums of their counts.

    Examples
    --------
    >>> [x.tolist() for x in merged(np.array([0.2, 0.1, 0.2]), np.array([1, 5, 3]))]
    [[0.1, 0.2], [5, 4]]
    """
    order = np.argsort(values, kind="stable")
    values, counts = values[order], counts[order]
    first = np.flatnonzero(np.diff(values, prepend=np.nan) != 0)
    return values[first], np.add.reduceat(counts, first) if first.size else counts[:0]
