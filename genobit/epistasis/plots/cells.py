"""Values of the genotype cells of a combination: the share of a class, or the mean of a trait."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cells:
    """Samples `n` of each genotype cell, and their `value`: share of a class or mean of a trait.

    `count` holds the samples of the class, None for a trait. `value` is NaN in empty cells. All
    arrays have one dimension for each member.
    """

    n: np.ndarray
    value: np.ndarray
    count: np.ndarray | None = None

    @classmethod
    def of_class(cls, count: np.ndarray, n: np.ndarray) -> Cells:
        """Return the share of a class, from its samples and all samples of each cell.

        Examples
        --------
        >>> Cells.of_class(np.array([1, 0]), np.array([4, 0])).value.tolist()
        [0.25, nan]
        """
        return cls(n, np.divide(count, n, out=np.full(n.shape, np.nan), where=n > 0), count)

    @property
    def overall(self) -> float:
        """The share or mean over all samples."""
        return float(np.nansum(self.value * self.n) / max(self.n.sum(), 1))

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return (0.0, 1.0) if self.count is not None else (-np.inf, np.inf)

    def by(self, member: int) -> Cells:
        """Return the cells summed over all members except ``member``."""
        others = tuple(k for k in range(self.n.ndim) if k != member)
        n = self.n.sum(axis=others)
        if self.count is not None:
            return Cells.of_class(self.count.sum(axis=others), n)
        total = np.nansum(self.value * self.n, axis=others)
        return Cells(n, np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))

    def texts(self) -> np.ndarray:
        """Return the text of each cell, flat: value and samples in two lines, "" if it is empty."""
        counts = self.n.ravel() if self.count is None else self.count.ravel()
        texts = []
        for value, count, n in zip(self.value.ravel(), counts, self.n.ravel(), strict=True):
            if self.count is None:
                text = f"{value:.3g}\nn = {n:,}"
            else:
                text = f"{value:.2f}\n{count:,} / {n:,}"
            texts.append(text if n else "")
        return np.array(texts, dtype=object)
