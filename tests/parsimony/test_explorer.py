"""The parsimony explorer by its traits: no browser, no kernel, so every change is at once."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import traitlets
import xarray as xr

import genobit  # noqa: F401  the accessor
from genobit.io.trees import read_trees
from genobit.parsimony.explorer.explorer import ParsimonyExplorer
from genobit.parsimony.explorer.views import Patches
from genobit.parsimony.methods.search import ParsimonySearchMethods
from genobit.parsimony.plots.pixel_layers import Dots, Lines, overlay
from genobit.parsimony.rooting import splits
from tests.helpers.explorers import named, said

pytestmark = pytest.mark.usefixtures("undrawn")

TREES = ["((a,b)80,(c,(d,e)95)60,f);", "((a,c),(b,(d,e)),f);", "((a,d),(c,(b,e)),f);"]


@pytest.fixture(scope="module")
def aln() -> xr.DataArray:
    """Six taxa; the sites 1, 4 and 5 are homoplastic on the first tree."""
    rows = ["AACATA", "ATCAAA", "GTCCAC", "GTC?TA", "GTCGAC", "AACAAA"]
    return xr.DataArray(
        [list(row) for row in rows],
        {"taxa": list("abcdef"), "codon_position": ("sites", [1, 2, 3, 1, 2, 3])},
        ("taxa", "sites"),
        None,
        {"kind": "dna"},
    )


@pytest.fixture
def explorer(aln) -> ParsimonyExplorer:
    return aln.genobit.explore.parsimony(TREES)


def extra(aln: xr.DataArray, tree: int = 0) -> np.ndarray:
    scores = aln.genobit.parsimony(TREES[tree])
    return (scores["changes"] - scores["min_changes"]).values


class TestBeginning:
    def test_says_how_long(self, aln, explorer):
        length = int(aln.genobit.parsimony(TREES[0])["length"])
        assert explorer.status.startswith(f"tree 0: {length} changes, CI ")
        assert ", 6 taxa, 3 trees; " in explorer.status
        assert len(explorer.tree_names) == 3
        assert explorer.tree_names[0] == f"tree 0: {length} changes"

    def test_begins_with_the_most_homoplastic_site(self, aln, explorer):
        assert extra(aln)[explorer.site] == extra(aln).max() > 0

    def test_takes_a_site(self, aln):
        assert aln.genobit.explore.parsimony(TREES, site=2).site == 2

    def test_one_tree(self, aln):
        explorer = aln.genobit.explore.parsimony(TREES[1])
        assert explorer.status[0].isdigit()
        explorer.view = "two"
        assert "There is one tree" in said(explorer._faces)

    def test_other_taxa(self, aln):
        with pytest.raises(ValueError, match="'x'"):
            aln.genobit.explore.parsimony("((a,b),(c,(d,e)),x);")

    def test_many_taxa_wait_for_the_button(self):
        many = xr.DataArray(
            np.tile(list("AC"), (70, 1)),
            {"taxa": [f"t{k}" for k in range(70)]},
            ("taxa", "sites"),
            None,
            {"kind": "dna"},
        )
        explorer = many.genobit.explore.parsimony()
        assert explorer.status.startswith("There is no tree yet.")
        assert "There is no tree yet" in said(explorer._tree)
        with pytest.raises(ValueError, match="no tree yet"):
            _ = explorer.newick
        explorer.site = 1
        explorer.view = "search"
        assert "are not from a search" in said(explorer._trace)

    def test_search(self, aln, monkeypatch):
        found = xr.Dataset({"tree": ("trees", TREES[1:]), "trace": ("iteration", [12, 11])})
        search = "parsimony_search"
        monkeypatch.setattr(ParsimonySearchMethods, search, lambda _self, **_options: found)
        explorer = aln.genobit.explore.parsimony()
        assert len(explorer.tree_names) == 2
        explorer.view = "search"
        assert not said(explorer._trace)

    def test_search_that_fails(self, aln, monkeypatch):
        def fail(_self, **_options):
            raise ValueError("no such luck")

        monkeypatch.setattr(ParsimonySearchMethods, "parsimony_search", fail)
        explorer = aln.genobit.explore.parsimony()
        assert explorer.status == "Error: no such luck"
        assert "There is no tree" in said(explorer._tree)


class TestSites:
    def test_next_and_previous_go_round(self, aln, explorer):
        found = np.flatnonzero(extra(aln)).tolist()
        explorer.site = found[-1]
        explorer.next_site()
        assert explorer.site == found[0]
        explorer.previous_site()
        assert explorer.site == found[-1]

    def test_without_homoplasy(self, aln):
        explorer = aln.isel(sites=[2]).genobit.explore.parsimony(TREES)
        explorer.tab = "sites"
        assert "No site has more changes" in said(explorer._sites)
        explorer.try_to(explorer.next_site)
        assert "no site has more changes" in explorer.status

    def test_card_says_what_the_alignment_knows(self, aln, explorer):
        explorer.site = 4
        scores = aln.genobit.parsimony(TREES[0])
        assert "<h4>site 4 (codon_position 2)</h4>" in explorer.card.value
        for name, of in (("changes", "changes"), ("fewest possible", "min_changes")):
            assert f"<td>{name}</td><td>{int(scores[of][4])}</td>" in explorer.card.value
        explorer.view = "two"
        assert not explorer.card.value

    def test_table__before_the_scores_are_there(self, aln, explorer):
        """Cells that run one after another read the table while the scores are computed."""
        known, explorer.known.scores = explorer.sites, None
        pd.testing.assert_frame_equal(explorer.sites, known)
        explorer.known.trees = []
        with pytest.raises(ValueError, match="there is no tree yet; search for one"):
            _ = explorer.sites

    def test_table(self, aln, explorer):
        assert explorer.sites["extra"].tolist() == sorted(extra(aln), reverse=True)
        explorer.site = 0
        explorer.tab = "sites"
        explorer._sites._picks._picked([0])
        assert explorer.site == explorer.sites["site"][0]

    def test_track(self, explorer):
        explorer._track._tapped(2.4, 0.0)
        assert explorer.site == 2
        explorer._track._tapped(99.0, 0.0)
        assert explorer.site == 5

    def test_refuses(self, explorer):
        with pytest.raises(traitlets.TraitError, match="the sites are 0 to 5"):
            explorer.site = 6


class TestBranches:
    def test_click(self, explorer):
        stems = explorer._placed.laid.stems
        branch = int(np.argmax(explorer.ancestry.tree.changes[:-1]))
        x, y = (stems[branch, :2] + stems[branch, 2:]) / 2
        explorer._tree._tapped(x, y)
        assert explorer.branch == branch
        assert len(explorer.changes) == explorer.ancestry.tree.changes[branch]
        explorer.tab = "changes"
        assert explorer._changes._members[:, 0].tolist() == explorer.changes["site"].tolist()
        explorer._tree._tapped(x, y + 400)
        assert explorer.branch is None

    def test_a_change_chooses_its_site(self, explorer):
        explorer.branch = int(np.argmax(explorer.ancestry.tree.changes[:-1]))
        explorer.tab = "changes"
        picks = explorer._changes._picks
        for row, site in enumerate(explorer.changes["site"]):
            explorer._changes._picks._picked([row])
            assert explorer.site == site
            assert picks.shown == {row}
        others = set(range(6)) - set(explorer.changes["site"])
        explorer.site = others.pop()
        assert not picks.shown

    def test_card_counts_the_taxa_of_a_branch(self, explorer):
        explorer.branch = 6
        below = explorer.known.below(explorer.ancestry, 6)
        assert 1 < len(below) < 6
        assert f"<td>branch to</td><td>node 6 ({len(below)} taxa)</td>" in explorer.card.value
        explorer.branch = 0
        assert f"<td>branch to</td><td>{explorer.known.taxa[0]}</td>" in explorer.card.value

    def test_card_says_whether_the_site_changes(self, explorer):
        explorer.branch = int(np.argmax(explorer.ancestry.tree.changes[:-1]))
        inside = set(explorer.changes["site"])
        for site in range(6):
            explorer.site = site
            said = "yes" if site in inside else "no"
            assert f"<td>site changes there</td><td>{said}</td>" in explorer.card.value

    def test_without_changes(self, explorer):
        explorer.branch = int(np.argmin(explorer.ancestry.tree.changes[:-1]))
        explorer.tab = "changes"
        assert "No site changes" in said(explorer._changes)

    def test_none(self, explorer):
        explorer.tab = "changes"
        assert "Click a branch" in said(explorer._changes)
        with pytest.raises(ValueError, match="no branch is chosen"):
            _ = explorer.changes
        with pytest.raises(ValueError, match="no branch is chosen"):
            explorer.root_here()

    def test_refuses(self, explorer):
        with pytest.raises(traitlets.TraitError, match="the branches are 0 to"):
            explorer.branch = 99


class TestRoot:
    def test_here(self, aln, explorer):
        length = explorer.ancestry.tree.length
        explorer.branch = 3
        explorer.root_here()
        assert explorer.outgroup == ("d",)
        assert explorer.branch is None
        assert explorer.ancestry.tree.length == length
        found = read_trees(explorer.newick, list("abcdef")).trees[0]
        top = np.flatnonzero(found.parents == found.parents.size - 1)
        assert 3 in top
        assert len(top) == 2
        explorer.root_as_given()
        assert explorer.ancestry.tree.parents.tolist() == (
            read_trees(TREES[0], list("abcdef")).trees[0].parents.tolist()
        )

    def test_support_moves_along(self, explorer):
        before = explorer.ancestry
        groups = {
            frozenset(explorer.known.below(before, k)): before.tree.support[k]
            for k in range(len(before.tree.parents) - 1)
        }
        explorer.outgroup = ("d", "e")
        after = explorer.ancestry
        for node in range(6, len(after.tree.parents) - 1):
            group = frozenset(explorer.known.below(after, node))
            other = frozenset("abcdef") - group
            value = groups.get(group, groups.get(other))
            np.testing.assert_equal(after.tree.support[node], value)

    def test_of_no_tree(self, explorer):
        explorer.outgroup = ("a", "b")
        assert not explorer.status.startswith("Error")
        explorer.tree = 1
        assert "no branch of this tree separates a, b from" in explorer.status
        assert "no branch of this tree" in said(explorer._tree)
        explorer.root_as_given()
        assert explorer.status.startswith("tree 1: ")

    def test_unknown_taxon(self, explorer):
        with pytest.raises(traitlets.TraitError, match="'zebra'"):
            explorer.outgroup = ("zebra",)


class TestTrees:
    def test_another(self, aln, explorer):
        explorer.tree = 2
        assert explorer.status.startswith("tree 2: ")
        assert explorer.ancestry.tree.length == int(aln.genobit.parsimony(TREES[2])["length"])
        with pytest.raises(traitlets.TraitError, match="the trees are 0 to 2"):
            explorer.tree = 3

    def test_face_to_face(self, explorer):
        explorer.view = "two"
        assert explorer.other == 1
        assert not said(explorer._faces)
        explorer.other = 0
        assert "Choose another tree" in said(explorer._faces)

    def test_site_of_a_tree_that_is_not_in_view(self, explorer):
        explorer.view = "two"
        assert "Robinson–Foulds distance" in explorer.status
        explorer.site = 2
        explorer.view = "tree"
        assert "site 2 " in explorer.card.value
        assert explorer.status.startswith("tree 0: ")

    @pytest.mark.parametrize("resolve", ["acctran", "deltran", "sets"])
    def test_ancestors(self, aln, explorer, resolve):
        explorer.resolve = resolve
        wanted = aln.genobit.ancestral_states(TREES[0], resolve=resolve)
        assert (explorer.ancestry.states["states"].values == wanted["states"].values).all()

    def test_controls_follow(self, explorer):
        view, tree, other, sites, search = explorer.children[1].children[:5]
        assert (search.layout.display, other.layout.display) == ("none", "none")
        assert tree.options == tuple((name, k) for k, name in enumerate(explorer.tree_names))
        tree.value = 1
        assert explorer.tree == 1
        view.value = "two"
        assert (sites.layout.display, other.layout.display) == ("none", "flex")
        other.value = 0
        assert explorer.other == 0

    def test_waits_with_a_tree_that_is_not_the_first(self, aln):
        explorer = aln.genobit.explore.parsimony(TREES, tree=2)
        assert explorer.tree == explorer.children[1].children[1].value == 2


class TestSearchBox:
    @pytest.fixture
    def box(self, explorer):
        return named(explorer, "genobit-parsimony-find")

    def test_site(self, explorer, box):
        box.value = "3"
        assert (explorer.site, box.value) == (3, "")
        assert named(explorer, "genobit-parsimony-site-box").value == 3
        for wrong in ("6", "60"):
            box.value = wrong
            assert f"there is no site {wrong}: the sites are 0 to 5" in explorer.status
            assert (explorer.site, box.value) == (3, wrong)

    def test_taxa(self, explorer, box):
        box.value = "b, e"
        assert explorer.selection.samples == ("b", "e")
        assert explorer._marks()["selected"] == [1, 4]
        assert explorer.site != 3

    def test_selection_in_words(self, explorer, box):
        line = named(explorer, "genobit-parsimony-selection")
        box.value = "b, e"
        explorer.selection.variants = explorer._names["variants"].index[:1].tolist()
        assert line.value.startswith("Selected: 1 site and 2 taxa (")
        explorer.selection.samples = "b"
        assert "and 1 taxon (" in line.value

    def test_unknown(self, explorer, box):
        box.value = "b, zebra"
        assert "there is no taxon 'zebra' among the 6 (a, b, c, …)" in explorer.status
        assert explorer.selection.samples == ()

    def test_names_with_spaces_and_digits(self, aln):
        spoken = aln.assign_coords(taxa=["1", "Homo sapiens", *"cdef"])
        explorer = spoken.genobit.explore.parsimony()
        site = explorer.site
        for name in spoken.taxa.values[:2]:
            explorer.find(str(name))
            assert (explorer.selection.samples, explorer.site) == ((name,), site)


class TestFrame:
    def test_tabs_are_drawn_when_they_are_chosen(self, explorer):
        assert explorer._undrawn >= {"sites", "changes"}
        explorer.tab = "sites"
        assert "sites" not in explorer._undrawn
        assert explorer.card.layout.display == "none"
        explorer.site = 2
        assert "tree" in explorer._undrawn
        explorer.tab = "picture"
        assert "tree" not in explorer._undrawn

    def test_found_site_clears_an_error(self, explorer):
        find = named(explorer, "genobit-parsimony-find")
        find.value = "nobody"
        assert "there is no taxon 'nobody'" in explorer.status
        find.value = str(explorer.site)
        assert explorer.status.startswith("tree 0: ")

    def test_size_of_the_page_leaves_an_error(self, explorer):
        named(explorer, "genobit-parsimony-find").value = "nobody"
        explorer._tree._on_size("tags", [], [704, explorer._placed.frame[1]])
        assert "there is no taxon 'nobody'" in explorer.status

    def test_tree_follows_the_size_of_the_page(self, explorer):
        before = explorer._placed
        explorer._tree._on_size("tags", [], [704, before.frame[1]])
        assert explorer._placed.frame == (450, before.frame[1])
        assert explorer._placed.laid.x.max() < 450 < before.laid.x.max()
        narrow = explorer._placed
        explorer._tree._on_size("tags", [], [700, before.frame[1]])  # a scroll bar
        assert explorer._placed is narrow

    @pytest.mark.parametrize(
        "changes",
        [
            {"view": "two", "other": 2},
            {"tree": 1, "site": 3, "outgroup": ("a",), "resolve": "deltran"},
            {"branch": 7, "layout_of_tree": "radial", "numbers": "support", "tab": "changes"},
        ],
    )
    def test_python_opens_the_same_view(self, aln, explorer, changes):
        for trait, value in changes.items():
            setattr(explorer, trait, value)
        again = eval(explorer.python(), {"ds": aln, "trees": TREES})
        names = ("view", "tree", "other", "site", "branch", "outgroup", "layout_of_tree", "lengths")
        names += ("numbers", "resolve", "tab", "tree_names", "status")
        assert [getattr(again, k) for k in names] == [getattr(explorer, k) for k in names]

    def test_menu_saves_the_figure(self, explorer, tmp_path):
        named(explorer, "genobit-parsimony-file").value = str(tmp_path / "tree")
        texts = [text for text, _ in explorer.menu.options]
        for view in ("tree", "two"):
            explorer.view = view
            explorer.menu.index = texts.index("figure (PDF)")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["tree-2.pdf", "tree.pdf"]
        assert (tmp_path / "tree.pdf").read_bytes().startswith(b"%PDF")
        explorer.view = "search"
        explorer.menu.index = texts.index("figure (PDF)")
        assert "not from a search" in explorer.status


class TestFiles:
    def test_newick(self, tmp_path, explorer):
        explorer.save_tree(tmp_path / "tree.nwk")
        found = read_trees(tmp_path / "tree.nwk", list("abcdef")).trees[0]
        tree = explorer.ancestry.tree
        written = dict(zip(splits(found.parents), found.lengths, strict=False))
        assert written == dict(zip(splits(tree.parents), tree.changes, strict=False))
        assert set(found.labels[6:]) == {"80", "95", "60", ""}

    def test_svg(self, tmp_path, explorer):
        target = explorer.save_picture(tmp_path / "tree.svg")
        texts = {element.text for element in ET.parse(target).iter() if "text" in element.tag}
        assert set("abcdef") <= texts
        assert f"Saved the picture of tree 0 to {target}" == explorer.status

    def test_tables(self, tmp_path, explorer):
        explorer.save_sites(tmp_path / "sites.csv")
        explorer.save_changes(tmp_path / "changes.csv")
        assert sorted(pd.read_csv(tmp_path / "sites.csv")["site"]) == [0, 1, 2, 3, 4, 5]
        changes = pd.read_csv(tmp_path / "changes.csv", dtype=str)
        assert len(changes) == explorer.ancestry.tree.length
        assert list(changes) == ["branch", "site", "from", "to"]
        assert set(changes["site"].astype(int)) == set(explorer.ancestry.changes()["site"])

    def test_nothing_is_written_over(self, tmp_path, explorer):
        explorer.save_tree(tmp_path / "tree.nwk")
        with pytest.raises(FileExistsError, match="exists already"):
            explorer.save_tree(tmp_path / "tree.nwk")
        with pytest.raises(ValueError, match="does not say what to write"):
            explorer.save_picture(tmp_path / "tree.png")


class TestPatches:
    def lines(self, *ends: tuple[float, ...], colour: str = "#000000") -> Lines:
        return Lines("Lines", np.array(ends), [colour] * len(ends), [1.0] * len(ends))

    def dots(self, *colours: str) -> Dots:
        at = np.arange(len(colours)) * 1.0
        return Dots("Dots", at, at, colours, 5.0)

    def test_replaces_columns_without_drawing_anew(self):
        import holoviews as hv

        patches = Patches()
        picture = overlay([self.lines((0, 0, 1, 1)), self.dots("#ff0000", "#ff0000")])
        plot = hv.renderer("bokeh").get_plot(picture.opts(hooks=[patches.hook], title="before"))
        handles = {sub.current_frame.label: sub.handles for sub in plot.subplots.values()}
        dots = self.dots("#00ff00", "#0000ff", "#00ff00")
        patches.replace([self.lines((0, 0, 2, 2), colour="#123456"), dots], 640.0)
        assert handles["Lines"]["source"].data["x1"].tolist() == [2]
        # What HoloViews made one value of is a column again.
        assert handles["Dots"]["glyph"].fill_color == "color"
        assert handles["Dots"]["source"].data["color"].tolist() == list(dots.colour)
        assert (plot.state.x_range.start, plot.state.x_range.end) == (0, 640)

    def test_what_came_before_the_picture_is_not_lost(self):
        import holoviews as hv

        patches = Patches()
        patches.replace([self.dots("#00ff00")])
        picture = overlay([self.lines((0, 0, 1, 1)), self.dots("#ff0000", "#ff0000")])
        plot = hv.renderer("bokeh").get_plot(picture.opts(hooks=[patches.hook]))
        dots = next(s for s in plot.subplots.values() if s.current_frame.label == "Dots")
        assert dots.handles["source"].data["color"].tolist() == ["#00ff00"]


@pytest.mark.slow
def test_real_pictures(aln, drawn):
    explorer = aln.genobit.explore.parsimony(TREES, numbers="support")
    for trait, value in (
        ("branch", 7),
        ("site", 3),
        ("layout_of_tree", "radial"),
        ("lengths", "equal"),
        ("tree", 1),
        ("view", "two"),
    ):
        setattr(explorer, trait, value)
        assert not explorer.status.startswith("Error"), trait


@pytest.mark.slow
def test_page_of_what_is_drawn(aln, drawn, tmp_path):
    explorer = aln.genobit.explore.parsimony(TREES)
    page = explorer.save_page(tmp_path / "page.html").read_text(encoding="utf-8")
    assert explorer.status == f"Saved the pictures to {tmp_path / 'page.html'}"
    for part in ("changes beyond the fewest possible", "Site changes"):
        assert part in page
    assert '"DataTable"' not in page
    # Other pages of the explorer are hidden.
    assert "are not from a search" not in page
    with pytest.raises(FileExistsError, match="choose another name"):
        explorer.save_page(tmp_path / "page.html")
    explorer.tab = "sites"
    page = explorer.save_page(tmp_path / "sites.html").read_text(encoding="utf-8")
    assert '"DataTable"' in page
