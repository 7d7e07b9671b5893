"""Kendall scores by merge sort: Knight's algorithm, O(n log n), one key at a time.

What Liu, Pan, Green, Aluru 2017 call GSE, the generic sort-enabled algorithm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.kendall.kernels import knight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def score_pairs(a: NDArray[Any], b: NDArray[Any], upper: bool, out: NDArray[np.int64]) -> None:
    """Scores of the rows of ``a`` (rows, n) with those of ``b`` (columns, n) -> out.

    With ``upper``, of column j with rows i <= j alone.
    """
    knight.scores(a, b, upper, False, out)
