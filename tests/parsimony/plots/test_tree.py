from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import xarray as xr

import genobit  # noqa: F401  the accessor
from genobit.launcher.plots import parsimony_tree
from genobit.parsimony.plots.layers import layers_of
from genobit.parsimony.plots.layout import arrange, tree_of
from genobit.parsimony.plots.pixel_layers import svg
from genobit.parsimony.plots.states import (
    UNSURE,
    changes_of,
    colours_of_states,
    members,
    site_states,
)
from genobit.parsimony.plots.tree import draw_tree, title_of
from genobit.visual.placing import LETTER
from tests.helpers.trees import random_tree

TREE = "((a,b),(c,(d,e)),f);"


@pytest.fixture(scope="module")
def aln() -> xr.DataArray:
    rows = ["AACA", "ATCA", "GTCC", "GTC?", "GTCG", "AAC-"]
    return xr.DataArray(
        [list(row) for row in rows],
        {"taxa": list("abcdef")},
        ("taxa", "sites"),
        None,
        {"kind": "dna"},
    )


@pytest.fixture(scope="module")
def ancestors(aln) -> xr.Dataset:
    return aln.genobit.ancestral_states(TREE)


def made(n_tips: int, seed: int = 0) -> xr.Dataset:
    generator, parents = np.random.default_rng(seed), random_tree(n_tips, seed)
    return xr.Dataset(
        {
            "states": (("nodes", "sites"), generator.choice(list("ACGT"), (parents.size, 3))),
            "node_parent": ("nodes", parents),
            "branch_changes": ("nodes", generator.poisson(4, parents.size)),
        },
        {"node": ("nodes", [f"taxon {k}" for k in range(parents.size)])},
    )


def layer(layers, label):
    return next(found for found in layers if found.label == label)


class TestStates:
    def test_changes_are_those_of_the_branches(self, aln):
        for resolve in ("acctran", "deltran", "sets"):
            found = aln.genobit.ancestral_states(TREE, resolve=resolve)
            counts = [len(changes_of(found, k)) for k in range(found.sizes["nodes"])]
            assert counts == found["branch_changes"].values.tolist()

    def test_changes_lead_from_parent_to_node(self, ancestors):
        states, parents = ancestors["states"].values, ancestors["node_parent"].values
        for node in range(len(parents) - 1):
            found = changes_of(ancestors, node)
            assert (states[parents[node], found["site"]] == found["from"]).all()
            assert (states[node, found["site"]] == found["to"]).all()
            assert (found["from"] != found["to"]).all()

    def test_site(self, aln, ancestors):
        length = aln.genobit.parsimony(TREE)["changes"].values
        for site in range(4):
            assert site_states(ancestors, site).changed.sum() == length[site]

    def test_nucleotides_keep_their_colours(self):
        assert colours_of_states("AC")["C"] == colours_of_states("CGT")["C"]
        assert len(set(colours_of_states("ACGT-").values())) == 5

    def test_many_states_share_the_last_colour(self):
        states = [chr(ord("A") + k) for k in range(20)]
        colours = colours_of_states(states + states[:8])
        assert list(colours) == states
        assert len({colours[state] for state in states[:8]}) == 8
        assert len({colours[state] for state in states[8:]}) == 1

    def test_several_states_are_white(self, aln):
        found = aln.genobit.ancestral_states(TREE, resolve="sets")
        shown = site_states(found, 1)
        several = [len(members(state)) != 1 for state in shown.states]
        assert any(several)
        assert [colour == UNSURE for colour in shown.colours] == several
        assert shown.key["several or unknown"] == UNSURE


class TestTree:
    @pytest.mark.parametrize("layout", ["rectangular", "radial"])
    @pytest.mark.parametrize("lengths", ["changes", "equal"])
    def test_draws(self, ancestors, layout, lengths):
        picture = parsimony_tree(ancestors, site=0, layout=layout, lengths=lengths)
        labels = {element.label for element in picture}
        assert {"Branches", "Nodes", "Numbers", "Names"} <= labels
        names = [*picture.Labels.Names["text"], *picture.Labels.Names_to_the_left["text"]]
        assert sorted(names) == list("abcdef")

    @pytest.mark.parametrize(
        ("choice", "value"), [("layout", "round"), ("lengths", "long"), ("numbers", "all")]
    )
    def test_refuses(self, ancestors, choice, value):
        with pytest.raises(ValueError, match=f"{choice}='{value}' is not one of"):
            parsimony_tree(ancestors, **{choice: value})

    def test_title_says_the_length(self, aln, ancestors):
        length = int(aln.genobit.parsimony(TREE)["length"])
        title = title_of(arrange(tree_of(ancestors)))
        assert title.startswith(f"length {length} changes, 6 tips")

    def test_ticks_are_where_the_site_changes(self, ancestors):
        states = site_states(ancestors, 0)
        ticks = layer(layers_of(arrange(tree_of(ancestors)), states), "Site changes")
        assert len(ticks.ends) == states.changed.sum() > 0

    @pytest.mark.parametrize("n_tips", [5, 40, 200, 1000])
    @pytest.mark.parametrize("layout", ["rectangular", "radial"])
    def test_names_do_not_overlap(self, n_tips, layout):
        placed = arrange(tree_of(made(n_tips)), layout)
        assert 6 <= placed.size <= 9
        # A line is one and a half times as high as its letters.
        assert placed.pitch * placed.every >= 1.5 * placed.size * 0.999
        written = len(placed.named)
        assert written == -(-n_tips // placed.every)
        title = title_of(placed)
        assert ("name is written" in title) == (written < n_tips)

    @pytest.mark.parametrize("layout", ["rectangular", "radial"])
    def test_numbers_do_not_overlap(self, layout):
        numbers = layer(layers_of(arrange(tree_of(made(60)), layout)), "Numbers")
        assert len(numbers.text) > 10
        half = LETTER * np.array([len(text) for text in numbers.text]) / 2
        beside = np.abs(np.subtract.outer(numbers.x, numbers.x)) < np.add.outer(half, half)
        level = np.abs(np.subtract.outer(numbers.y, numbers.y)) < 12
        assert (beside & level).sum() == len(numbers.text)

    def test_no_numbers_on_many_branches(self):
        assert not layer(layers_of(arrange(tree_of(made(100)))), "Numbers").text

    def test_support(self, ancestors):
        support = np.full(ancestors.sizes["nodes"], np.nan)
        support[7] = 88
        placed = arrange(tree_of(ancestors, support), lengths="equal")
        assert layer(layers_of(placed, numbers="support"), "Numbers").text == ["88"]
        assert "support" in layer(layers_of(placed), "Branches").about

    def test_no_change_at_all(self, ancestors):
        same = ancestors.assign(branch_changes=0 * ancestors["branch_changes"])
        placed = arrange(tree_of(same))
        assert placed.lengths == "equal"
        texts = layer(layers_of(placed), "Unit").text
        assert texts == ["there is no change on this tree"]

    def test_marked_branch_has_a_colour_of_its_own(self, ancestors):
        placed = arrange(tree_of(ancestors))
        marked = layer(layers_of(placed, marked=2), "Marked")
        np.testing.assert_array_equal(marked.ends, placed.laid.pieces[placed.laid.branch == 2])

    def test_branch_at(self, ancestors):
        placed = arrange(tree_of(ancestors))
        for node in range(len(placed.tree.parents) - 1):
            if placed.tree.changes[node]:
                x0, y0, x1, y1 = placed.laid.stems[node]
                found, distance = placed.branch_at((x0 + x1) / 2, (y0 + y1) / 2)
                assert (found, round(distance, 6)) == (node, 0)


class TestLayers:
    @pytest.mark.parametrize("layout", ["rectangular", "radial"])
    def test_columns_are_what_holoviews_sends(self, ancestors, layout):
        """The explorer replaces columns of bokeh's sources by these."""
        import holoviews as hv

        placed = arrange(tree_of(ancestors), layout)
        states = site_states(ancestors, 1)
        plot = hv.renderer("bokeh").get_plot(draw_tree(placed, states, marked=7))
        sources = {
            sub.current_frame.label: sub.handles["source"].data for sub in plot.subplots.values()
        }
        for found in layers_of(placed, states, marked=7):
            for name, values in found.columns().items():
                if name in sources[found.label] and len(values):
                    np.testing.assert_array_equal(sources[found.label][name], values, name)

    def test_svg(self, ancestors):
        placed = arrange(tree_of(ancestors.assign_coords(node=list("<&cdefghij")[:10])))
        layers = layers_of(placed, site_states(ancestors, 0))
        root = ET.fromstring(svg(layers, 730, placed.frame[1], "one\ntwo"))
        tags = [re.sub(r"\{.*\}", "", element.tag) for element in root.iter()]
        lines = sum(len(found.ends) for found in layers if hasattr(found, "ends"))
        assert tags.count("line") == lines > 20
        texts = [element.text for element in root.iter() if element.tag.endswith("text")]
        assert {"one", "two", "<", "&", "changes on a branch"} <= set(texts)


def test_a_search_names_the_call_that_draws_its_tree(aln) -> None:
    search = aln.genobit.parsimony_search("stepwise")
    with pytest.raises(ValueError, match="no plot 'tree': call ") as refused:
        search.genobit.plot("tree")
    remedy = str(refused.value).partition(": call ")[2]
    assert eval(remedy, {"aln": aln, "search": search}) is not None
    with pytest.raises(ValueError, match=r"'tree': call aln\.genobit\.anc.*\(tree\)"):
        aln.genobit.parsimony(TREE).genobit.plot("tree")
