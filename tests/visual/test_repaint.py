"""Frames of a drawn figure, of which only the columns are sent."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from genobit.ld.explorer.views import PaintedDrawing
from genobit.ld.plots.drawing import PictureOptions, square, triangle
from genobit.ld.plots.heatmap import overlay

hv.extension("bokeh")


def ld_result(generator: np.random.Generator, n: int, start: int) -> xr.DataArray:
    values = generator.random((n, n)).astype("f4")
    values = np.maximum(values, values.T)
    position = start + 10 * np.arange(n)
    coords = {f"variant_position_{k}": (f"variants_{k}", position) for k in (0, 1)}
    return xr.DataArray(values, dims=("variants_0", "variants_1"), coords=coords, name="r2")


def sources(plot) -> list[dict]:
    return [subplot.handles["source"].data for subplot in plot.subplots.values()]


@pytest.mark.parametrize("shape", ["square", "down"])
def test_a_painted_frame_is_what_holoviews_draws(shape):
    generator = np.random.default_rng(5)

    def draw(n: int, start: int, **look):
        result, how = ld_result(generator, n, start), PictureOptions(**look)
        return square(result, how) if shape == "square" else triangle(result, how, "down")

    first = draw(6, 0)
    later = draw(9, 500, lead=2, selected=[1, 4], threshold=0.5, first_rank=50, note="thin")
    frame = PaintedDrawing()
    assert not frame.paint(later)
    renderer = hv.renderer("bokeh")
    painted = renderer.get_plot(overlay(first, 300).opts(hooks=[frame.hook]))
    assert frame.paint(later)
    expected = renderer.get_plot(overlay(later, 300))
    for ours, theirs in zip(sources(painted), sources(expected), strict=True):
        assert ours.keys() == theirs.keys()
        for name, values in theirs.items():
            np.testing.assert_array_equal(np.asarray(ours[name]), np.asarray(values))
    image, other = (next(iter(plot.subplots.values())) for plot in (painted, expected))
    assert (
        image.handles["glyph"].color_mapper.palette == other.handles["glyph"].color_mapper.palette
    )
    for name, hover in image.handles["genobit_sources"].items():
        assert hover.data == other.handles["genobit_sources"][name].data
    assert painted.state.title.text == expected.state.title.text
    assert painted.state.xaxis[0].axis_label == expected.state.xaxis[0].axis_label
