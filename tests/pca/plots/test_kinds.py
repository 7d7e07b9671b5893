"""Plots of principal components by kind."""

from __future__ import annotations

import numpy as np
import pytest

import genobit  # noqa: F401  the accessor
from tests.helpers.cohorts import cohort, mosaic_calls


@pytest.mark.parametrize("packed", [True, False])
def test_variants_without_a_loading_are_counted_and_not_drawn(packed: bool) -> None:
    calls = mosaic_calls(1, 90, 40)
    calls[7] = 0  # monomorphic
    ds = cohort(calls).drop_vars("contig_id", errors="ignore")
    contig = np.repeat(np.array(["1", "X"], object), [60, 30])
    ds = ds.assign(variant_contig=("variants", contig))
    pcs = (ds.genobit.pack() if packed else ds).genobit.pca(2)
    assert pcs.attrs["variants_left_out"] == 30
    picture = pcs.genobit.plot("loadings", component=2).picture
    used = np.flatnonzero(np.ptp(calls[:60].reshape(60, -1), axis=1))
    assert 7 not in used
    np.testing.assert_array_equal(picture.panel.marks[0].y, pcs["loadings"].values[used, 1])
    assert (
        picture.title
        == f"Loadings of {len(used)} variants on PC2, {90 - len(used)} without a value"
    )
