"""Values with ties and missing values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mixed(
    seed: int, rows: int, n: int, tied: float, missing: float, dtype: str
) -> NDArray[np.number]:
    """Rows of which a share has ties, and a share of the floats misses a value."""
    rng = np.random.default_rng(seed)
    values = rng.permuted(np.tile(np.arange(n, dtype=dtype), (rows, 1)), axis=1)
    with_ties = rng.random(rows) < tied
    values[with_ties] //= values.dtype.type(rng.integers(2, 12))
    if values.dtype.kind == "f" and n:
        values[rng.random(rows) < missing, rng.integers(0, n)] = np.nan
    return values
