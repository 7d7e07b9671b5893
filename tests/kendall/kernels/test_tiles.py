"""Tiles on the diagonal, which count one triangle, against tiles of a chunk with its copy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genobit.kendall.kernels import tiles
from genobit.kendall.kernels.ranks import ranked
from genobit.kendall.kernels.tau import STATISTICS
from genobit.kendall.kernels.tiles import TileSpec, tile
from tests.helpers.sized import sized
from tests.kendall.kernels.values import mixed

EVERYTHING = (*STATISTICS, "pvalue", "n")


@settings(max_examples=sized(60, 10))
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 20),
    n=st.integers(0, 40),
    tied=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    missing=st.sampled_from([0.0, 0.3, 1.0]),
    dtype=st.sampled_from(["float64", "float32"]),
    outputs=st.sampled_from([EVERYTHING, ("tau_b", "n"), ("somers_d_rows", "pvalue", "n")]),
    edge=st.sampled_from([1, 3, 7, 256]),
)
def test_tile_on_the_diagonal__has_the_bits_of_two_chunks(
    seed: int,
    rows: int,
    n: int,
    tied: float,
    missing: float,
    dtype: str,
    outputs: tuple[str, ...],
    edge: int,
) -> None:
    ranks = ranked(mixed(seed, rows, n, tied, missing, "float64"))
    wanted = TileSpec(outputs, kernel="signs", dtype=dtype)
    expected = tile((ranks,), (ranks.copy(),), wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "EDGE", edge)
        found = tile((ranks,), None, wanted)
        across = tile((ranks,), (ranks.copy(),), wanted)
    for whole, one, other in zip(expected, found, across, strict=True):
        np.testing.assert_array_equal(one, whole)
        np.testing.assert_array_equal(other, whole)


@pytest.mark.parametrize("strip", [1, 4, 512])
@pytest.mark.parametrize("kernel", ["signs", "packed-merge"])
def test_permutations_on_the_diagonal__permute_the_later_variable(kernel: str, strip: int) -> None:
    ranks = ranked(mixed(0, 11, 20, 0.4, 0.0, "float64"))
    wanted = TileSpec(("tau_b", "pvalue"), "permutation", kernel, "float64", 30, 7)
    _, expected = tile((ranks,), (ranks.copy(),), wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "STRIP", strip)
        _, found = tile((ranks,), None, wanted)
    np.testing.assert_array_equal(np.triu(found), np.triu(expected))
    np.testing.assert_array_equal(found, found.T)
