"""The Kendall explorer by its traits: no browser, no kernel, so every change is at once."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
from types import SimpleNamespace

import ipywidgets
import numpy as np
import pandas as pd
import pytest
import traitlets
import xarray as xr
from matplotlib.text import Text

import genobit as gb
from genobit.data.pairs.network import Network
from genobit.kendall.explorer import data as correlated_module
from genobit.kendall.explorer.data import KendallData
from genobit.kendall.explorer.explorer import KendallExplorer
from genobit.kendall.plots.communities import CommunityLayout
from genobit.kendall.plots.network import NetworkLayout
from tests.helpers.explorers import said

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def expr() -> xr.DataArray:
    """The first 250 genes of the simulated ones: some of each module."""
    return gb.sample_expression()[:250]


@pytest.fixture(scope="module")
def pairs(expr: xr.DataArray) -> Network:
    return expr.genobit.kendall_pairs(threshold=0.2, fdr=1.0).to_network()


@pytest.fixture
def explorer(expr: xr.DataArray, pairs: Network) -> KendallExplorer:
    return expr.genobit.explore.kendall(pairs, threshold=0.5)


@pytest.fixture(scope="module")
def ds() -> xr.Dataset:
    """Two blocks of six variants in linkage disequilibrium, and three by themselves."""
    generator = np.random.default_rng(3)
    blocks = generator.integers(0, 2, (2, 40, 2)).repeat(6, axis=0)
    calls = np.concatenate([blocks, generator.integers(0, 2, (3, 40, 2))]).astype("int8")
    flipped = generator.random(calls.shape) < 0.04
    calls = np.where(flipped, 1 - calls, calls).astype("int8")
    calls[2, 5] = -1
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "variant_id": ("variants", np.array([f"rs{k}" for k in range(15)])),
            "variant_block": ("variants", np.repeat(["a", "b", "none"], [6, 6, 3])),
            "sample_id": ("samples", np.array([f"s{k}" for k in range(40)])),
            "sample_sex": ("samples", np.tile([1, 2], 20)),
        }
    )


def count(explorer: KendallExplorer) -> int:
    return int(re.search(r">([\d,]+) edge", explorer.count_line.value)[1].replace(",", ""))


def control(explorer: KendallExplorer, name: str) -> ipywidgets.Widget:
    """The control or text box of an explorer with the CSS class "genobit-kendall-{name}"."""
    inside = [*explorer.children]
    while inside:
        widget = inside.pop()
        if f"genobit-kendall-{name}" in widget._dom_classes:
            return widget
        inside += getattr(widget, "children", ())
    raise AssertionError(name)


class TestThreshold:
    @pytest.mark.parametrize("threshold", [0.3, 0.55, 0.7])
    def test_counts_what_kendall_pairs_finds(self, explorer, expr, threshold):
        explorer.threshold = threshold
        expected = expr.genobit.kendall_pairs(threshold=threshold, fdr=None).to_network()
        assert count(explorer) == len(expected)
        found = explorer.pairs.to_dataframe()
        ends = ["gene_0", "gene_1", "tau"]
        pd.testing.assert_frame_equal(
            found.sort_values(ends)[ends].reset_index(drop=True),
            expected.to_dataframe().sort_values(ends)[ends].reset_index(drop=True),
        )
        assert explorer._histogram._degree.sum() == 2 * len(expected)

    @pytest.mark.parametrize("fdr", [1e-3, 1e-10])
    def test_by_fdr(self, explorer, expr, fdr):
        explorer.threshold_by, explorer.fdr = "fdr", fdr
        expected = expr.genobit.kendall_pairs(threshold=0.2, fdr=fdr).to_network()
        assert count(explorer) == len(expected)
        assert "FDR" in explorer.count_line.value
        assert ">|τ| ≥ 0.20</span>" in explorer.count_line.value

    def test_tau_is_not_computed_again(self, explorer, monkeypatch):
        monkeypatch.setattr(explorer.correlated, "candidates", lambda: 1 / 0)
        monkeypatch.setattr(explorer.correlated, "_pairs", lambda _floor: 1 / 0)
        explorer.threshold = 0.6
        assert not explorer.status.startswith("Error")

    def test_nothing_left_says_what_to_do(self, explorer):
        explorer.threshold = 0.99
        assert count(explorer) == 0
        assert "move the slider to the left. The strongest pair has 0." in said(explorer._network)
        assert said(explorer._table) == said(explorer._heatmap) == "There is no edge to show."
        assert "0 edges, <span" in explorer.count_line.value
        assert explorer.count_line.value.endswith(">|τ| ≥ 0.99</span></span>")
        explorer.threshold = 0.5
        assert not said(explorer._network)
        explorer.threshold_by, explorer.fdr = "fdr", 0.0
        assert "move the slider to the right" in said(explorer._network)

    def test_without_q_values_there_is_no_fdr(self, expr):
        explorer = expr.genobit.explore.kendall(expr.genobit.kendall_pairs(0.5, None))
        assert not explorer.has_fdr
        assert control(explorer, "threshold-by").disabled

    def test_begins_where_there_is_something_to_see(self, expr):
        noise = expr.copy(data=np.random.default_rng(1).normal(size=expr.shape))
        explorer = noise.genobit.explore.kendall()
        assert 0 < explorer.threshold < 0.5
        assert count(explorer) > 100

    def test_floor_bounds_the_number_of_edges(self, expr, monkeypatch):
        monkeypatch.setattr(correlated_module, "DRAWN", 60)
        monkeypatch.setattr(correlated_module, "HELD", 2_000)
        explorer = expr.genobit.explore.kendall()
        held = explorer._candidates
        assert 0 < explorer.floor < 0.6
        assert len(held.strength) <= 2_000
        assert held.strength.min() >= explorer.floor
        kept = f"{len(held.strength):,} of |τ| ≥ {explorer.floor:.2f}"
        assert f"{kept} (weaker pairs are not shown)" in explorer.status
        assert 0 <= explorer.floor - control(explorer, "threshold").min < 0.01


class TestNetwork:
    def test_draws_real_pictures(self, drawn, explorer):
        for view in ("network", "heatmap", "histogram"):
            assert not said(getattr(explorer, f"_{view}"))
        for tab, view in (("edges", "table"), ("variables", "variables")):
            assert said(getattr(explorer, f"_{view}")) == "computing …"
            explorer.tab = tab
            assert not said(getattr(explorer, f"_{view}"))
        explorer.threshold = 0.4
        explorer.pair = explorer.pairs.to_dataframe()[["gene_0", "gene_1"]].iloc[0].tolist()
        explorer.colour_by, explorer.colour_points_by = "gene_module", "sample_condition"
        assert not said(explorer._scatter)
        assert not explorer.status.startswith("Error")

    def test_communities_open_and_close(self, explorer, monkeypatch):
        monkeypatch.setattr(correlated_module, "NODES", 20)
        explorer.threshold, explorer.tab = 0.45, "edges"
        bubbles = explorer._scene.laid
        assert isinstance(bubbles, CommunityLayout)
        explorer._network._tapped(bubbles.x[1], bubbles.y[1])
        members = bubbles.links.variables[bubbles.links.communities[1]]
        assert explorer.opened == tuple(members.tolist())
        assert set(explorer._scene.shown.variables) <= set(members)
        ends = explorer._table.table[["gene_0", "gene_1"]].to_numpy()
        assert np.isin(ends, members).all()
        assert "of this community" in explorer._table_line.value
        explorer.close_community()
        assert isinstance(explorer._scene.laid, CommunityLayout)

    def test_a_click_beside_everything_does_nothing(self, explorer):
        explorer._network._tapped(-100.0, -100.0)
        assert explorer.pair is None
        assert explorer.variable is None

    def test_a_click_on_a_node_lists_its_edges(self, explorer):
        laid = explorer._scene.laid
        assert isinstance(laid, NetworkLayout)
        hub = laid.links.hubs()[0]
        explorer.tab = "edges"
        explorer._network._tapped(laid.x[hub], laid.y[hub])
        assert explorer.variable == laid.links.variables[hub]
        assert len(explorer._table.table) == laid.links.degree[hub]
        assert f"edges of {laid.links.names[hub]}" in explorer._table_line.value
        explorer.list_all()
        assert len(explorer._table.table) == min(500, count(explorer))

    def test_variables_of_no_edge_list_nothing(self, explorer):
        explorer.tab = "edges"
        lonely = np.setdiff1d(np.arange(250), explorer._scene.links.variables)[0]
        explorer.variable = int(lonely)
        assert said(explorer._table) == "There is no such edge."

    def test_heatmap_has_the_hubs(self, explorer, monkeypatch):
        monkeypatch.setattr(correlated_module, "IN_HEATMAP", 12)
        explorer.threshold = 0.4
        links = explorer._scene.links
        assert len(explorer._scene.heatmap) == 12
        degrees = links.degree[np.isin(links.variables, explorer._scene.heatmap)]
        assert degrees.min() >= np.sort(links.degree)[-12]

    @pytest.mark.parametrize("label", ["gene_module", "gene_loading", ""])
    def test_colours(self, explorer, label):
        explorer.colour_by = label
        _, colours = explorer._network._content
        assert len(colours.values) == explorer._scene.shown.size
        assert not explorer.status.startswith("Error")

    def test_name_of_a_label_without_its_prefix(self, explorer):
        explorer.colour_by = "module"
        assert explorer.colour_by == "gene_module"


class TestPair:
    def test_by_an_edge(self, explorer):
        laid = explorer._scene.laid
        # An edge of a pair, with no other edge near its middle.
        pair = next(group for group in laid.links.components[::-1])
        edge = np.flatnonzero(np.isin(laid.links.first, pair))[0]
        x0, y0, x1, y1 = laid.ends(np.array([edge]))[0]
        explorer._network._tapped((x0 + x1) / 2, (y0 + y1) / 2)
        expected = laid.links.variables[[laid.links.first[edge], laid.links.second[edge]]]
        assert explorer.pair == tuple(expected.tolist())

    def test_by_a_cell(self, explorer):
        scene = explorer._scene
        explorer._heatmap._tapped(4.2, 1.1)
        order = scene.ordered.tree.order
        assert explorer.pair == tuple(sorted(scene.heatmap[order[[1, 4]]].tolist()))
        explorer._heatmap._tapped(3.0, 3.0)
        assert explorer.pair is not None

    def test_by_a_row(self, explorer):
        explorer.tab = "edges"
        explorer._table._picks._picked([3])
        row = explorer._table.table.iloc[3]
        assert explorer.pair == (row["gene_0"], row["gene_1"])
        assert explorer._table._picks.shown == {3}

    def test_has_tau_p_and_values_of_scipy(self, explorer, expr):
        from scipy.stats import kendalltau

        for pair in (explorer._scene.heatmap[[0, 5]].tolist(), [0, 249]):
            explorer.pair = pair
            shown = explorer._pair_found
            x, y = shown.x, shown.y
            found = kendalltau(expr[pair[0]], expr[pair[1]])
            assert shown.tau == pytest.approx(found.statistic, abs=1e-14)
            assert shown.pvalue == pytest.approx(found.pvalue, rel=1e-9)
            np.testing.assert_array_equal(x, expr[pair[0]])
            assert (x.name, y.name) == tuple(expr.gene.values[pair])

    def test_has_the_place_of_the_histogram(self, explorer):
        def shown():
            views = explorer._histogram, explorer._scatter
            return [view.box.layout.display for view in views]

        assert shown() == ["flex", "none"]
        explorer.pair = (0, 5)
        assert shown() == ["none", "flex"]
        explorer.clear_choice()
        assert shown() == ["flex", "none"]

    def test_bad_places(self, explorer):
        with pytest.raises(traitlets.TraitError, match="variables are 0 to 249"):
            explorer.pair = (0, 250)
        with pytest.raises(traitlets.TraitError, match="two variables"):
            explorer.pair = (4, 4)
        with pytest.raises(traitlets.TraitError, match="use one of"):
            explorer.colour_by = "gene_length"
        with pytest.raises(traitlets.TraitError, match="use one of"):
            explorer.colour_points_by = "gene_module"


class TestSaving:
    def test_every_format(self, explorer, tmp_path):
        import networkx as nx

        n_edges = count(explorer)
        table = pd.read_csv(explorer.save(tmp_path / "edges.csv"))
        assert len(table) == n_edges
        assert nx.read_graphml(explorer.save(tmp_path / "e.graphml")).number_of_edges() == n_edges
        document = json.loads(explorer.save(tmp_path / "e.cyjs").read_text(encoding="utf-8"))
        assert len(document["elements"]["edges"]) == n_edges
        assert len(gb.open_pairs(explorer.save(tmp_path / "e.parquet")).to_dataframe()) == n_edges
        assert explorer.status.startswith(f"Saved {n_edges:,} edges to ")

    def test_refusals(self, explorer, tmp_path):
        path = explorer.save(tmp_path / "edges.csv")
        with pytest.raises(FileExistsError, match="another name"):
            explorer.save(path)
        with pytest.raises(ValueError, match="end it with"):
            explorer.save(tmp_path / "edges.txt")
        explorer.threshold = 1.0
        with pytest.raises(ValueError, match="lower the threshold"):
            explorer.save(tmp_path / "none.csv")

    def test_menu_saves_edges_and_figures(self, explorer, tmp_path):
        explorer.variable = int(explorer._scene.links.variables[0])
        control(explorer, "file").value = str(tmp_path / "found")
        texts = [text for text, _ in explorer.menu.options]
        for entry in ("edges (CSV)", "figure (PDF)"):
            explorer.menu.index = texts.index(entry)
        assert (tmp_path / "found.csv").exists()
        assert (tmp_path / "found.pdf").read_bytes().startswith(b"%PDF")
        explorer.threshold = 1.0
        explorer.menu.index = texts.index("figure (PDF)")
        assert explorer.status.startswith("Error: there is no network to draw")


class TestFrame:
    def test_card_has_a_pair(self, explorer, pairs):
        edge = explorer.pairs.to_dataframe().iloc[0]
        explorer.pair = edge[["gene_0", "gene_1"]].tolist()
        assert f"<td>τ</td><td>{edge['tau']:.3f}</td>" in explorer.card.value
        assert f"<td>q</td><td>{edge['qvalue']:.2g}</td>" in explorer.card.value
        assert "<td>n</td><td>160</td>" in explorer.card.value
        explorer.tab = "edges"
        assert explorer.card.layout.display == "none"
        explorer.clear_choice()
        assert not explorer.card.value

    def test_card_has_what_was_chosen_last(self, explorer):
        links = explorer._scene.links
        hub = links.hubs()[0]
        explorer.pair = (0, 5)
        explorer.variable = int(links.variables[hub])
        assert f"<h4>{links.names[hub]}</h4>" in explorer.card.value
        assert f"<td>edges</td><td>{links.degree[hub]}</td>" in explorer.card.value
        explorer.threshold = 0.3
        more = explorer._scene.links
        again = more.degree[more.variables == explorer.variable][0]
        assert again > links.degree[hub]
        assert f"<td>edges</td><td>{again}</td>" in explorer.card.value
        explorer.list_all()
        assert "G0000 × G0005" in explorer.card.value

    def test_table_of_variables(self, explorer):
        explorer.tab = "variables"
        links, table = explorer._scene.links, explorer._variables.table
        assert table["edges"].tolist() == sorted(links.degree, reverse=True)
        explorer._variables._picks._picked([2])
        assert explorer.variable == table.index[2]
        assert f"{len(table)} variables with an edge" in explorer._variables_line.value

    def test_python_opens_the_same_view(self, expr, pairs, explorer):
        explorer.threshold_by, explorer.fdr, explorer.tab = "fdr", 1e-6, "edges"
        explorer.pair, explorer.colour_by = (0, 5), "gene_module"
        explorer.variable = 3
        again = eval(explorer.python(), {"ds": expr, "pairs": pairs})
        names = ("threshold_by", "threshold", "fdr", "pair", "variable", "opened", "colour_by")
        names += ("colour_points_by", "tab")
        assert [getattr(again, k) for k in names] == [getattr(explorer, k) for k in names]
        # The seconds are last.
        said = [one.status.rpartition("; ")[0] for one in (again, explorer)]
        assert said[0] == said[1] != ""

    def test_python_names_data_whose_labels_pandas_keeps(self, expr, monkeypatch):
        texts = pd.Index(expr.gene.values.astype(str), dtype="str")
        mine = expr.drop_vars("gene").assign_coords(gene=texts)
        shell = SimpleNamespace(user_ns={"other": expr, "mine": mine})
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
        explorer = mine.genobit.explore.kendall(threshold=0.6)
        assert explorer.python() == "mine.genobit.explore.kendall()"

    def test_figure_is_the_network_in_view(self, explorer):
        edges = explorer.pairs
        size = f"{np.unique(edges.to_dataframe()[['gene_0', 'gene_1']]).size} variables"
        assert f"network of {size}, {len(edges)} edges" in repr(explorer.figure())

    @pytest.mark.parametrize("limits", [{}, {"threshold": 0.31}, {"threshold": 0.31, "fdr": 0.02}])
    def test_figure_and_table_state_the_limits_in_view(self, expr, limits):
        pairs = expr.genobit.kendall_pairs(**limits) if limits else None
        explorer = expr.genobit.explore.kendall(pairs=pairs, threshold=0.6)
        for by, words in (("tau", r"|τ| ≥ 0.6"), ("fdr", "q ≤ 1e-06")):
            explorer.threshold_by, explorer.fdr = by, 1e-6
            texts = [t.get_text() for t in explorer.figure().to_matplotlib().findobj(Text)]
            (note,) = [text for text in texts if "edges (" in text]
            assert f"{len(explorer.pairs)} edges" in note
            assert words in note
            assert ("0.31" in note) is (by == "fdr" and "threshold" in limits)
            assert ("q ≤ 0.02" in note) is (by == "tau" and "fdr" in limits)
            assert "q ≤ 1)" not in note
        assert explorer.pairs.attrs["fdr"] == 1e-6


class TestSearch:
    @pytest.fixture
    def box(self, explorer):
        return control(explorer, "search")

    def test_names(self, explorer, box, expr):
        names = expr.gene.values
        box.value = str(names[7])
        assert (explorer.variable, explorer.pair) == (7, None)
        box.value = f"{names[9]}, {names[4]}"
        assert explorer.pair == (4, 9)
        explorer.pair = (1, 2)
        assert box.value == f"{names[1]}, {names[2]}"
        box.value = ""
        assert (explorer.variable, explorer.pair) == (None, None)

    def test_group(self, explorer, box, expr):
        module = explorer._scene.links.variables[explorer._scene.links.hubs()[0]]
        module = expr.gene_module.values[module]
        box.value = str(module)
        assert explorer.opened == tuple(np.flatnonzero(expr.gene_module.values == module).tolist())
        assert set(explorer._scene.shown.variables) <= set(explorer.opened)

    def test_unknown(self, explorer, box):
        box.value = "G0001, G9999"
        assert explorer.status.startswith("Error: there is no 'G9999'")
        assert explorer.pair is None
        box.value = "G0002"
        assert not explorer.status.startswith("Error")
        said = explorer.status
        box.value = "G9999"
        assert explorer.status.startswith("Error")
        explorer.try_to(explorer.list_all)
        assert explorer.status == said

    def test_samples(self, ds):
        explorer = ds.genobit.explore.kendall(threshold=0.6)
        control(explorer, "search").value = "s3 s5"
        assert explorer.selection.samples == ("s3", "s5")


class TestData:
    def test_any_order_and_name_of_dimensions(self, expr, pairs):
        turned = expr.rename(sample="donor").transpose("donor", "gene")
        explorer = turned.genobit.explore.kendall(dim="donor", threshold=0.5)
        assert len(explorer.pairs) == len(pairs.select(threshold=0.5))
        with pytest.raises(ValueError, match="dim="):
            turned.genobit.explore.kendall()

    def test_genotypes(self, drawn, ds):
        explorer = ds.genobit.explore.kendall(threshold=0.6)
        assert explorer.pairs.components().max() == 1
        assert len(explorer.pairs) == len(ds.genobit.kendall_pairs(0.6, None).to_dataframe())
        assert list(explorer.correlated.variable_labels) == ["variant_block"]
        explorer.colour_by, explorer.colour_points_by = "variant_block", "sample_sex"
        explorer.pair = (2, 3)
        x, y = explorer._pair_found.x, explorer._pair_found.y
        assert (x.name, y.name) == ("rs2", "rs3")
        dosage = ds.call_genotype.values.sum(axis=2)
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(x)), [5])
        np.testing.assert_array_equal(y, dosage[3])
        assert not explorer.status.startswith("Error")

    def test_packed_planes_are_enough(self, ds):
        explorer = ds.genobit.pack().genobit.explore.kendall(threshold=0.6)
        assert len(explorer.pairs) == len(ds.genobit.kendall_pairs(0.6, None).to_dataframe())

    def test_missing_values(self, expr):
        gaps = expr[:40].where(np.random.default_rng(2).random((40, 160)) > 0.1)
        explorer = gaps.genobit.explore.kendall(threshold=0.3)
        explorer.pair = (0, 1)
        assert not explorer.status.startswith("Error")
        assert explorer.pairs.to_dataframe()["n"].max() < 160

    def test_lazy_values(self, expr):
        explorer = expr.chunk(gene=60).genobit.explore.kendall(threshold=0.5)
        explorer.pair = (0, 1)
        assert not explorer.status.startswith("Error")

    def test_nothing_correlated(self):
        constant = xr.DataArray(np.ones((3, 8)), dims=("gene", "sample"))
        explorer = constant.genobit.explore.kendall()
        assert "there is no network" in said(explorer._network)

    def test_one_variable(self):
        with pytest.raises(ValueError, match="a correlation needs two"):
            xr.DataArray(np.ones((1, 8)), dims=("gene", "sample")).genobit.explore.kendall()

    def test_pairs_of_others_are_refused(self, expr, pairs):
        with pytest.raises(ValueError, match="has 250 'gene', and the data have 249"):
            expr[1:].genobit.explore.kendall(pairs)

    def test_what_fails_is_a_message(self, expr, monkeypatch):
        def fail(*_arguments):
            raise ValueError("no observation is left; choose others")

        monkeypatch.setattr(KendallData, "candidates", fail)
        explorer = expr.genobit.explore.kendall()
        assert explorer.status == "Error: no observation is left; choose others"
        assert "see the message below" in said(explorer._network)


def test_only_the_last_of_many_thresholds_is_arranged(expr, pairs, monkeypatch):
    arranged, at_rest = [], threading.Event()
    # Instead of some time: until the slider stands still.
    monkeypatch.setattr(
        "genobit.kendall.explorer.explorer.time", SimpleNamespace(sleep=lambda _: at_rest.wait(60))
    )
    scene = KendallData.scene

    def counted(self, table, opened):
        arranged.append(len(table))
        return scene(self, table, opened)

    monkeypatch.setattr(KendallData, "scene", counted)

    async def slide() -> KendallExplorer:
        explorer = expr.genobit.explore.kendall(pairs, threshold=0.5)
        at_rest.set()
        while explorer.busy:
            await asyncio.sleep(0.02)
        arranged.clear()
        at_rest.clear()
        for k in range(1, 10):
            explorer.threshold = 0.5 - 0.01 * k
            await asyncio.sleep(0.02)
        last = len(pairs.select(threshold=explorer.threshold))
        while count(explorer) != last:
            await asyncio.sleep(0.02)
        assert not arranged
        at_rest.set()
        while explorer.busy:
            await asyncio.sleep(0.02)
        return explorer

    explorer = asyncio.run(slide())
    assert arranged == [count(explorer)]
