"""Kendall scores by merge sort in vector registers: Knight's algorithm on packed pairs of ranks.

What Liu, Pan, Green, Aluru 2017 call VSE, the vectorised sort-enabled algorithm: both ranks of an
observation in one integer of 32 bits, eight or so of them in a register. Past 32,767 observations,
where the paper stops, integers have 64 bits.
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
    knight.scores(a, b, upper, True, out)
