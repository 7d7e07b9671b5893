from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from genobit.engine.bits.transpose import mirror


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.float64])
@pytest.mark.parametrize("n", [1, 7, 8, 65, 300])
@pytest.mark.parametrize("block", [(256, 512), (37, 50), (64, 64)])
def test_mirror__fills_both_halves(dtype: Any, n: int, block: tuple[int, int]) -> None:
    every = np.random.default_rng(0).normal(scale=1000, size=(n, n)).astype(dtype)
    wanted = np.triu(every) + np.triu(every, 1).T
    out = np.full((n, n), -1, dtype)
    height, width = block
    for left in range(0, n, width):
        for top in range(0, min(n, left + width), height):
            # Numbers below the diagonal are arbitrary.
            mirror(every[top : top + height, left : left + width], top, left, out)
    np.testing.assert_array_equal(out, wanted)


def test_mirror__takes_the_square_itself() -> None:
    every = np.random.default_rng(0).integers(0, 100, (77, 77))
    wanted = np.triu(every) + np.triu(every, 1).T
    mirror(every, 0, 0, every)
    np.testing.assert_array_equal(every, wanted)
