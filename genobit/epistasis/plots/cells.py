"""What the genotype cells of a combination of variants hold: a class, or a trait."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cells:
    """Samples `n` of each cell, and their share of a class or mean of a trait: `value`.

    `count` are samples of the class, None for a trait; `value` is NaN where there is no sample.
    All have the same shape, a dimension a member.
    """

    n: np.ndarray
    value: np.ndarray
    count: np.ndarray | None = None

    @classmethod
    def of_class(cls, count: np.ndarray, n: np.ndarray) -> Cells:
        """Take the share of a class.

        Parameters
        ----------
        count
            Samples of the class in each cell.
        n
            All samples of each cell.

        Examples
        --------
        >>> Cells.of_class(np.array([1, 0]), np.array([4, 0])).value.tolist()
        [0.25, nan]
        """
        return cls(n, np.divide(count, n, out=np.full(n.shape, np.nan), where=n > 0), count)

    @property
    def overall(self) -> float:
        """The share or mean of all samples of the cells."""
        return float(np.nansum(self.value * self.n) / max(self.n.sum(), 1))

    @property
    def limits(self) -> tuple[float, float]:
        """Between which values can be."""
        return (0.0, 1.0) if self.count is not None else (-np.inf, np.inf)

    def by(self, member: int) -> Cells:
        """Add up the cells by the genotype of one member.

        Parameters
        ----------
        member
            Its place.
        """
        others = tuple(k for k in range(self.n.ndim) if k != member)
        n = self.n.sum(axis=others)
        if self.count is not None:
            return Cells.of_class(self.count.sum(axis=others), n)
        total = np.nansum(self.value * self.n, axis=others)
        return Cells(n, np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))

    def texts(self) -> np.ndarray:
        """Write each cell in two lines: its value, and its samples.

        Returns
        -------
            Texts, flat; "" where there is no sample.
        """
        counts = self.n.ravel() if self.count is None else self.count.ravel()
        texts = []
        for value, count, n in zip(self.value.ravel(), counts, self.n.ravel(), strict=True):
            if self.count is None:
                text = f"{value:.3g}\nn = {n:,}"
            else:
                text = f"{value:.2f}\n{count:,} / {n:,}"
            texts.append(text if n else "")
        return np.array(texts, dtype=object)
