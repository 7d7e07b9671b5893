"""Plots in the size and on the background of the options."""

from __future__ import annotations

import holoviews as hv
import pytest
import xarray as xr

import genobit as gb
from genobit.launcher.plots import ld_heatmap
from genobit.ld.plots.heatmap import ld_heatmap as plain_heatmap
from genobit.visual.tokens import DARK

R2 = xr.DataArray(
    [[1.0, 0.2], [0.2, 1.0]],
    dims=("variants_0", "variants_1"),
    coords={
        "variant_position_0": ("variants_0", [100, 900]),
        "variant_position_1": ("variants_1", [100, 900]),
    },
    name="r2",
)


def test_plot_scale__is_a_factor_on_both_sides() -> None:
    usual = hv.render(ld_heatmap(R2))
    with gb.set_options(plot_scale=1.5):
        large, explorers = hv.render(ld_heatmap(R2)), hv.render(plain_heatmap(R2))
    assert (large.frame_width, large.frame_height) == (960, 960)
    assert usual.frame_width == explorers.frame_width == 640


def test_plot_theme__changes_letters_and_keeps_margins() -> None:
    with gb.set_options(plot_theme="dark"):
        figure = hv.render(ld_heatmap(R2))
    assert figure.title.text_color == figure.xaxis[0].axis_label_text_color == DARK.ink
    assert figure.border_fill_color == DARK.paper
    assert figure.min_border_left == hv.render(ld_heatmap(R2)).min_border_left == 90


def test_unknown_argument__names_the_closest() -> None:
    message = r"^plots\.pca_scatter\(\) has no argument 'color_by'; did you mean 'colour_by'\? "
    with pytest.raises(TypeError, match=message):
        gb.plots.pca_scatter(R2, color_by="population")
