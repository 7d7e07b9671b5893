from __future__ import annotations

import holoviews as hv
import numpy as np
import pandas as pd
import pytest

from genobit.data.pairs.network import Network
from genobit.kendall.plots.communities import gather
from genobit.kendall.plots.links import links_of
from genobit.kendall.plots.network import (
    FRAME,
    NODES,
    NetworkLayout,
    arrange,
    colours_of,
    draw_nodes,
    place,
)
from genobit.launcher.plots import kendall_network
from genobit.visual.placing import LETTER, LINE, fit, free_labels, nearest_segment, pack_circles
from genobit.visual.tokens import GROUPS
from tests.kendall.plots.networks import cliques, option, table


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
        assert isinstance(laid, NetworkLayout)
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
        picture = kendall_network(cliques(5), colour_by=values)
        assert len(picture.Points.Nodes["colour"]) == 5
        hv.render(picture)

    def test_many_categories_do_not_fill_the_key(self):
        picture = kendall_network(cliques(*[2] * 40))
        assert len(picture.Points.Key) == len(GROUPS) + 1
        assert any("others" in text for text in picture.Labels.Meaning["text"])

    def test_marks_an_edge_that_is_there(self):
        links = links_of(cliques(5))
        laid, colours = place(links), colours_of(links, None)
        assert len(draw_nodes(laid, colours, (1, 3)).Segments.Marked) == 1
        assert not len(draw_nodes(laid, colours, (1, 6)).Segments.Marked)

    def test_no_edge(self):
        with pytest.raises(ValueError, match="lower threshold"):
            kendall_network(table([], 5))


class TestBubbles:
    def test_instead_of_too_many_nodes(self):
        picture = kendall_network(cliques(*[3] * 150))
        assert len(picture.Points.Communities) == 60
        assert "450 variables in 150 communities" in option(picture, "title")
        assert "Not drawn: 90 of 150 communities, 270 nodes" in option(picture, "title")
        hv.render(picture)

    def test_limit_of_nodes_and_of_edges(self):
        links = links_of(cliques(6, 6))
        assert not isinstance(arrange(links, limit=11), NetworkLayout)
        assert isinstance(arrange(links, limit=12), NetworkLayout)
        assert not isinstance(arrange(links_of(cliques(95, 30))), NetworkLayout)
        assert NODES == 400

    def test_one_community_is_drawn_as_nodes(self):
        assert isinstance(arrange(links_of(cliques(12)), limit=5), NetworkLayout)

    def test_sizes_are_members_and_widths_are_edges_between(self):
        pairs = cliques(16, 4).to_dataframe()
        bridge = pd.DataFrame({"gene_0": [0, 1], "gene_1": [16, 17], "tau": [0.5, 0.5]})
        edges = pd.concat([pairs[["gene_0", "gene_1", "tau"]], bridge])
        bubbles = gather(links_of(Network(edges, [f"g{k}" for k in range(20)], "gene")), FRAME)
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
