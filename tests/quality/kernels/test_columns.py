"""Counts and sums of columns of planes against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from genobit.engine.bits.layout import pack_bits
from genobit.quality.kernels.columns import add_missing, count_columns


@pytest.mark.parametrize("samples", [1, 63, 64, 65, 130])
@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 1015, 1016, 1017, 2100])
@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
def test_columns(samples: int, rows: int, share: float) -> None:
    rng = np.random.default_rng(rows)
    bits = rng.random((rows + 5, samples)) < share
    plane = pack_bits(bits)
    some = np.sort(rng.permutation(rows + 5)[:rows])
    counts = np.full(64 * plane.shape[1], 3, np.int32)
    count_columns(plane, some, counts)
    assert counts[:samples].tolist() == (3 + bits[some].sum(axis=0)).tolist()
    assert (counts[samples:] == 3).all()
    weights = rng.integers(-(2**36), 2**36, rows + 5)
    total = np.full(samples, 7, np.int64)
    add_missing(plane, some, weights, total)
    assert total.tolist() == (7 + weights[some] @ ~bits[some]).tolist()
