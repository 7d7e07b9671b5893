from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import genobit as gb
from genobit.parsimony.plots.kinds import RESULTS
from genobit.parsimony.plots.paper_layout import LEAST, natural_pitch
from genobit.parsimony.plots.paper_tree import paper_tree
from genobit.parsimony.plots.states import UNSURE
from genobit.visual.paper.page import INCH, draw_on, page_of
from genobit.visual.paper.texts import fitted, width_of, wrapped
from tests.helpers.trees import random_tree
from tests.parsimony.plots.drawn import drawn, texts, words

NEWICK = "(Mouse,((Bovine,(Lemur,Tarsier)),(Human,(Gorilla,Gibbon))));"
TAXA = ["Mouse", "Bovine", "Lemur", "Tarsier", "Human", "Gorilla", "Gibbon"]


def evolved(parents: np.ndarray, n_sites: int, seed: int = 0, rate: float = 0.03) -> np.ndarray:
    """Nucleotides of the tips, changed at random along the branches."""
    generator = np.random.default_rng(seed)
    states = np.empty((parents.size, n_sites), "U1")
    states[-1] = generator.choice(list("ACGT"), n_sites)
    for node in range(parents.size - 2, -1, -1):
        changed = generator.random(n_sites) < rate
        states[node] = np.where(
            changed, generator.choice(list("ACGT"), n_sites), states[parents[node]]
        )
    return states[: parents[:-1].min()]


def newick(parents: np.ndarray, names: list[str], node: int) -> str:
    below = np.flatnonzero(parents == node)
    if not len(below):
        return f"'{names[node]}'"
    return "(" + ",".join(newick(parents, names, int(child)) for child in below) + ")"


def alignment_of(n_tips: int, n_sites: int = 120, seed: int = 0) -> tuple[xr.DataArray, str]:
    parents = random_tree(n_tips, seed)
    names = [f"Taxon_{k} sp." for k in range(n_tips)]
    aln = xr.DataArray(
        evolved(parents, n_sites, seed),
        {"taxa": names},
        ("taxa", "sites"),
        attrs={"kind": "dna"},
    )
    return aln, newick(parents, names, parents.size - 1) + ";"


@pytest.fixture(scope="module")
def aln() -> xr.DataArray:
    values = np.random.default_rng(3).choice(list("ACGT"), (7, 40), p=[0.4, 0.3, 0.2, 0.1])
    return xr.DataArray(values, {"taxa": TAXA}, ("taxa", "sites"), attrs={"kind": "dna"})


@pytest.fixture(scope="module")
def states(aln) -> xr.Dataset:
    return aln.genobit.ancestral_states(NEWICK)


@pytest.fixture(scope="module")
def gapped(aln) -> xr.DataArray:
    found = aln.copy(deep=True)
    found[2, ::3], found[4, ::4], found[5, 1::5] = "-", "R", "N"
    return found


def marks(figure: Figure, label: str):
    found = [c for c in figure.axes[0].collections if c.get_label() == f"_{label}"]
    return found[0] if len(found) == 1 else found


def boxes(figure: Figure) -> np.ndarray:
    """Ink boxes of the texts: left, top, right, bottom, in millimetres."""
    renderer, found = figure.canvas.get_renderer(), []
    for text in figure.axes[0].texts:
        box = text.get_window_extent(renderer)
        found.append([box.x0, figure.bbox.height - box.y1, box.x1, figure.bbox.height - box.y0])
    return np.array(found) / figure.dpi * INCH


def overlapping(one: np.ndarray, other: np.ndarray, depth: float) -> np.ndarray:
    """Pairs of boxes that cover each other by more than a depth in both directions."""
    wide = np.minimum(one[:, None, 2], other[:, 2]) - np.maximum(one[:, None, 0], other[:, 0])
    high = np.minimum(one[:, None, 3], other[:, 3]) - np.maximum(one[:, None, 1], other[:, 1])
    return np.argwhere((wide > depth) & (high > depth))


class TestTree:
    def test_is_registered(self, states):
        entry = next(entry for entry in RESULTS if entry.matches(states))
        assert entry.papers["tree"] is paper_tree
        assert "tree" in entry.kinds

    def test_branches_are_as_long_as_their_changes(self, states):
        paths = marks(drawn(paper_tree(states)), "branches").get_segments()[:-1]
        changes = states["branch_changes"].values[:-1]
        length = np.array([path[-1, 0] - path[-2, 0] for path in paths])
        unit = length.sum() / changes.sum()
        np.testing.assert_allclose(length, unit * changes, atol=1e-9)
        assert unit > 0

    def test_scale_bar_has_its_length(self, states):
        figure = drawn(paper_tree(states))
        ((start, end),) = marks(figure, "scale").get_segments()
        paths = marks(figure, "branches").get_segments()[:-1]
        unit = (paths[0][-1, 0] - paths[0][-2, 0]) / states["branch_changes"].values[0]
        step = int(next(re.match(r"(\d+) changes?$", t) for t in texts(figure) if "change" in t
                        and re.match(r"(\d+) changes?$", t))[1])  # fmt: skip
        assert end[0] - start[0] == pytest.approx(step * unit)

    def test_equal_lengths_have_no_scale(self, states):
        figure = drawn(paper_tree(states, lengths="equal"))
        assert marks(figure, "scale") == []
        assert "lengths not to scale" in texts(figure)
        paths = marks(figure, "branches").get_segments()[:-1]
        tips = [path[-1, 0] for path in paths[: len(TAXA)]]
        np.testing.assert_allclose(tips, tips[0])

    def test_numbers_are_the_changes(self, states):
        figure = drawn(paper_tree(states, site=None, sites=0))
        changes = [count for count in states["branch_changes"].values[:-1].tolist() if count]
        numbers = [int(text) for text in texts(figure) if text.isdecimal()]
        assert sorted(numbers) == sorted(changes)
        assert "No room" not in words(figure)

    def test_support(self, states):
        support = np.full(states.sizes["nodes"], np.nan)
        support[8] = 87.5
        figure = drawn(paper_tree(states, site=None, sites=0, numbers="support", support=support))
        assert "87.5" in texts(figure)
        assert not [text for text in texts(figure) if text.isdecimal()]

    def test_title_has_length_and_indices(self, aln, states):
        scored = aln.genobit.parsimony(NEWICK)
        title = texts(drawn(paper_tree(states, title="My tree")))[0]
        assert title == (
            f"My tree: {int(scored.length)} changes, CI {float(scored.ci):.2f}, "
            f"RI {float(scored.ri):.2f}"
        )
        assert texts(drawn(paper_tree(states, title="")))[0].startswith(f"{int(scored.length)} ")

    def test_two_tips_and_no_change(self):
        two = xr.DataArray([list("AC"), list("AG")], {"taxa": list("ab")}, ("taxa", "sites"))
        assert {"a", "b"} <= set(texts(drawn(paper_tree(two.genobit.ancestral_states("(a,b);")))))
        same = xr.DataArray([["A"]] * 4, {"taxa": list("abcd")}, ("taxa", "sites"))
        figure = drawn(paper_tree(same.genobit.ancestral_states("((a,b),(c,d));")))
        assert "no change on this tree" in texts(figure)
        assert texts(figure)[0] == "Parsimony tree: 0 changes"


class TestFocus:
    @pytest.mark.parametrize("site", [0, 11, 39])
    def test_bars_are_where_the_site_changes(self, states, site):
        figure = drawn(paper_tree(states, site=site))
        found, parents = states["states"].values[:, site], states["node_parent"].values
        changed = [k for k in range(parents.size - 1) if found[k] != found[parents[k]]]
        paths = marks(figure, "branches").get_segments()
        bars = marks(figure, "changes")
        bars = bars.get_segments() if changed else bars
        assert len(bars) == len(changed)
        for bar, node in zip(bars, changed, strict=True):
            (start, y), (end, _) = paths[node][-2:]
            assert start < bar[0, 0] < end
            assert bar[:, 1].mean() == pytest.approx(y)
        arrows = sorted(text for text in texts(figure) if "→" in text)
        assert arrows == sorted(f"{found[parents[k]]}→{found[k]}" for k in changed)

    def test_every_node_has_a_dot(self, states):
        dots = marks(drawn(paper_tree(states, site=4)), "nodes")
        assert len(dots.get_offsets()) == states.sizes["nodes"]
        colours = {tuple(colour) for colour in dots.get_facecolors()}
        assert len(colours) == len(set(states["states"].values[:, 4]))

    def test_default_is_the_informative_site_with_most_changes(self, aln, states):
        scored = aln.genobit.parsimony(NEWICK)
        informative = (scored.max_changes > scored.min_changes).values
        best = int(np.argmax(np.where(informative, scored.changes.values, -1)))
        figure = drawn(paper_tree(states, sites=0))
        bold = [t.get_text() for t in figure.axes[0].texts if t.get_fontweight() == "bold"]
        assert str(best) in bold
        assert f"state of site {best}, the informative site with most changes" in words(figure)

    def test_none_draws_no_site(self, states):
        figure = drawn(paper_tree(states, site=None, sites=0))
        assert marks(figure, "nodes") == []
        assert "site" not in texts(figure)

    def test_several_states_are_white(self, aln):
        found = aln.genobit.ancestral_states(NEWICK, resolve="sets")
        several = np.char.startswith(found["states"].values.astype(str), "{")
        site = int(np.flatnonzero(several.any(axis=0))[0])
        figure = drawn(paper_tree(found, site=site))
        white = np.array([1.0, 1.0, 1.0, 1.0])
        assert UNSURE == "#ffffff"
        faces = marks(figure, "nodes").get_facecolors()
        assert [(face == white).all() for face in faces] == several[:, site].tolist()
        assert "white: several states; bars: its certain changes" in words(figure)


class TestMatrix:
    def test_letters_and_rows(self, aln, states):
        scored = aln.genobit.parsimony(NEWICK)
        asked = [3, 15, 20, 7]
        figure = drawn(paper_tree(states, site=1, sites=asked))
        columns = marks(figure, "letters")
        assert len(columns) == 5
        order = [1, *sorted(asked, key=lambda k: (int(scored.changes[k]), k))]
        at: dict[str, list] = {}
        for text in figure.axes[0].texts:
            at.setdefault(text.get_text(), []).append(text.get_position())
        y = {name: at[name][0][1] for name in TAXA}
        for site, dots in zip(order, columns, strict=True):
            x = dots.get_offsets()[0, 0]
            header = [p for p in at[str(site)] if p[0] == x]
            assert len(header) >= 1
            here = {
                round(p[1], 3): letter for letter in "ACGT" for p in at.get(letter, []) if p[0] == x
            }
            assert len(here) == len(TAXA)
            by_y = [here[k] for k in sorted(here)]
            rows = sorted(TAXA, key=y.__getitem__)
            assert by_y == [str(aln.sel(taxa=name).values[site]) for name in rows]

    def test_rows_are_changes_and_consistency(self, aln, states):
        scored = aln.genobit.parsimony(NEWICK)
        figure = drawn(paper_tree(states, site=None, sites=[5]))
        found = texts(figure)
        assert str(int(scored.changes[5])) in found
        index = float(scored.site_ci[5])
        assert ("1" if index == 1 else f"{index:.2f}"[1:]) in found

    def test_a_number_takes_the_sites_that_change_most(self, aln, states):
        changes = aln.genobit.parsimony(NEWICK).changes.values
        figure = drawn(paper_tree(states, site=2, sites=4))
        others = np.delete(np.arange(changes.size), 2)
        best = others[np.argsort(-changes[others], kind="stable")[:4]]
        assert {str(site) for site in best} <= set(texts(figure))
        assert "Columns: the other sites with most changes." in words(figure)

    def test_labels_of_sites(self, states):
        named = states.assign_coords(sites=np.arange(101, 141))
        figure = drawn(paper_tree(named, site=0, sites=[39]))
        assert {"101", "140"} <= set(texts(figure))
        assert "count from" not in words(figure)
        plain = drawn(paper_tree(states, site=0, sites=[39]))
        assert "Sites count from 0." in words(plain)
        assert {"0", "39"} <= set(texts(plain))

    def test_long_labels_are_turned(self, states):
        named = states.assign_coords(sites=[f"rs{10**7 + k}" for k in range(40)])
        figure = drawn(paper_tree(named, site=0))
        turned = [t for t in figure.axes[0].texts if t.get_rotation() == 90]
        assert len(turned) == 9
        assert len(overlapping(boxes(figure)[:1], boxes(figure)[1:], 0.0)) == 0

    def test_narrow_pages_say_how_many_sites_are_left_out(self, states):
        figure = drawn(paper_tree(states, sites=30), 90)
        shown = len(marks(figure, "letters")) - 1
        assert 0 < shown < 30
        assert f"{30 - shown} sites with fewer changes" in words(figure)

    def test_a_letter_has_one_colour(self):
        generator = np.random.default_rng(5)
        values = generator.choice(list("ACDEFGHIKLMNPQRSTVWY"), (7, 30))
        aln = xr.DataArray(values, {"taxa": TAXA}, ("taxa", "sites"), attrs={"kind": "protein"})
        figure = drawn(paper_tree(aln.genobit.ancestral_states(NEWICK), alignment=aln))
        colours: dict[str, set] = {}
        by_place = {
            (round(t.get_position()[0], 3), round(t.get_position()[1], 1)): t.get_text()
            for t in figure.axes[0].texts
        }
        for dots in marks(figure, "letters"):
            for (x, y), face in zip(dots.get_offsets(), dots.get_facecolors(), strict=True):
                near = [v for (a, b), v in by_place.items() if a == round(x, 3) and 0 < b - y < 1.5]
                assert len(near) == 1
                colours.setdefault(near[0], set()).add(tuple(face))
        assert len(colours) > 10
        assert all(len(found) == 1 for found in colours.values())


class TestAlignment:
    def test_indices_are_those_of_the_alignment(self, gapped):
        found = gapped.genobit.ancestral_states(NEWICK)
        scored = gapped.genobit.parsimony(NEWICK)
        title = texts(drawn(paper_tree(found, alignment=gapped)))[0]
        assert f"CI {float(scored.ci):.2f}, RI {float(scored.ri):.2f}" in title
        # The reconstructed tips have other indices, and the figure says that it uses them.
        plain = drawn(paper_tree(found))
        assert f"CI {float(scored.ci):.2f}, RI {float(scored.ri):.2f}" not in texts(plain)[0]
        assert "as reconstructed" in words(plain)
        assert "as reconstructed" not in words(drawn(paper_tree(found, alignment=gapped)))

    def test_letters_are_those_of_the_alignment(self, gapped):
        found = gapped.genobit.ancestral_states(NEWICK)
        figure = drawn(paper_tree(found, site=None, sites=[0, 12, 16], alignment=gapped))
        shown = texts(figure)
        assert shown.count("-") == (gapped.values[:, [0, 12, 16]] == "-").sum()
        assert shown.count("R") == (gapped.values[:, [0, 12, 16]] == "R").sum() > 0

    def test_order_of_taxa_and_chunks_do_not_matter(self, gapped):
        found = gapped.genobit.ancestral_states(NEWICK)
        want = texts(drawn(paper_tree(found, alignment=gapped)))
        assert texts(drawn(paper_tree(found, alignment=gapped[::-1]))) == want
        lazy = gapped.chunk({"sites": 7, "taxa": 3})
        assert texts(drawn(paper_tree(found, alignment=lazy))) == want
        lazily = lazy.genobit.ancestral_states(NEWICK)
        assert texts(drawn(paper_tree(lazily))) == texts(drawn(paper_tree(found)))

    def test_a_selection_of_sites_has_no_indices(self, states):
        figure = drawn(paper_tree(states.isel(sites=slice(0, 10))))
        assert "CI" not in texts(figure)[0]
        assert "of all sites; 10 sites of them in this result" in words(figure)


class TestNames:
    @pytest.mark.parametrize("kind", [dict, pd.Series])
    def test_names_replace_taxa(self, states, kind):
        names = kind({"Human": "Homo sapiens", "Mouse": None, "Okapi": "not here"})
        found = texts(drawn(paper_tree(states, names=names)))
        assert "Homo sapiens" in found
        assert {"Mouse", "Gorilla"} <= set(found)
        assert not {"Human", "not here"} & set(found)

    def test_a_dollar_is_a_dollar(self, states):
        figure = drawn(paper_tree(states, names={"Human": "costs $1$ a_b"}))
        text = next(t for t in figure.axes[0].texts if t.get_text().startswith("costs"))
        assert text.get_text() == "costs $1$ a_b"
        assert not text.get_parse_math()

    def test_long_names_are_cut_and_counted(self, states):
        figure = drawn(paper_tree(states, names={"Human": "Homo " * 30}), 90)
        assert any(text.endswith("…") for text in texts(figure))
        assert "1 long name shortened." in words(figure)


class TestLayout:
    @pytest.mark.parametrize("width", [90, 180])
    @pytest.mark.parametrize("n_tips", [3, 14, 60, 200])
    def test_texts_do_not_overlap_and_are_on_the_page(self, n_tips, width):
        aln, tree = alignment_of(n_tips)
        figure = drawn(paper_tree(aln.genobit.ancestral_states(tree)), width)
        found = boxes(figure)
        # Boxes of text have room for accents and descenders, which the texts here do not fill.
        found[:, 1] += 0.35 * (found[:, 3] - found[:, 1]) * 0.5
        pairs = overlapping(found, found, 0.55)
        close = [(a, b) for a, b in pairs.tolist() if a < b]
        assert not close, [(texts(figure)[a], texts(figure)[b]) for a, b in close[:3]]
        height = figure.get_size_inches()[1] * INCH
        assert found[:, 0].min() > 1
        assert found[:, 2].max() < width - 1
        assert found[:, 1].min() > 1
        assert found[:, 3].max() < height - 1

    @pytest.mark.parametrize("n_tips", [14, 60, 200])
    def test_labels_cover_no_branch(self, n_tips):
        aln, tree = alignment_of(n_tips)
        figure = drawn(paper_tree(aln.genobit.ancestral_states(tree), sites=0))
        left = marks(figure, "letters").get_offsets()[0, 0]
        labels = [
            t
            for t in figure.axes[0].texts
            if t.get_ha() == "center" and t.get_position()[0] < left - 5 and t.get_fontsize() == 6
            if "change" not in t.get_text()
        ]
        assert len(labels) > n_tips / 2
        lines = []
        for path in marks(figure, "branches").get_segments():
            for (x0, y0), (x1, y1) in itertools.pairwise(path):
                lines.append([min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)])
        found = []
        for text in labels:
            x, y = text.get_position()
            half = width_of(text.get_text(), 6, bold=text.get_fontweight() == "bold") / 2
            found.append([x - half, y - 1.5, x + half, y])
        assert len(overlapping(np.array(found), np.array(lines), -0.05)) == 0

    def test_page_grows_with_the_tips(self):
        heights = []
        for n_tips in (10, 60, 200):
            aln, tree = alignment_of(n_tips)
            paper = paper_tree(aln.genobit.ancestral_states(tree))
            heights.append(paper.height(180))
            names = set(aln["taxa"].values.tolist())
            assert names <= set(texts(drawn(paper)))
        assert heights[0] < heights[1] < heights[2] < 500
        assert natural_pitch(200) >= LEAST

    def test_large_trees_say_what_is_left_out(self):
        aln, tree = alignment_of(400)
        paper = paper_tree(aln.genobit.ancestral_states(tree))
        assert paper.height(180) < 520
        figure = drawn(paper)
        named = set(aln["taxa"].values.tolist()) & set(texts(figure))
        assert len(named) == 200
        assert "Every 2nd name is written." in words(figure)
        assert "8 sites with fewer changes" in words(figure)
        # Without a matrix the colours of the circles need a key.
        assert len(marks(figure, "key")) >= 2
        assert marks(figure, "letters") == []

    def test_numbers_that_find_no_place_are_counted(self):
        aln, tree = alignment_of(60)
        found = aln.genobit.ancestral_states(tree)
        figure = drawn(paper_tree(found, site=None, sites=0), 60)
        changes = [count for count in found["branch_changes"].values[:-1].tolist() if count]
        written = [text for text in texts(figure) if text.isdecimal()]
        lost = len(changes) - len(written)
        assert lost > 0
        assert f"No room for {lost} numbers." in words(figure)

    def test_axes_of_the_user(self, states):
        figure = Figure((7, 4))
        left, right = figure.subplots(1, 2)
        right.plot([1, 2])
        draw_on(paper_tree(states), left)
        FigureCanvasAgg(figure).draw()
        renderer, box = figure.canvas.get_renderer(), left.get_window_extent()
        extents = [text.get_window_extent(renderer) for text in left.texts]
        assert len(extents) > 20
        assert all(e.x0 >= box.x0 - 3 and e.x1 <= box.x1 + 3 for e in extents)
        assert all(e.y0 >= box.y0 - 3 and e.y1 <= box.y1 + 3 for e in extents)
        assert left.get_legend_handles_labels() == ([], [])

    def test_an_axes_that_is_too_low_is_refused(self, states):
        figure = Figure((4, 0.8))
        with pytest.raises(ValueError, match=r"mm, and this tree needs .* make the figure larger"):
            draw_on(paper_tree(states), figure.subplots())

    @pytest.mark.parametrize("form", ["png", "svg", "pdf"])
    def test_the_same_file_twice(self, states, form, tmp_path):
        from genobit.visual.paper.page import write

        for name in ("a", "b"):
            write(page_of(paper_tree(states, names={"Human": "Man"}), 90), tmp_path / name, form)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            ({"site": 40}, IndexError, r"site=40 is not a site.*40 sites.*indices 0 to 39"),
            ({"site": -1}, IndexError, r"site=-1 is not a site"),
            ({"site": 1.5}, TypeError, r"site=1\.5 is not the index"),
            ({"site": True}, TypeError, r"site=True is not the index"),
            ({"site": "atuo"}, ValueError, r"site='atuo' is neither 'auto'"),
            ({"sites": [1, 40]}, IndexError, r"sites\[1\]=40 is not a site"),
            ({"sites": [1, 2, 1]}, ValueError, r"sites\[2\] is 1 for the second time"),
            ({"sites": np.ones(40, bool)}, TypeError, r"np\.flatnonzero"),
            ({"sites": -1}, TypeError, r"sites=-1 is neither"),
            ({"sites": "8"}, TypeError, r"sites='8' is neither"),
            ({"names": ["a"]}, TypeError, r"names= is a list"),
            ({"names": {"Okapi": "b"}}, ValueError, r"names= has no taxon of the tree.*'Mouse'"),
            ({"numbers": "suport"}, ValueError, r"did you mean 'support'"),
            ({"lengths": "long"}, ValueError, r"lengths='long' is not one of"),
            ({"support": [1.0]}, ValueError, r"support has shape \(1,\)"),
        ],
    )
    def test_options(self, states, options, error, words):
        with pytest.raises(error, match=words):
            paper_tree(states, **options)

    def test_alignment(self, aln, states):
        with pytest.raises(ValueError, match=r"alignment= has 5 sites along 'sites' .* have 40"):
            paper_tree(states, alignment=aln[:, :5])
        with pytest.raises(ValueError, match=r"no 'Mouse' along 'taxa', .* nodes=0"):
            paper_tree(states, alignment=aln[1:])
        with pytest.raises(TypeError, match=r"alignment= is a Dataset"):
            paper_tree(states, alignment=aln.to_dataset(name="aln"))
        other = aln.copy(data=np.roll(aln.values, 1, axis=0))
        with pytest.raises(ValueError, match=r"alignment= has .* branch_changes sum to"):
            paper_tree(states, alignment=other)

    def test_a_selection_of_nodes(self, states):
        with pytest.raises(ValueError, match=r"node_parent is \d+ at nodes=0"):
            paper_tree(states.isel(nodes=slice(0, 5)))


class TestText:
    def test_wrapped_lines_fit(self):
        text = "Numbers: changes on the branch, of all sites that are in this result"
        lines = wrapped(text, 30)
        assert " ".join(lines) == text
        assert len(lines) > 2
        assert all(width_of(line, 6) <= 30 for line in lines)

    def test_cut_names_fit(self):
        assert width_of(fitted("Crab-eating macaque", 12, 7), 7) <= 12


class TestRealData:
    def test_primates(self, shared_data):
        """The published values of this tree: 746 changes, CI 0.5308, RI 0.4615."""
        folder = shared_data / "primates"
        aln = gb.open_alignment(folder / "primates.fasta")
        found = aln.genobit.ancestral_states(folder / "ref" / "tree_ratchet_rooted_mouse.nwk")
        names = {"Crab-E.Mac": "Crab-eating macaque", "Chimp": "Chimpanzee"}
        figure = drawn(paper_tree(found, site=33, sites=[55, 98], names=names, alignment=aln))
        assert texts(figure)[0] == "Parsimony tree: 746 changes, CI 0.53, RI 0.46"
        assert sorted(t for t in texts(figure) if "→" in t) == ["A→C", "A→T", "A→T", "C→T"]
        assert {"Crab-eating macaque", "Chimpanzee", "Mouse"} <= set(texts(figure))
        assert "No room" not in words(figure)
        heads = [t for t in texts(figure) if t in {"33", "55", "98"}]
        assert heads == ["33", "55", "98"]
        assert figure.get_size_inches()[1] * INCH == pytest.approx(92, abs=6)
