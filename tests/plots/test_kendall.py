from __future__ import annotations

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from genobit.network import PairTable
from genobit.plots import (
    degree_histogram,
    kendall_heatmap,
    kendall_network,
    pair_scatter,
    strongest_edges,
)
from genobit.plots.bubbles import gather
from genobit.plots.candidates import FIRST_LOOK, floor_for, hold
from genobit.plots.edges import draw_edges
from genobit.plots.kendall import draw_heatmap, order
from genobit.plots.links import links_of
from genobit.plots.network import FRAME, KEYS, NODES, Laid, arrange, colours_of, draw_nodes, place
from genobit.plots.placing import LETTER, LINE, fit, free_labels, nearest_segment, pack_circles
from genobit.plots.samples import colouring


def table(edges: list[tuple[int, int, float]], size: int, **columns: object) -> PairTable:
    first, second, tau = zip(*edges, strict=True) if edges else ((), (), ())
    frame = pd.DataFrame(
        {
            "gene_0": np.array(first, "i8"),
            "gene_1": np.array(second, "i8"),
            "tau": np.array(tau, "f8"),
            **columns,
        }
    )
    return PairTable(frame, [f"g{k}" for k in range(size)], "gene")


def cliques(*sizes: int, tau: float = 0.8) -> PairTable:
    """Complete components of these sizes, one after another, tau falling a little from each."""
    edges, start = [], 0
    for size in sizes:
        for a in range(start, start + size):
            edges += [(a, b, tau - 1e-4 * len(edges) / 10) for b in range(a + 1, start + size)]
        start += size
    return table(edges, start + 3)


def square(size: int, seed: int = 0) -> xr.DataArray:
    tau = np.random.default_rng(seed).uniform(-1, 1, (size, size))
    tau = (tau + tau.T) / 2
    np.fill_diagonal(tau, 1.0)
    names = [f"g{k}" for k in range(size)]
    return xr.DataArray(tau, {"gene_0": names, "gene_1": names}, ("gene_0", "gene_1"), name="tau")


def option(plot: hv.core.Dimensioned, name: str) -> object:
    return plot.opts.get("plot").kwargs[name]


class TestPlacing:
    @pytest.mark.parametrize("gap", [0.0, 0.7])
    def test_circles_do_not_overlap(self, gap):
        radii = np.random.default_rng(1).uniform(0.2, 4, 60)
        centres = pack_circles(radii, gap=gap)
        apart = np.hypot(*(centres[:, None] - centres).T)
        least = radii[:, None] + radii + gap - 1e-6
        np.fill_diagonal(least, 0)
        assert (apart >= least).all()

    def test_what_pulls_stands_side_by_side(self):
        radii = np.ones(20)
        pulls = np.zeros((20, 20))
        pulls[7, 19] = pulls[19, 7] = 3
        centres = pack_circles(radii, pulls)
        assert np.hypot(*(centres[7] - centres[19])) == pytest.approx(2)

    def test_none_and_one(self):
        assert pack_circles(np.empty(0)).shape == (0, 2)
        np.testing.assert_array_equal(pack_circles(np.ones(1)), [[0, 0]])

    def test_fit_stays_inside(self):
        radii = np.random.default_rng(2).uniform(0.5, 2, 12)
        centres = pack_circles(radii)
        factor, offset = fit(centres, radii, 300, 200)
        low = (factor * (centres - radii[:, None]) + offset).min(axis=0)
        high = (factor * (centres + radii[:, None]) + offset).max(axis=0)
        assert (low >= -1e-6).all()
        assert (high <= [300 + 1e-6, 200 + 1e-6]).all()

    def test_labels_do_not_overlap(self):
        generator = np.random.default_rng(3)
        x, y = generator.uniform(0, 200, (2, 80))
        texts = [f"GENE{k}" for k in range(80)]
        chosen = free_labels(x, y, texts)
        assert chosen[0] == 0
        width = LETTER * np.array([len(texts[k]) for k in chosen])
        for i, a in enumerate(chosen):
            for j, b in enumerate(chosen[:i]):
                beside = abs(x[a] - x[b]) >= (width[i] + width[j]) / 2
                assert beside or abs(y[a] - y[b]) >= LINE

    def test_nearest_segment_by_hand(self):
        ends = np.array([[0.0, 0, 0, 10], [5, 0, 15, 0]])
        assert nearest_segment(ends, 1, 20)[0] == 0
        assert nearest_segment(ends, 20, 0) == (1, 5.0)


class TestLinks:
    def test_degrees_components_and_hubs(self):
        links = links_of(table([(0, 4, 0.9), (0, 6, 0.8), (2, 5, -0.7)], 9))
        assert links.variables.tolist() == [0, 2, 4, 5, 6]
        assert links.degree.tolist() == [2, 1, 1, 1, 1]
        assert [group.tolist() for group in links.components] == [[0, 2, 4], [1, 3]]
        assert links.hubs()[0] == 0

    def test_part_of_a_network(self):
        links = links_of(cliques(5, 4, 2))
        inside = links.within(np.arange(5, 9))
        assert inside.variables.tolist() == [5, 6, 7, 8]
        assert len(inside.first) == 6
        assert links.of_variable(10).variables.tolist() == [9, 10]

    def test_backbone_holds_components_together_and_is_the_strongest(self):
        links = links_of(cliques(20, 9))
        drawn = links.backbone(60)
        assert len(drawn) == 60
        of = pd.Series(np.arange(links.size))
        for _ in range(links.size):
            for k in drawn:
                a, b = links.first[k], links.second[k]
                of[a] = of[b] = min(of[a], of[b])
        assert of.nunique() == 2
        strength = np.abs(links.tau)
        assert strength[drawn].max() == strength.max()

    def test_few_edges_are_all_drawn_the_strongest_last(self):
        links = links_of(cliques(4))
        drawn = links.backbone(100)
        assert len(drawn) == 6
        assert (np.diff(np.abs(links.tau[drawn])) >= 0).all()


class TestNetwork:
    def test_nodes_are_in_the_frame_and_components_apart(self):
        laid = arrange(links_of(cliques(30, 12, 7, 3, 2, 2)))
        assert isinstance(laid, Laid)
        assert laid.x.min() >= 0
        assert laid.x.max() <= FRAME[0]
        assert laid.y.min() >= 0
        assert laid.y.max() <= FRAME[1]
        boxes = []
        for group in laid.links.components:
            middle = np.array([laid.x[group].mean(), laid.y[group].mean()])
            reach = np.hypot(laid.x[group] - middle[0], laid.y[group] - middle[1]).max()
            boxes.append((middle, reach))
        for i, (a, r) in enumerate(boxes):
            for b, s in boxes[:i]:
                assert np.hypot(*(a - b)) > 0.9 * (r + s)

    def test_a_hub_is_the_largest_and_is_named(self):
        star = table([(0, k, 0.9) for k in range(1, 9)] + [(20, 21, 0.8)], 30)
        picture = kendall_network(star)
        nodes = picture.Points.Nodes
        assert nodes["name"][np.argmax(nodes["size"])] == "g0"
        assert nodes["degree"].tolist() == [8, *([1] * 10)]
        assert "g0" in picture.Labels.I["name"].tolist()

    def test_a_click_finds_a_node(self):
        laid = place(links_of(cliques(4)))
        assert laid.node_at(laid.x[2] + 1, laid.y[2]) == 2
        assert laid.node_at(-50, -50) is None

    def test_signs_have_colours(self):
        picture = kendall_network(table([(0, 1, 0.9), (1, 2, -0.9)], 3))
        assert len(set(picture.Segments.Edges["colour"])) == 2

    def test_dense_networks_draw_their_strongest_edges_and_say_so(self):
        picture = kendall_network(cliques(60))
        assert len(picture.Segments.Edges) == 360
        assert "(the 360 strongest drawn)" in option(picture, "title")

    def test_the_same_every_time(self):
        first, second = (place(links_of(cliques(9, 5))) for _ in range(2))
        np.testing.assert_array_equal(first.x, second.x)
        np.testing.assert_array_equal(first.y, second.y)

    @pytest.mark.parametrize("values", [["a", "b"] * 4, np.arange(8.0), [np.nan] * 8])
    def test_colours_of_labels(self, values):
        picture = kendall_network(cliques(5), colour_by=values, name="gene_kind")
        assert len(picture.Points.Nodes["colour"]) == 5
        hv.render(picture)

    def test_many_categories_do_not_fill_the_key(self):
        picture = kendall_network(cliques(*[2] * 40))
        assert len(picture.Points.Key) == KEYS + 1
        assert any("more" in text for text in picture.Labels.Meaning["text"])

    def test_marks_an_edge_that_is_there(self):
        links = links_of(cliques(5))
        laid, colours = place(links), colours_of(links, None)
        assert len(draw_nodes(laid, colours, (1, 3)).Segments.Marked) == 1
        assert not len(draw_nodes(laid, colours, (1, 6)).Segments.Marked)

    def test_no_edge(self):
        with pytest.raises(ValueError, match="lower min_abs"):
            kendall_network(table([], 5))


class TestBubbles:
    def test_instead_of_too_many_nodes(self):
        picture = kendall_network(cliques(*[3] * 150))
        assert len(picture.Points.Communities) == 60
        assert "450 variables in 150 communities" in option(picture, "title")
        assert "the 90 of 3 members or fewer are not drawn" in option(picture, "title")
        hv.render(picture)

    def test_limit_of_nodes_and_of_edges(self):
        links = links_of(cliques(6, 6))
        assert not isinstance(arrange(links, limit=11), Laid)
        assert isinstance(arrange(links, limit=12), Laid)
        assert not isinstance(arrange(links_of(cliques(95, 30))), Laid)
        assert NODES == 400

    def test_one_community_is_drawn_as_nodes(self):
        assert isinstance(arrange(links_of(cliques(12)), limit=5), Laid)

    def test_sizes_are_members_and_widths_are_edges_between(self):
        pairs = cliques(16, 4).to_pandas()
        bridge = pd.DataFrame({"gene_0": [0, 1], "gene_1": [16, 17], "tau": [0.5, 0.5]})
        edges = pd.concat([pairs[["gene_0", "gene_1", "tau"]], bridge])
        bubbles = gather(links_of(PairTable(edges, [f"g{k}" for k in range(20)], "gene")), FRAME)
        np.testing.assert_allclose(bubbles.radius[0] / bubbles.radius[1], 2)
        assert bubbles.between.tolist() == [[0, 1, 2]]
        assert bubbles.bubble_at(bubbles.x[1], bubbles.y[1]) == 1
        assert bubbles.bubble_at(-50, -50) is None

    def test_bubbles_are_apart_and_in_the_frame(self):
        bubbles = gather(links_of(cliques(*range(2, 30))), FRAME)
        centres = np.column_stack([bubbles.x, bubbles.y])
        apart = np.hypot(*(centres[:, None] - centres).T)
        least = bubbles.radius[:, None] + bubbles.radius
        np.fill_diagonal(least, 0)
        assert (apart >= least).all()
        assert (centres >= bubbles.radius[:, None]).all()
        assert (centres <= np.array(FRAME) - bubbles.radius[:, None]).all()


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
        hv.render(picture)

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
        hv.render(draw_heatmap(ordered, (0, 1)))

    def test_nothing_but_missing_values(self):
        hv.render(kendall_heatmap(square(3) * np.nan))

    def test_one_variable(self):
        hv.render(kendall_heatmap(square(1)))

    def test_what_is_no_square(self):
        with pytest.raises(ValueError, match=r"'gene_0': 3, 'gene_1': 2"):
            kendall_heatmap(square(3)[:, :2])

    def test_the_result_of_kendall(self):
        import genobit

        expr = genobit.sample_expression()[:12]
        picture = kendall_heatmap(expr.genobit.kendall("b", pvalue=True))
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

    @pytest.mark.parametrize("values", [["a", "b", "a"], [1.0, 2.0, np.nan]])
    def test_colours(self, values):
        x = xr.DataArray([1.0, 2.0, 3.0], dims="sample", name="MYC")
        colour = colouring("sample_kind", np.array(values))
        hv.render(pair_scatter(x, x.rename("MAX"), colour=colour))

    def test_a_p_of_zero_is_said_as_a_bound(self):
        x = xr.DataArray([1.0, 2.0], dims="sample", name="MYC")
        assert "below 1e-300" in option(pair_scatter(x, x, tau=1, pvalue=0.0), "title")

    def test_other_observations(self):
        x = xr.DataArray([1.0, 2.0], dims="sample", name="MYC")
        with pytest.raises(ValueError, match="same observations"):
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
        hv.render(bars)

    def test_no_degree(self):
        hv.render(degree_histogram(np.zeros(4, "i8")))

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
        expected = pairs.select(min_abs=0.8)
        assert len(held.table(rows_found)) == len(expected)
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
