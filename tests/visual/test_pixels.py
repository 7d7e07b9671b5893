"""Pixels that stand for several pairs, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from genobit.visual.pixels import aggregated, labels, lay_out
from tests.ld.plots.results import symmetric


@pytest.mark.parametrize("limit", [3, 5, 9])
@pytest.mark.parametrize("axis", ["rank", "position"])
def test_means_and_samples_are_those_of_numpy(limit, axis):
    matrix = symmetric(9)
    matrix[2, :] = matrix[:, 2] = np.nan
    bins = lay_out(np.array([1, 2, 3, 10, 11, 30, 50, 51, 90]), axis, limit)
    mean = aggregated(matrix, bins, bins, "mean")
    sample = aggregated(matrix, bins, bins, "sample")
    for i in range(bins.n):
        for j in range(bins.n):
            block = matrix[bins.first[i] : bins.last[i], bins.first[j] : bins.last[j]]
            expected = np.nan if np.isnan(block).all() else np.nanmean(block)
            np.testing.assert_allclose(mean[i, j], expected, rtol=1e-6)
            np.testing.assert_array_equal(sample[i, j], block[0, 0])


@pytest.mark.parametrize("kind", ["U", "S", object])
def test_labels_are_text(kind):
    names = np.array(["rs1", "rs2"], kind)
    matrix = xr.DataArray(np.eye(2), {"variant_id_0": ("variants_0", names)}, ("variants_0", "y"))
    assert labels(matrix, "variant_id", 0, lay_out(np.arange(2), "rank", 2)) == ["rs1", "rs2"]
