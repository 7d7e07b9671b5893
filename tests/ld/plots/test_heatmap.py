from __future__ import annotations

from unittest.mock import Mock

import dask.array as da
import holoviews as hv
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bokeh.models import ColorBar

from genobit.launcher.plots import (
    ld_heatmap,
    ld_track,
    ld_triangle,
)
from genobit.ld.plots import result
from genobit.ld.plots.band import ld_band
from genobit.ld.plots.shades import (
    BELOW,
    NO_VALUE,
    OUTSIDE,
    SHADES,
    codes,
    colours_of_shades,
    shades,
)
from genobit.quality.plots.spectrum import allele_frequency_spectrum
from genobit.visual.pixels import (
    AGGREGATES,
    diamonds,
    lay_out,
    pair_at,
    pair_of_pixel,
    raster_width,
    strongest,
)
from genobit.visual.style import NO_VALUE_COLOUR, WHITE, palette, scale_of
from tests.ld.plots.results import ld_result, symmetric


@pytest.mark.parametrize("name", ["dprime", "dprime_em"])
class TestSignOfDPrime:
    """The coding of alleles decides the sign, so colours and keys show |D′| alone."""

    def one(self, name: str, sign: int) -> xr.DataArray:
        return ld_result(np.array([[1.0, sign * 0.7], [sign * 0.7, 1.0]]), name=name)

    def test_colours_are_those_of_the_size(self, name):
        scale = scale_of(name)
        colours = palette(scale)
        assert colours == colours[::-1]
        # From 0 to 1 as r².
        np.testing.assert_array_equal(colours[-1], palette(scale_of("r2"))[-1])
        assert scale.key.limits == (0.0, 1.0)
        assert scale.key.label.endswith("|D′|")

    @pytest.mark.parametrize("draw", [ld_heatmap, ld_triangle])
    def test_key_and_title_on_screen(self, name, draw):
        picture = draw(self.one(name, -1))
        (bar,) = hv.render(picture, backend="bokeh").select({"type": ColorBar})
        assert bar.display_low == 0.0
        assert "|D′|" in bar.title
        assert "|D′| of 2 variants" in picture.opts.get().kwargs["title"]

    def test_the_hover_has_the_sign(self, name):
        assert ld_heatmap(self.one(name, -1)).Image.I[name].min() == np.float32(-0.7)

    def test_key_on_paper(self, name):
        from matplotlib.figure import Figure

        from genobit.ld.plots.paper_map import colour_bar

        bar = colour_bar(Figure().add_subplot(), scale_of(name), name, 0.0, (0, 0, 40, 2))
        assert bar.get_xlim() == (0.0, 1.0)
        assert bar.texts[0].get_text().endswith("$|D\\prime|$")

    @pytest.mark.parametrize("aggregate", AGGREGATES)
    def test_signs_do_not_cancel_in_a_pixel(self, name, aggregate):
        values = np.where(np.indices((8, 8)).sum(0) % 2, -1.0, 1.0)
        # Off the diagonal, each pixel has as many of both signs.
        shown = ld_heatmap(ld_result(values, name=name), max_pixels=2, aggregate=aggregate)
        assert (abs(shown.Image.I[name]) == 1).all()

    def test_a_difference_keeps_its_sign(self, name):
        scale = result.computed(self.one(name, 1) - self.one(name, -1))[1]
        assert scale.key is scale
        assert scale.limits[0] < 0


def pixels(overlay: hv.Overlay) -> np.ndarray:
    """Rows from the top, as they are drawn."""
    return overlay.Image.I.dimension_values(2, flat=False)[::-1]


def title(plot: hv.Overlay) -> str:
    return plot.opts.get().kwargs["title"]


class TestPixels:
    def test_every_variant_belongs_to_one_bin(self):
        position = np.sort(np.random.default_rng(1).choice(10**6, 700, replace=False))
        for axis, limit in (("rank", 100), ("rank", 700), ("position", 5_000)):
            bins = lay_out(position, axis, limit)
            assert bins.n <= limit
            filled = bins.last - bins.first
            assert filled.min() >= 1
            covered = np.concatenate(
                [np.arange(a, b) for a, b in zip(bins.first, bins.last, strict=True)]
            )
            assert set(covered) == set(range(700))

    @pytest.mark.parametrize("limit", [1, 3, 7, 40])
    def test_strongest_is_the_value_farthest_from_zero(self, limit):
        values = np.random.default_rng(2).normal(size=(40, 40))
        values[3] = values[:, 3] = np.nan
        bins = lay_out(np.arange(40), "rank", limit)
        drawn = strongest(values, bins, bins)
        for i in range(bins.n):
            for j in range(bins.n):
                block = values[bins.first[i] : bins.last[i], bins.first[j] : bins.last[j]].ravel()
                block = block[~np.isnan(block)]
                if len(block):
                    assert drawn[i, j] == block[np.argmax(np.abs(block))]
                else:
                    assert np.isnan(drawn[i, j])

    def test_gaps_of_a_position_axis_repeat_the_nearest_variant(self):
        bins = lay_out(np.array([1, 2, 1000]), "position", limit=10)
        values = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]])
        drawn = strongest(values, bins, bins)
        assert bins.empty == 8
        np.testing.assert_array_equal(drawn[0], [1.0] * 5 + [0.2] * 5)

    @pytest.mark.parametrize(("n", "width"), [(5, 20), (5, 22), (7, 14), (1, 40), (30, 100)])
    def test_a_pixel_shows_the_diamond_that_has_its_middle(self, n, width):
        square = np.arange(1, n * n + 1).reshape(n, n)
        drawn = diamonds(square, width, outside=0)
        assert drawn.shape == (width // 2, width)
        scale = n / width
        for row in range(width // 2):
            for column in range(width):
                x, depth = (column + 0.5) * scale, (row + 0.5) * scale
                # A diamond has its middle where two variants meet at 45 degrees.
                i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
                middle, half = (i + j + 1) / 2, (j - i) / 2
                inside = np.abs(x - middle) + np.abs(depth - half) <= 0.5 + 1e-9
                shown = square[inside & (j >= i)]
                if shown.size:
                    assert drawn[row, column] in shown
                else:
                    assert drawn[row, column] == 0

    @pytest.mark.parametrize(("n", "width"), [(2, 8), (9, 90), (10, 47 * 2), (300, 1100)])
    def test_the_picture_of_a_symmetric_matrix_is_its_own_mirror_image(self, n, width):
        distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) + 1
        drawn = diamonds(distance, width, outside=0)
        np.testing.assert_array_equal(drawn, drawn[:, ::-1])

    def test_every_pair_has_a_pixel_at_every_zoom(self):
        for n in (1, 2, 7, 192, 400, 549, 550, 700):
            width = raster_width(n, 1100)
            assert width % 2 == 0
            assert width >= 2 * n
            if n <= 200:
                assert width - n * (width // n) <= 1
                assert abs(width - 1100) <= n
            drawn = diamonds(np.arange(n * n).reshape(n, n), width, outside=-1)
            i, j = np.triu_indices(n)
            assert np.isin(i * n + j, drawn).all()

    def test_the_pair_of_a_pixel_is_the_pair_drawn_there(self):
        n, width = 11, 44
        drawn = diamonds(np.arange(n * n).reshape(n, n), width, outside=-1)
        row, column = np.nonzero(drawn >= 0)
        i, j = pair_of_pixel(n, width, column, row)
        np.testing.assert_array_equal(drawn[row, column], i * n + j)

    @pytest.mark.parametrize("shape", ["square", "down", "up"])
    def test_a_click_finds_the_pair_that_is_drawn_there(self, shape):
        values = symmetric(6)
        bins = lay_out(np.arange(6), "rank", limit=500)
        for i in range(6):
            for j in range(i, 6):
                x, y = (j, i) if shape == "square" else ((i + j) / 2, j - i + 0.1)
                at = pair_at(values, bins, shape, x, -y if shape == "down" else y)
                assert at == (i, j)

    def test_a_click_beside_the_triangle_is_refused(self):
        bins = lay_out(np.arange(3), "rank", limit=500)
        with pytest.raises(ValueError, match="no pair"):
            pair_at(symmetric(3), bins, "down", x=0.0, y=-2.5)

    def test_descending_positions_are_refused_by_index(self):
        with pytest.raises(ValueError, match="falls at index 2"):
            lay_out(np.array([1, 5, 3]), "position", limit=10)


class TestHeatmap:
    def test_draws_each_pair_where_it_belongs(self):
        values = symmetric(4)
        drawn = pixels(ld_heatmap(ld_result(values)))
        np.testing.assert_allclose(drawn[::-1], values.astype("f4"))

    def test_lazy_results_are_computed(self):
        result = ld_result(symmetric(4))
        lazy = result.copy(data=da.from_array(result.values))
        np.testing.assert_array_equal(pixels(ld_heatmap(lazy)), pixels(ld_heatmap(result)))

    def test_says_when_a_pixel_is_several_pairs(self):
        plot = ld_heatmap(ld_result(symmetric(40)), max_pixels=10)
        assert "strongest of up to 4 × 4 variants" in title(plot)
        assert pixels(plot).shape == (10, 10)

    def test_monomorphic_variants_stay_nan_and_are_counted(self):
        values = symmetric(5)
        values[2] = values[:, 2] = np.nan
        plot = ld_heatmap(ld_result(values))
        assert np.isnan(pixels(plot)[2]).all()
        assert "grey: no r², 1 monomorphic variant" in title(plot)

    def test_two_sets(self):
        plot = ld_heatmap(ld_result(symmetric(6)[:2]))
        assert "2 × 6 variants" in title(plot)

    @pytest.mark.parametrize("name", ["r2", "r", "D", "dprime"])
    @pytest.mark.parametrize("axis", ["rank", "position"])
    @pytest.mark.parametrize("draw", [ld_heatmap, ld_triangle])
    def test_bokeh_draws_it(self, draw, axis, name):
        figure = hv.render(draw(ld_result(symmetric(9), name=name), axis=axis, lead=3))
        assert "(Mb)" in figure.xaxis[0].axis_label

    def test_another_array_is_refused(self):
        with pytest.raises(ValueError, match="variants_0"):
            ld_heatmap(ld_result(symmetric(3)).rename(variants_0="rows"))

    @pytest.mark.parametrize("draw", [ld_heatmap, ld_triangle])
    def test_marks_take_ids(self, draw):
        r2 = ld_result(symmetric(9))
        by_id = draw(r2, lead=str(r2.variant_id_1.values[3]), selected=r2.variant_id_1.values[[5]])
        by_index = draw(r2, lead=3, selected=[5])
        for found, expected in zip(by_id, by_index, strict=True):
            pd.testing.assert_frame_equal(found.dframe(), expected.dframe())
        with pytest.raises(KeyError, match="'rs_none' is not in variant_id"):
            draw(r2, lead="rs_none")
        with pytest.raises(IndexError, match="selected is 9, and the result has the 9 variants"):
            draw(r2, selected=[1, 9])

    @pytest.mark.parametrize("draw", [ld_heatmap, ld_triangle])
    @pytest.mark.parametrize("name", ["r2", "r", "dprime", "r2_em"])
    @pytest.mark.parametrize(("factor", "limit"), [(1.0, 1.0), (2.0, 2.0), (0.1, 0.1)])
    def test_a_difference_diverges(self, draw, name, factor, limit):
        one, other = (ld_result(symmetric(9, seed), name=name) for seed in (0, 1))
        drawn = draw((one - other) * factor)
        assert title(drawn).startswith(f"Δ {scale_of(name).label}")
        bar = hv.render(drawn).select_one(ColorBar)
        assert (bar.color_mapper.low, bar.color_mapper.high) == (-limit, limit)


class TestShades:
    @pytest.mark.parametrize("statistic", ["r2", "r", "D", "dprime"])
    def test_shades_have_the_colours_of_the_values(self, statistic):
        scale = scale_of(statistic)
        low, high = scale.limits
        values = np.linspace(low, high, 253)
        drawn = shades(values, scale)
        assert (np.diff(drawn.astype(int)) >= 0).all()
        colours = colours_of_shades(scale)
        ends = palette(scale)
        assert len(colours) == SHADES
        assert [colours[drawn[0]], colours[drawn[-1]]] == [ends[0], ends[-1]]

    def test_missing_and_hidden_values(self):
        scale = scale_of("r")
        drawn = shades(np.array([np.nan, -0.19, 0.0, 0.19, -0.2, 0.2]), scale, threshold=0.2)
        assert drawn[:4].tolist() == [NO_VALUE, BELOW, BELOW, BELOW]
        assert drawn[4:].min() > BELOW
        colours = colours_of_shades(scale)
        assert [colours[NO_VALUE], colours[BELOW]] == [NO_VALUE_COLOUR, WHITE]
        assert colours[OUTSIDE].endswith("00")

    def test_codes_give_three_digits_of_each_pair(self):
        values = symmetric(20) * 2 - 1
        values[3, 5] = np.nan
        found = codes(values, scale_of("r"))
        expected = values[np.triu_indices(20)]
        missing = found == 65535
        np.testing.assert_array_equal(missing, np.isnan(expected))
        decoded = -1 + found[~missing] * (2 / 65534)
        np.testing.assert_allclose(decoded, expected[~missing], atol=2e-5)


class TestTriangle:
    @pytest.mark.parametrize("apex", ["down", "up"])
    def test_apex(self, apex):
        values = symmetric(4)
        drawn = pixels(ld_triangle(ld_result(values), apex=apex))
        base = drawn[0] if apex == "down" else drawn[-1]
        tip = drawn[-1] if apex == "down" else drawn[0]
        scale = scale_of("r2")
        np.testing.assert_array_equal(base, np.full(drawn.shape[1], SHADES - 1))
        shown = tip[tip != OUTSIDE]
        assert shown.size
        np.testing.assert_array_equal(shown, shades(np.full(shown.size, values[0, 3]), scale))

    def test_the_colour_bar_shows_the_statistic_and_its_threshold(self):
        plot = ld_triangle(ld_result(symmetric(9), name="r"), threshold=0.3)
        figure = hv.render(plot)
        mapper = figure.select_one({"type": ColorBar}).color_mapper
        assert (mapper.low, mapper.high) == (-1.0, 1.0)
        assert mapper.palette == palette(scale_of("r"), 0.3)

    def test_two_sets_are_refused(self):
        with pytest.raises(ValueError, match="ld_heatmap for two sets"):
            ld_triangle(ld_result(symmetric(6)[:2]))


class TestTrack:
    def test_values_and_missing_values(self):
        values = np.array([[1.0], [np.nan], [0.25]])
        plot = ld_track(ld_result(values, np.array([10, 20, 30])))
        np.testing.assert_array_equal(plot.Values.I["value"], [1.0, 0.25])
        assert len(plot.Missing.I) == 1
        assert "grey crosses" in title(plot)
        hv.render(plot)

    def test_two_leads_are_refused(self):
        with pytest.raises(ValueError, match="size 2"):
            ld_track(ld_result(np.ones((3, 2))))


class TestFrequencies:
    def test_missing_frequencies_are_said(self):
        picture = allele_frequency_spectrum(np.array([0.1, 0.95, np.nan]), bins=10, folded=False)
        assert picture.panel.marks[0].hover["variants"].sum() == 2
        assert "1 without calls" in picture.title

    def test_no_calls_at_all(self):
        with pytest.raises(ValueError, match="no variant has a called genotype"):
            allele_frequency_spectrum(np.array([np.nan]))


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_the_title_says_what_a_pixel_is(aggregate):
    plot = ld_triangle(ld_result(symmetric(20)), max_pixels=5, aggregate=aggregate)
    assert (
        f"pixel: {AGGREGATES[aggregate]} up to 4 × 4 variants"
        in (plot.opts.get("plot").kwargs["title"])
    )


def test_an_unknown_aggregate_is_refused():
    with pytest.raises(ValueError, match="use one of max, mean, sample"):
        ld_heatmap(ld_result(symmetric(4)), aggregate="median")


@pytest.mark.parametrize("statistic", ["r2", "r2_em", "dprime_em"])
@pytest.mark.parametrize("window", [2, 50, 100])
def test_a_colour_bar_is_longer_than_its_title(statistic, window):
    band = np.random.default_rng(0).uniform(-0.5, 0.5, (120, window))
    matrix = ld_result(-symmetric(30), name=statistic)
    scale = scale_of(statistic)
    # The values of the matrix are differences: r² is negative, or D′ of a variant with itself.
    for picture, named in (
        (ld_band(xr.DataArray(band, dims=("variants", "offsets"), name=statistic)), scale.key),
        (ld_triangle(matrix), scale),
        (ld_heatmap(matrix), scale),
    ):
        figure = hv.render(picture)
        (bar,) = figure.select({"type": ColorBar})
        assert 6.2 * len(bar.title) <= figure.frame_height
        assert named.label in bar.title or named.name in bar.title


@pytest.mark.parametrize("draw", [ld_triangle, ld_heatmap])
def test_values_are_looked_through_once(draw, monkeypatch):
    asked = Mock(wraps=result.scale_with)
    monkeypatch.setattr(result, "scale_with", asked)
    hv.render(draw(ld_result(symmetric(25)), threshold=0.2))
    assert asked.call_count == 1
