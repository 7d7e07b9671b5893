"""False discovery rates of p-values that arrive in parts and are never held together.

Benjamini and Hochberg (1995): of m p-values the k-th smallest has the q-value

    q_(k) = min over j >= k of p_(j) m / j

and those with q <= fdr are the p-values up to a cutoff. While d of the tests are known and l pairs
are to come, of which c have p at most b, the cutoff cannot lie above fdr (c + l) / (d + l) if it
does not lie above b. So only p-values under a bound that falls from fdr on are kept, equal ones as
one with its count: of n untied observations there are at most n (n - 1) / 4 + 1 different ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SLACK = 1 + 1e-9
"""What rounding could take from the bound, and more."""
ROUNDS = 30


class FalseDiscovery:
    """Which of many tests stand at a false discovery rate.

    Parameters
    ----------
    fdr
        The rate, in (0, 1].
    pairs
        Most tests there can be: all pairs.

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
        """No p-value above it can stand."""
        self.tests = 0
        """Tests known."""
        self._left = pairs
        self._values = np.empty(0)
        self._counts = np.empty(0, np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return self._values.nbytes + self._counts.nbytes

    def add(
        self, values: NDArray[np.float64], counts: NDArray[np.int64], tests: int, pairs: int
    ) -> None:
        """Take the tests of some pairs.

        Parameters
        ----------
        values, counts
            The p-values that are at most ``bound``, and how often each occurred. Others are passed
            over; values may repeat.
        tests
            How many of the pairs were tests, whatever their p-value.
        pairs
            How many pairs these are, with those that have no p-value.
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
        """q-values of p-values that are among those added.

        Returns
        -------
            Those of ``scipy.stats.false_discovery_control`` on all tests, to the last bit, where
            they are at most ``fdr``; elsewhere something greater.
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
    """Different values, rising, with the sums of their counts.

    Examples
    --------
    >>> [x.tolist() for x in merged(np.array([0.2, 0.1, 0.2]), np.array([1, 5, 3]))]
    [[0.1, 0.2], [5, 4]]
    """
    order = np.argsort(values, kind="stable")
    values, counts = values[order], counts[order]
    first = np.flatnonzero(np.diff(values, prepend=np.nan) != 0)
    return values[first], np.add.reduceat(counts, first) if first.size else counts[:0]
