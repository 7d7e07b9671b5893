from __future__ import annotations

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from genobit.kendall.explorer.candidates import FIRST_LOOK, floor_for, hold
from genobit.kendall.plots.edges import draw_edges
from genobit.kendall.plots.heatmap import SCALE, draw_heatmap, order
from genobit.launcher.plots import degree_histogram, kendall_heatmap, pair_scatter, strongest_edges
from genobit.visual.colouring import MISSING, colouring
from genobit.visual.style import NO_VALUE_COLOUR, palette
from tests.kendall.plots.networks import cliques, option, table
from tests.visual.rendered import colours_of_image, glyph_of


def square(size: int, seed: int = 0) -> xr.DataArray:
    tau = np.random.default_rng(seed).uniform(-1, 1, (size, size))
    tau = (tau + tau.T) / 2
    np.fill_diagonal(tau, 1.0)
    names = [f"g{k}" for k in range(size)]
    return xr.DataArray(tau, {"gene_0": names, "gene_1": names}, ("gene_0", "gene_1"), name="tau")


class TestHeatmap:
    def test_correlated_variables_stand_together(self):
        group = np.random.default_rng(4).permutation(np.repeat([0, 1, 2], 5))
        values = np.where(group[:, None] == group, 0.7, 0.1)
        ordered = order(xr.DataArray(values, dims=("gene_0", "gene_1"), name="tau"))
        assert np.count_nonzero(np.diff(group[ordered.tree.order])) == 2

    def test_pixels_ticks_and_clicks_agree(self):
        tau = square(9)
        ordered = order(tau)
        picture = draw_heatmap(ordered)
        places = ordered.tree.order
        names = [text for _, text in picture.Image.I.opts.get("plot").kwargs["xticks"]]
        assert names == [f"g{k}" for k in places]
        # Images hold the top row first.
        drawn = picture.Image.I.dimension_values("tau", flat=False)
        np.testing.assert_allclose(drawn, tau.values[np.ix_(places, places)], rtol=1e-6)
        assert ordered.pair_at(5.2, 0.9) == (places[1], places[5])
        assert ordered.pair_at(3, 3) is None
        assert ordered.pair_at(-1, 3) is None

    def test_many_names_are_left_to_the_hover(self):
        picture = kendall_heatmap(square(60))
        assert picture.Image.I.opts.get("plot").kwargs["xaxis"] is None
        assert not hv.render(picture).xaxis[0].visible

    def test_hover_says_both_names_tau_p_and_n(self):
        tau = square(5)
        result = xr.Dataset({"tau": tau, "pvalue": tau**2, "n": (tau.dims, np.full((5, 5), 8))})
        figure = hv.render(kendall_heatmap(result))
        tooltips = [tool.tooltips for tool in figure.tools if hasattr(tool, "tooltips")]
        assert [row[0] for row in tooltips[0]] == ["variable", "variable", "τ", "p", "n"]

    def test_missing_values_are_grey_and_last(self):
        tau = square(6)
        tau[2] = tau[:, 2] = np.nan
        ordered = order(tau)
        assert ordered.tree.order[-1] == 2
        grey = colours_of_image(draw_heatmap(ordered)) == NO_VALUE_COLOUR
        last = np.arange(6) == 5
        np.testing.assert_array_equal(grey, last[:, None] | last)

    def test_nothing_but_missing_values(self):
        colours = colours_of_image(kendall_heatmap(square(3) * np.nan))
        assert colours.tolist() == [[NO_VALUE_COLOUR] * 3] * 3

    def test_one_variable(self):
        picture = kendall_heatmap(square(1))
        assert colours_of_image(picture).tolist() == [[palette(SCALE)[-1]]]
        assert hv.render(picture).title.text == "τ of 1 variable, clustered"

    def test_marked_cells_are_those_of_the_two(self):
        ordered = order(square(6))
        frames = glyph_of(draw_heatmap(ordered, (0, 1)), "Quad", "Marked").data_source.data
        a, b = ordered.tree.rank[[0, 1]]
        assert [at + 0.5 for at in frames["left"]] == [a, b]
        assert [at + 0.5 for at in frames["bottom"]] == [b, a]

    def test_what_is_no_square(self):
        with pytest.raises(ValueError, match=r"'gene_0': 3, 'gene_1': 2"):
            kendall_heatmap(square(3)[:, :2])

    def test_the_result_of_kendall(self):
        import genobit

        expr = genobit.sample_expression()[:12]
        picture = kendall_heatmap(expr.genobit.kendall("tau_b", pvalue=True))
        assert picture.Image.I.bounds.lbrt() == (-0.5, -0.5, 11.5, 11.5)


class TestScatter:
    def test_observations_present_in_both(self):
        x = xr.DataArray([1.0, np.nan, 3.0, 4.0], {"sample": list("abcd")}, ("sample",), name="MYC")
        y = xr.DataArray([5.0, 6.0, np.nan, 8.0], {"sample": list("abcd")}, ("sample",), name="MAX")
        picture = pair_scatter(x, y, tau=1.0, pvalue=0.25)
        assert picture["observation"].tolist() == ["a", "d"]
        assert picture["y"].tolist() == [5, 8]
        assert option(picture, "title") == "MYC and MAX\nτ = 1.000, p = 0.25, n = 2"

    def test_few_values_are_moved_apart_and_the_hover_has_the_values(self):
        x = xr.DataArray(np.tile([0.0, 1, 2], 20), dims="samples", name="rs1")
        picture = pair_scatter(x, x.rename("rs2"))
        assert len(np.unique(picture["x"])) == 60
        assert np.abs(picture["x"] - picture["x_value"]).max() <= 0.25
        np.testing.assert_array_equal(picture["x_value"], x)
        assert "moved apart" in picture.kdims[0].label
        assert "n = 60" in option(picture, "title")

    def test_colours_of_categories(self):
        x = xr.DataArray([1.0, 2.0, 3.0, 4.0], dims="sample", name="MYC")
        colour = colouring("sample_kind", np.array(["a", "b", "", "a"]))
        picture = pair_scatter(x.where(x != 2), x.rename("MAX"), colour_by=colour)
        points = glyph_of(picture, "Scatter")
        fill = points.glyph.fill_color
        assert list(points.data_source.data[fill.field]) == ["a", MISSING, "a"]
        colours = dict(zip(fill.transform.factors, fill.transform.palette, strict=True))
        assert colours == colour.colours
        assert len(set(colours.values())) == 3
        assert colours[MISSING] == NO_VALUE_COLOUR
        # HoloViews 1.21 names the one legend twice.
        assert {legend.title for legend in hv.render(picture).legend} == {"kind"}

    def test_colours_of_numbers(self):
        x = xr.DataArray([1.0, 2.0, 3.0], dims="sample", name="MYC")
        colour = colouring("sample_height", np.array([1.5, 2.5, np.nan]))
        points = glyph_of(pair_scatter(x, x.rename("MAX"), colour_by=colour), "Scatter")
        fill = points.glyph.fill_color
        np.testing.assert_array_equal(points.data_source.data[fill.field], [1.5, 2.5, np.nan])
        assert (fill.transform.low, fill.transform.high) == colour.limits
        assert fill.transform.nan_color == NO_VALUE_COLOUR

    def test_a_p_of_zero_is_said_as_a_bound(self):
        x = xr.DataArray([1.0, 2.0], dims="sample", name="MYC")
        assert "below 1e-300" in option(pair_scatter(x, x, tau=1, pvalue=0.0), "title")

    def test_other_observations(self):
        x = xr.DataArray([1.0, 2.0], dims="sample", name="MYC")
        with pytest.raises(ValueError, match=r"MAX has shape \(1,\), expected \(2,\)"):
            pair_scatter(x, x[:1].rename("MAX"))


class TestEdges:
    def test_counts_of_degrees(self):
        bars = degree_histogram(np.array([0, 0, 1, 1, 1, 3]))
        assert bars["degrees"].tolist() == ["1", "3"]
        assert bars["variables"].tolist() == [3, 1]
        assert "2 have none" in option(bars, "title")

    def test_many_degrees_share_bars(self):
        degree = np.random.default_rng(5).integers(0, 500, 2_000)
        bars = degree_histogram(degree)
        assert len(bars) <= 40
        assert bars["variables"].sum() == np.count_nonzero(degree)
        drawn = glyph_of(bars, "Quad").data_source.data
        np.testing.assert_array_equal(drawn["top"], bars["variables"])

    def test_no_degree(self):
        bars = degree_histogram(np.zeros(4, "i8"))
        assert option(bars, "title") == "0 variables have an edge, 4 have none"
        assert not len(glyph_of(bars, "Quad").data_source.data["top"])

    def test_table_is_sorted_by_strength_and_cut(self):
        pairs = table([(0, 1, 0.5), (0, 2, -0.9), (1, 2, 0.7)], 3, pvalue=0.1, qvalue=0.2, n=8)
        rows = strongest_edges(pairs, limit=2)
        assert rows["tau"].tolist() == [-0.9, 0.7]
        columns = [column.title for column in hv.render(draw_edges(rows)).columns]
        assert columns == ["variable", "with", "τ", "p", "q", "n"]


class TestCandidates:
    def test_thresholds_are_those_of_the_table(self):
        generator = np.random.default_rng(6)
        rows, columns = np.triu_indices(40, 1)
        tau = np.round(generator.uniform(-1, 1, len(rows)), 2)
        q = generator.uniform(0, 1, len(rows))
        pairs = table(list(zip(rows, columns, tau, strict=True)), 40, qvalue=q)
        held = hold(pairs, floor=0.0)
        for cut in (0.0, 0.31, 0.5, 1.0, 1.01):
            assert len(held.at_least(cut)) == np.count_nonzero(np.abs(tau) >= cut)
        for cut in (0.0, 0.05, 0.5, 1.0):
            found = held.up_to(cut)
            assert sorted(held.qvalue[found]) == sorted(q[q <= cut])
        rows_found = held.at_least(0.8)
        expected = pairs.select(threshold=0.8)
        assert len(held.table(rows_found, {"threshold": 0.8})) == len(expected)
        degree = held.degree(rows_found)
        assert degree[degree > 0].tolist() == expected.degree().tolist()

    def test_too_many_are_cut_where_tau_changes(self):
        pairs = table([(0, k, tau) for k, tau in enumerate([0.9, 0.8, 0.7, 0.7, 0.6], 1)], 6)
        held = hold(pairs, floor=0.5, limit=3)
        assert held.strength.tolist() == [0.9, 0.8]
        assert held.floor == 0.71

    def test_missing_values_are_no_edges(self):
        held = hold(table([(0, 1, np.nan), (0, 2, 0.5)], 3), floor=0.0)
        assert held.strength.tolist() == [0.5]

    def test_first_look_has_something_to_see(self):
        weak = hold(table([(0, k, 0.3 + k / 1e4) for k in range(1, 900)], 900), floor=0.1)
        assert 400 < len(weak.at_least(weak.first_look(0.6))) <= 900
        dense = hold(cliques(220), floor=0.1)
        assert 0 < len(dense.at_least(dense.first_look(0.1))) <= FIRST_LOOK
        assert hold(table([], 4), floor=0.2).first_look(0.6) == 0.6

    def test_floor_leaves_about_what_can_be_held(self):
        generator = np.random.default_rng(7)
        tau = generator.normal(0, 0.1, (400, 400))
        floor = floor_for(tau, 10_000, limit=100_000)
        share = np.count_nonzero(np.abs(generator.normal(0, 0.1, 10**6)) >= floor) / 10**6
        assert share * 10_000 * 9_999 / 2 == pytest.approx(100_000, rel=0.5)
