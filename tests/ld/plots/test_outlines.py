"""Outlines of blocks on LD pictures."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from genobit.launcher.plots import ld_heatmap, ld_triangle
from tests.ld.plots.results import ld_result, symmetric


@pytest.fixture
def blocks() -> xr.Dataset:
    return xr.Dataset(
        {
            "first_position": ("blocks", [200, 400, 300]),
            "last_position": ("blocks", [300, 900, 400]),
            "contig": ("blocks", np.array(["2", "2", "3"], object)),
        }
    )


def outlined(plot: hv.Overlay) -> list[tuple[float, ...]]:
    return [tuple(row) for row in plot.Blocks.I.array()]


def test_blocks_are_outlined_on_the_triangle(blocks):
    result = ld_result(symmetric(6), np.arange(1, 7) * 100)
    result = result.assign_coords(
        {f"variant_contig_{k}": (f"variants_{k}", ["2"] * 6) for k in (0, 1)}
    )
    lines = outlined(ld_triangle(result, blocks=blocks))
    # Variants 1 to 2, and 3 to the end of the window: the second block goes on beyond it.
    assert lines[:3] == [(0.5, 0, 2.5, 0), (0.5, 0, 1.5, -2), (2.5, 0, 1.5, -2)]
    assert lines[3] == (2.5, 0, 5.5, 0)
    assert len(lines) == 6


def test_blocks_are_outlined_on_the_square(blocks):
    result = ld_result(symmetric(6), np.arange(1, 7) * 100)
    lines = outlined(ld_heatmap(result, blocks=blocks.isel(blocks=[0])))
    assert lines == [
        (0.5, 0.5, 2.5, 0.5),
        (2.5, 0.5, 2.5, 2.5),
        (2.5, 2.5, 0.5, 2.5),
        (0.5, 2.5, 0.5, 0.5),
    ]


def test_other_datasets_are_no_blocks():
    with pytest.raises(ValueError, match="ld_blocks"):
        ld_triangle(ld_result(symmetric(4)), blocks=xr.Dataset())
