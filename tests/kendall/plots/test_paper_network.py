from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Page

import genobit
from genobit.data.pairs.network import Network
from genobit.kendall.plots.links import links_of
from genobit.kendall.plots.paper_key import strength_of
from genobit.kendall.plots.paper_network import paper_network
from genobit.kendall.plots.paper_places import apart, ends_of, into_box, shape_of
from genobit.launcher.figures import RESULTS
from genobit.visual.paper.page import DPI, draw_on, page_of, write
from genobit.visual.paper.texts import text_size
from genobit.visual.tokens import GROUPS, OTHER_GROUP
from tests.helpers.programs import other_hashes, run


def network(graph: nx.Graph, *, negative: bool = False, **attrs: Any) -> Network:
    graph = nx.convert_node_labels_to_integers(graph)
    ends = np.array([sorted(edge) for edge in graph.edges])
    tau = np.random.default_rng(0).uniform(0.5, 0.95, len(ends))
    if negative:
        tau[::5] *= -1
    frame = pd.DataFrame({"gene_0": ends[:, 0], "gene_1": ends[:, 1], "tau": tau})
    names = [f"g{k}" for k in range(len(graph))]
    return Network(frame, names, "gene", attrs={"threshold": 0.5, **attrs})


def union(*sizes: int) -> nx.Graph:
    parts = [nx.gnm_random_graph(n, 2 * n, seed=n) for n in sizes]
    parts = [nx.compose(part, nx.path_graph(len(part))) for part in parts]
    return nx.disjoint_union_all(parts)


SEVERAL = network(union(24, 8, 5, 3, 2, 2), negative=True)


def drawn(pairs: Network, width: float = 90, **options: Any) -> Page:
    page = page_of(paper_network(pairs, **options), width)
    page.set_dpi(DPI)  # at fewer pixels, hinting makes letters wider
    page.draw_without_rendering()
    return page


def texts(page: Page) -> list[str]:
    return [text.get_text() for text in page.axes[0].texts]


def nodes(page: Page) -> Any:
    return next(c for c in page.axes[0].collections if c.get_label() == "nodes")


def edges(page: Page, label: str = "edges") -> Any:
    return next(c for c in page.axes[0].collections if c.get_label() == label)


def note(page: Page) -> str:
    inside = [t for t in page.axes[0].texts if to_hex(t.get_color()) == "#6a7380"]
    return " ".join(t.get_text() for t in inside)


def boxes(page: Page) -> np.ndarray:
    found = [t.get_window_extent() for t in page.axes[0].texts if t.get_text()]
    return np.array([[b.x0, b.y0, b.x1, b.y1] for b in found])


def check_overlaps(page: Page) -> None:
    """No two texts overlap, none covers a node, and all are on the page."""
    found = boxes(page)
    low, high = found[:, :2], found[:, 2:]
    touch = ((low[:, None] < high - 0.5) & (high[:, None] > low + 0.5)).all(axis=-1)
    assert touch.sum() == len(found)
    assert (low >= 0).all()
    assert (high <= page.bbox.max).all()
    marks = nodes(page)
    at = page.axes[0].transData.transform(marks.get_offsets())
    radii = np.sqrt(marks.get_sizes()) / 2 * page.dpi / 72
    off = np.maximum(np.maximum(low[:, None] - at, at - high[:, None]), 0)
    assert (np.hypot(off[..., 0], off[..., 1]) >= radii - 0.5).all()
    assert ((at - radii[:, None] >= 0) & (at + radii[:, None] <= page.bbox.max)).all()


def check_discs(page: Page) -> None:
    """No disc covers another one."""
    marks = nodes(page)
    at, diameters = np.asarray(marks.get_offsets()), np.sqrt(marks.get_sizes()) * 25.4 / 72
    distance = np.hypot(*(at[:, None] - at).T)
    np.fill_diagonal(distance, np.inf)
    assert (distance >= (diameters[:, None] + diameters) / 2 - 1e-3).all()


@pytest.mark.parametrize("width", [45, 90, 180])
@pytest.mark.parametrize(
    "pairs",
    [
        SEVERAL,
        network(nx.path_graph(2)),
        network(nx.star_graph(30)),
        network(nx.path_graph(30)),
        network(union(*[6] * 9)),
    ],
    ids=["several", "pair", "star", "chain", "equal"],
)
def test_nothing_overlaps(pairs, width):
    page = drawn(pairs, width)
    check_overlaps(page)
    check_discs(page)


def test_every_node_and_edge_is_drawn():
    page = drawn(SEVERAL)
    assert len(nodes(page).get_offsets()) == 44
    tau = SEVERAL.to_dataframe()["tau"]
    assert len(edges(page).get_segments()) == (tau > 0).sum()
    assert len(edges(page, "negative").get_segments()) == (tau < 0).sum()
    assert note(page) == f"44 nodes, {len(tau)} edges (|τ| ≥ 0.5); 6 components"


def test_edges_end_at_their_nodes():
    page = drawn(SEVERAL)
    at = {tuple(np.round(place, 6)) for place in np.asarray(nodes(page).get_offsets())}
    for segment in [*edges(page).get_segments(), *edges(page, "negative").get_segments()]:
        assert {tuple(np.round(end, 6)) for end in segment} <= at


def test_small_components_are_left_out_and_counted():
    page = drawn(SEVERAL, min_component=4)
    assert len(nodes(page).get_offsets()) == 37
    assert note(page).startswith("37 of 44 nodes, ")
    assert note(page).endswith("Not drawn: 3 components of 2 or 3 nodes")


def test_strong_edges_are_wide_and_dark_and_negative_ones_dashed():
    page = drawn(SEVERAL)
    tau = np.sort(SEVERAL.to_dataframe()["tau"])
    widths = edges(page).get_linewidths()
    assert (np.diff(widths) >= 0).all()
    np.testing.assert_allclose(widths, 0.35 + 1.1 * (tau[tau > 0] - 0.5) / 0.5)
    assert (np.diff(edges(page).get_colors()[:, 3]) >= 0).all()
    below = edges(page, "negative")
    assert to_hex(below.get_colors()[0]) == "#d55e00"
    assert below.get_linestyles()[0][1] is not None
    assert "τ < 0" in texts(page)
    assert "τ < 0" not in texts(drawn(network(union(8))))


def test_communities_have_colours_and_sizes():
    page = drawn(SEVERAL)
    communities = SEVERAL.communities().value_counts()
    colours = [to_hex(c) for c in nodes(page).get_facecolors()]
    for number, colour in enumerate(GROUPS):
        if number in communities and communities[number] >= 3:
            assert colours.count(colour) == communities[number]
    assert colours.count(OTHER_GROUP) == communities[communities < 3].sum()


def test_of_many_communities_of_three_none_has_a_colour():
    page = drawn(network(union(6, *[3] * 20)))
    colours = [to_hex(c) for c in nodes(page).get_facecolors()]
    assert set(colours) == {GROUPS[0], OTHER_GROUP}
    assert "20 smaller" in texts(page)
    assert "20 of at most 3 nodes" in texts(drawn(network(union(*[3] * 20))))


def test_labels_replace_names_and_are_bold_italic():
    labels = pd.Series({"g0": "MYC", "g1": np.nan, "g2": "", "g30": "TP53", "other": "X"})
    page = drawn(SEVERAL, labels=labels)
    found = {t.get_text(): t for t in page.axes[0].texts if t.get_fontweight() == "bold"}
    assert {"MYC", "TP53"} >= set(found)
    assert found
    assert all(t.get_fontstyle() == "italic" for t in found.values())
    same = drawn(SEVERAL, labels=labels.dropna().to_dict())
    assert texts(same) == texts(page)
    array = xr.DataArray(["MYC", "TP53"], {"gene": ["g0", "g30"]}, "gene")
    assert texts(drawn(SEVERAL, labels=array)) == texts(page)


def test_labels_with_signs_of_mathtext_stay_text():
    name = SEVERAL.hubs(1).index[0]
    assert "a$b$c" in texts(drawn(SEVERAL, labels={name: "a$b$c"}))


def test_names_of_samples_are_upright():
    frame = pd.DataFrame({"sample_0": [0, 1], "sample_1": [1, 2], "king": [0.25, 0.3]})
    page = drawn(Network(frame, ["a", "b", "c"], "sample", "king"), labels={"b": "mother"})
    assert not any(t.get_fontstyle() == "italic" for t in page.axes[0].texts)
    assert "Edge: kinship" in texts(page)


def test_listed_names_are_written_and_no_others():
    page = drawn(SEVERAL, labels=["g3", "g40", "g43"])
    written = [t for t in page.axes[0].texts if t.get_bbox_patch() is not None]
    assert sorted(t.get_text() for t in written) == ["g3", "g40", "g43"]
    check_overlaps(page)


def test_marked_nodes_have_a_ring_and_a_name():
    page = drawn(SEVERAL, marked=["g43"], hubs=0)
    written = [t.get_text() for t in page.axes[0].texts if t.get_bbox_patch() is not None]
    assert written == ["g43"]
    assert sum(to_hex(c) == "#1a1d21" for c in nodes(page).get_edgecolors()) == 1


def test_a_name_without_room_is_a_warning():
    with pytest.warns(UserWarning, match=r"no room for the name 'g.*use a wider page"):
        drawn(network(nx.complete_graph(40)), 30, labels=[f"g{k}" for k in range(40)])


def test_hubs_limits_names():
    def written(hubs: int) -> int:
        page = drawn(SEVERAL, hubs=hubs)
        return sum(t.get_bbox_patch() is not None for t in page.axes[0].texts)

    assert written(0) == 0
    assert 0 < written(1) < written(3)


def test_colour_by_categories_and_numbers():
    kinds = pd.Series(["kinase", "receptor"] * 22, name="class")
    page = drawn(SEVERAL, colour_by=kinds)
    assert {"class: nodes", "kinase", "receptor", "22"} <= set(texts(page))
    colours = [to_hex(c) for c in nodes(page).get_facecolors()]
    assert colours.count(GROUPS[0]) == colours.count(GROUPS[1]) == 22
    numbers = pd.Series([1.0, np.nan, 3.0, 2.0] * 11, name="fold change")
    page = drawn(SEVERAL, colour_by=numbers)
    assert {"fold change", "1", "2", "3"} <= set(texts(page))
    check_overlaps(page)


def test_long_names_are_cut():
    long = {name: f"{name} with a very long description of its function" for name in SEVERAL.names}
    check_overlaps(drawn(SEVERAL, labels=long))


def test_missing_values_of_edges_are_the_weakest():
    frame = pd.DataFrame({"gene_0": [0, 1], "gene_1": [1, 2], "tau": [np.nan, 0.9]})
    page = drawn(Network(frame, ["a", "b", "c"], "gene"))
    assert len(edges(page).get_segments()) == 2
    assert edges(page).get_linewidths()[0] == pytest.approx(0.35)


def test_statistics_without_bounds_end_at_their_maximum():
    frame = pd.DataFrame({"sample_0": [0, 1], "sample_1": [1, 2], "gcta": [0.4, 1.2]})
    found = strength_of(links_of(Network(frame, ["a", "b", "c"], "sample", "gcta")))
    assert (found.low, found.high) == (pytest.approx(0.36), 1.2)


class TestManyNodes:
    graph = nx.random_partition_graph([60] * 10, 0.15, 0.001, seed=1)

    def test_communities_are_bubbles(self):
        pairs = network(self.graph)
        page = drawn(pairs)
        bubbles = next(c for c in page.axes[0].collections if c.get_label() == "communities")
        sizes = pairs.communities().value_counts()
        assert len(bubbles.get_offsets()) == len(sizes)
        areas = bubbles.get_sizes()
        np.testing.assert_allclose(areas / areas[0], sizes.to_numpy() / sizes.iloc[0])
        assert "Too many to draw one by one (limit=400)" in note(page)
        found = boxes(page)
        touch = (found[:, None, :2] < found[:, 2:]) & (found[:, None, 2:] > found[:, :2])
        assert touch.all(axis=-1).sum() == len(found)

    def test_a_higher_limit_draws_the_nodes(self):
        pairs = network(self.graph)
        page = drawn(pairs, limit=1000)
        assert len(nodes(page).get_offsets()) == len(pairs.degree())

    def test_small_communities_are_left_out_and_counted(self):
        pairs = network(nx.disjoint_union(self.graph, union(2, 2, 3)))
        assert "Not drawn: 3 of 13 communities, 7 nodes" in note(drawn(pairs, min_component=4))

    def test_many_edges_are_pixels_and_a_warning_says_so(self):
        with pytest.warns(UserWarning, match="hold the 3,100 edges as an image"):
            page = drawn(network(nx.gnm_random_graph(100, 3100, seed=1)), limit=500)
        assert edges(page).get_rasterized()
        assert "image" not in note(page)


class TestPlaces:
    def test_a_clique_is_round_and_a_path_is_straight(self):
        links = links_of(network(nx.complete_graph(6)))
        at = shape_of(links, np.arange(6))
        assert np.ptp(at[:, 0]) == pytest.approx(np.ptp(at[:, 1]), rel=0.2)
        path = shape_of(links_of(network(nx.path_graph(12))), np.arange(12))
        assert np.ptp(path[:, 0]) > 4 * np.ptp(path[:, 1])

    def test_neighbours_are_near(self):
        links = links_of(network(nx.random_geometric_graph(80, 0.2, seed=3)))
        group = links.components[0]
        at, ends = shape_of(links, group), ends_of(links, group)
        joined = np.hypot(*(at[ends[0]] - at[ends[1]]).T).mean()
        assert joined < 0.5 * np.hypot(*(at[:, None] - at).T).mean()

    def test_equal_places_are_pushed_apart_inside_of_the_box(self):
        radii = np.full(12, 0.8)
        ends = np.zeros((2, 0), "i8")
        at = apart(np.full((12, 2), 5.0), radii, 0.3, (10.0, 8.0), ends)
        distance = np.hypot(*(at[:, None] - at).T)
        np.fill_diagonal(distance, np.inf)
        assert distance.min() >= 1.6
        assert ((at >= 0.8) & (at <= np.array([10, 8]) - 0.8)).all()

    def test_discs_move_off_the_edges_of_others(self):
        at = np.array([[1.0, 5.0], [9.0, 5.0], [5.0, 5.1]])
        found = apart(at, np.full(3, 0.6), 0.3, (10.0, 10.0), np.array([[0], [1]]))
        assert abs(found[2, 1] - found[:2, 1].mean()) > 0.7

    def test_components_fill_their_box(self):
        at = into_box(np.random.default_rng(0).normal(size=(9, 2)), np.full(9, 0.5), 30, 30)
        assert at.min() >= 0.5 - 1e-9
        assert at.max() == pytest.approx(29.5)


class TestErrors:
    def test_no_edge(self):
        frame = pd.DataFrame({"gene_0": [], "gene_1": [], "tau": []}).astype({"gene_0": int})
        with pytest.raises(ValueError, match="there is no edge to draw"):
            paper_network(Network(frame, ["a"], "gene"))

    def test_no_component(self):
        with pytest.raises(ValueError, match=r"min_component=30 nodes; the largest has 24 nodes"):
            paper_network(SEVERAL, min_component=30)

    def test_labels_of_nobody(self):
        with pytest.raises(ValueError, match=r"no label for any of the 44 variables.*'G7'"):
            paper_network(SEVERAL, labels={"G7": "MYC"})

    @pytest.mark.parametrize("option", ["labels", "marked"])
    def test_unknown_names(self, option):
        with pytest.raises(KeyError, match=rf"{option}\[1\] is 'g44', which is no variable.*mean"):
            paper_network(SEVERAL, **{option: ["g1", "g44"]})

    @pytest.mark.parametrize("option", ["labels", "marked"])
    def test_a_text(self, option):
        with pytest.raises(TypeError, match=f"{option} is the text 'g1'; give a list"):
            paper_network(SEVERAL, **{option: "g1"})

    def test_hubs(self):
        with pytest.raises(ValueError, match="hubs is -1"):
            paper_network(SEVERAL, hubs=-1)

    def test_labels_without_names(self):
        with pytest.raises(ValueError, match="one dimension with a coordinate"):
            paper_network(SEVERAL, labels=xr.DataArray(["a"], dims="gene"))


def test_own_axes_of_another_height():
    for size in ((4, 5), (4, 2), (7, 3)):
        page = Page(size)
        axes = draw_on(paper_network(SEVERAL), page.add_axes((0.1, 0.1, 0.8, 0.8)))
        page.draw_without_rendering()
        frame = axes.get_window_extent()
        found = boxes(page)
        assert (found[:, :2] >= frame.min - 1).all()
        assert (found[:, 2:] <= frame.max + 1).all()


def test_text_is_as_wide_as_measured():
    page = drawn(SEVERAL)
    for text in page.axes[0].texts:
        look = {"bold": text.get_fontweight() == "bold", "italic": text.get_fontstyle() == "italic"}
        width = text_size(text.get_text(), text.get_fontsize(), **look)[0] / 25.4 * page.dpi
        assert text.get_window_extent().width == pytest.approx(width, rel=0.02, abs=3)


def save(path: str) -> None:
    write(drawn(SEVERAL, labels=["g1", "g40"]), Path(path), "svg")


def test_the_file_is_the_same_for_every_order_of_hashes(tmp_path):
    here, there = (str(tmp_path / f"{name}.svg") for name in ("here", "there"))
    save(here)
    code = f"from tests.kendall.plots.test_paper_network import save; save({there!r})"
    run("-c", code, PYTHONHASHSEED=other_hashes())
    assert Path(here).read_bytes() == Path(there).read_bytes()


def test_it_is_the_paper_form_of_its_kind():
    found = [result for result in RESULTS if "network" in result.kinds]
    assert [result.papers["network"] for result in found] == [paper_network]


def test_plot_saves_it(tmp_path):
    pairs = genobit.sample_expression().genobit.kendall_pairs(threshold=0.7)
    figure = pairs.plot("network", min_component=4, hubs=1)
    figure.save(tmp_path / "network.svg", width_mm=90)
    assert ">Community (Louvain): first hub, size</text>" in (tmp_path / "network.svg").read_text()
    page = Page((4, 4))
    assert pairs.plot("network", ax=page.add_subplot()).texts


def test_leukemia(shared_data, tmp_path):
    folder = shared_data / "all_leukemia"
    if not folder.is_dir():
        pytest.skip("all_leukemia is absent")
    with np.load(folder / "all_leukemia.npz", allow_pickle=True) as data:
        values, genes = data["values"], data["genes"].astype(str)
    top = np.sort(np.argsort(-values.var(axis=1), kind="stable")[:500])
    expression = xr.DataArray(values[top], {"gene": genes[top]}, ("gene", "samples"))
    # Two pairs have |tau| = 0.5 exactly and join a component of 4 genes and another gene.
    pairs = expression.genobit.kendall_pairs(threshold=0.5000001)
    symbols = {"37039_at": "HLA-DRA", "35016_at": "CD74", "38319_at": "CD3D", "2059_s_at": "LCK"}
    for width in (90, 180):
        with warnings.catch_warnings(action="error"):
            page = drawn(pairs, width, labels=symbols, min_component=4)
        check_overlaps(page)
        check_discs(page)
        assert note(page).startswith("145 of ")
        assert ", 341 of 389 edges" in note(page)
        assert {"HLA-DRA", "CD74", "CD3D", "LCK"} <= set(texts(page))
    write(page, tmp_path / "network.pdf", "pdf")
    assert (tmp_path / "network.pdf").stat().st_size < 200_000
