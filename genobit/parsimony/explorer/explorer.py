"""The parsimony explorer: a tree, and the changes of a chosen branch and a chosen site."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.parsimony.explorer.controls import drawer, search_box, toolbar
from genobit.parsimony.explorer.data import SEARCHED, Ancestry, TreeData
from genobit.parsimony.explorer.traits import ParsimonyTraits
from genobit.parsimony.explorer.views import Changes, Faces, Sites, Trace, Track, TreeView, card_of
from genobit.parsimony.plots.homoplasy import LISTED, homoplasy_of, site_table
from genobit.parsimony.plots.layout import arrange
from genobit.parsimony.plots.states import changes_of
from genobit.parsimony.plots.tree import omitted
from genobit.visual.explorer.frame import PICTURE, framed
from genobit.visual.explorer.home import Throttled
from genobit.visual.explorer.jobs import in_words
from genobit.visual.explorer.traits import refuse_unknown
from genobit.visual.explorer.view import drawn
from genobit.visual.style import number

if TYPE_CHECKING:
    import xarray as xr

    from genobit.data.selection import Selection
    from genobit.parsimony.plots.layout import PlacedTree

_WITHOUT = (
    'There is no tree yet. Click "find trees", or give trees: '
    "aln.genobit.explore.parsimony(aln.genobit.parsimony_search())"
)
_UNSEARCHED = "These trees are not from a search; parsimony_search() records its steps."


class ParsimonyExplorer(ParsimonyTraits):
    """Widget to explore trees of an alignment: the changes on each branch and at each site.

    Parameters
    ----------
    aln
        Alignment (taxa, sites).
    trees
        Trees in any form that `.genobit.parsimony()` takes, or the result of
        `.genobit.parsimony_search()`. By default, the explorer searches for the shortest trees: at
        once for up to 60 taxa, otherwise after a click on the button "find trees".
    selection
        Selection to share with other explorers; by default a new one. Taxa are samples of the
        selection, and sites are its variants.
    **initial
        Initial values of the traits listed under Attributes, such as ``site=17``.

    Attributes
    ----------
    view
        View to show: "tree" (one tree), "two" (two trees face to face) or "search" (search trace).
    tree, other
        Index of the shown tree, and of the tree beside it.
    layout_of_tree
        Layout of the tree: "rectangular" or "radial".
    lengths
        Branch lengths: "changes" or "equal".
    numbers
        Numbers on branches: "changes", "support" or "none".
    resolve
        Reconstruction of the ancestors: "acctran" (changes close to the root), "deltran" (changes
        close to the tips), or "sets" for all possible states.
    site
        Index of the site whose states are shown.
    branch
        Index of the node below the marked branch, or None.
    outgroup
        Taxa at which the tree is rooted. Without taxa, the tree is rooted as given.
    tab
        Tab in view: the "picture", the table of homoplastic "sites", or the "changes" of the marked
        branch.

    Raises
    ------
    ValueError
        If the taxa of the trees and of the alignment differ.
    """

    def __init__(
        self,
        aln: xr.DataArray,
        trees: Any = None,
        selection: Selection | None = None,
        **initial: Any,
    ) -> None:
        refuse_unknown(type(self), initial)
        self._join(selection, aln)
        self.known = TreeData(aln)
        self.n_sites = int(aln.sizes["sites"])
        self._asked_site, self._asked_other = "site" in initial, "other" in initial
        self._ancestry: Ancestry | None = None
        self._placed: PlacedTree | None = None
        self._homoplasy = np.zeros(self.n_sites, dtype="i8")
        self._stale = set()
        self._undrawn: set[str] = set()
        self._words = dict.fromkeys(("two", "search"), "")
        if trees is not None:
            self.known.read(trees)
        super().__init__(**initial)
        self._given = {"trees": trees}
        if not self._asked_site:
            self._follow_quietly("variants", own=False)
        self._later = Throttled(self._home, self.refresh)
        self._make_parts()
        self.observe(self._on_trait, list(_STALE_BY_TRAIT))
        self._begin()

    def _make_parts(self) -> None:
        self._tree = TreeView(self._home, self._choose_branch, self._lay_out)
        self._track = Track(self._home, self._choose_site)
        self._changes = Changes(self._home, self._choose_site)
        self._sites = Sites(self._home, self._choose_site)
        self._faces, self._trace = Faces(self._home, self._lay_out), Trace(self._home)
        self.branch_line = ipywidgets.HTML().add_class("genobit-parsimony-branch-line")
        self.sites_line = ipywidgets.HTML().add_class("genobit-parsimony-sites-line")
        self._pages = {
            "tree": ipywidgets.VBox([self._track.box, self._tree.box]),
            "two": self._faces.box,
            "search": self._trace.box,
        }
        tabs = {
            PICTURE: ipywidgets.VBox(list(self._pages.values())),
            "sites": ipywidgets.VBox([self.sites_line, self._sites.box]),
            "changes": ipywidgets.VBox([self.branch_line, self._changes.box]),
        }
        parts = toolbar(self), drawer(self), tabs
        self.children = framed(self, *parts, "parsimony", search_box(self))

    def _begin(self) -> None:
        self._turn_page()
        if self.known.trees:
            self._ask_scores()
        elif len(self.known.taxa) <= SEARCHED:
            self.search()
        else:
            self._said = self.status = _WITHOUT
            self._say_in_all("There is no tree yet: see the message below.")

    # Observers of traits and of the selection: taxa are samples, sites are variants.

    def _on_trait(self, change: Any) -> None:
        self._tell(change["name"])
        self._home.run(self._mark, set(_STALE_BY_TRAIT[change["name"]]))

    def _tell(self, trait: str) -> None:
        """Share the site or branch that a trait selects with the other explorers."""
        if trait == "site":
            self._select("variants", [self.site])
        elif trait == "branch" and self.branch is not None:
            below = set(self.known.below(self.ancestry, self.branch))
            self._select("samples", [k for k, name in enumerate(self.known.taxa) if name in below])

    def _follow(self, kind: str, *, own: bool) -> None:
        if kind == "samples":
            self._mark({"tree"})
            return
        sites = self._places("variants")
        if not own and len(sites) == 1:
            self._asked_site = True
            self.site = int(sites[0])

    def _choose_branch(self, branch: int | None) -> None:
        self.branch = branch

    def _choose_site(self, site: int) -> None:
        self.site = site

    def _lay_out(self) -> None:
        """Lay out the pictures for frames of another size."""
        self._mark({"placed"})

    # Results are computed on a worker thread and drawn on the main one.

    def _got_trees(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            self._say_in_all("There is no tree: see the message below.")
            raise result
        self._ask_scores()

    def _ask_scores(self) -> None:
        many = number(len(self.known.trees), "tree")
        self._work(f"the changes of {many}", self.known.score, self._got_scores)

    def _got_scores(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            self._say_in_all("There is nothing to draw: see the message below.")
            raise result
        known = self.known
        many = len(known.trees)
        self.tree_names = [f"tree {k}: {number(known.length(k), 'change')}" for k in range(many)]
        if many > 1 and self.other == self.tree and not self._asked_other:
            self.other = (self.tree + 1) % many
        if not self._asked_site:
            self._quiet = True  # chosen by code, not by the user
            self.site = int(np.argmax(homoplasy_of(known.of(self.tree))))
            self._quiet = False
        self._stale |= {"ancestors", "homoplasy", "faces", "trace", "page"}
        self.refresh()

    def refresh(self) -> None:
        """Compute and draw all stale parts; the widget calls this after every change."""
        stale, self._stale = self._stale, set()
        if self.known.scores is None:
            if "page" in stale:
                self._turn_page()
            return
        # An error stays until the reader does something: a drawer that opens is no answer to it.
        if stale != {"placed"} and self.status.startswith("Error"):
            self.status = self._said
        self._try(self._refresh, stale)

    def _refresh(self, stale: set[str]) -> None:
        if "homoplasy" in stale:
            self._find_homoplasy()
        if "page" in stale:
            self._turn_page()
        if "placed" in stale:
            self._placed = None
            self._undrawn |= {"tree", "faces"}
        if "site" in stale:
            self._mark_site()
        self._undrawn |= stale & _PARTS
        if "ancestors" in stale:
            self._ask_ancestors()
        self._draw()

    def _draw(self) -> None:
        """Draw the parts in view that need it; others wait until they are in view."""
        drawn = self._undrawn & self._in_view()
        if self._ancestry is None:
            drawn -= {"tree", "changes"}
        self._undrawn -= drawn
        for part in sorted(drawn):
            getattr(self, f"_draw_{part}")()
        self._show_card()
        self._said = self._in_words()
        if not self.busy and not self.status.startswith("Error"):
            self.status = self._said

    def _in_view(self) -> set[str]:
        return _PICTURES[self.view] if self.tab == PICTURE else {self.tab}

    def _ask_ancestors(self) -> None:
        wanted = (self.tree, self.outgroup, self.resolve)
        self._work(
            f"the ancestors of tree {self.tree}",
            lambda: (wanted, self.known.ancestors(*wanted)),
            self._got_ancestors,
        )

    def _got_ancestors(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            self._tree.say(in_words(result))
            self._ancestry, self.branch = None, None
            raise result
        wanted, ancestry = result
        if wanted != (self.tree, self.outgroup, self.resolve):
            return
        if ancestry is not self._ancestry:
            first = self._ancestry is None
            self._ancestry, self._placed = ancestry, None
            if not first:
                # Another tree numbers its nodes differently.
                self.branch = None
        self._undrawn |= {"tree", "changes"}
        self._draw()

    def _draw_tree(self) -> None:
        self._tree.draw(self._where(), self._site_states(), **self._marks())

    def _in_words(self) -> str:
        """Describe the view as text: by default a tree."""
        if self.tab == PICTURE and self.view != "tree":
            return self._words[self.view]
        if self._ancestry is None:
            return self._said
        extra, sites = self._homoplasy, number(self.n_sites, "site")
        return (
            f"{self.known.title(self.tree)}{omitted(self._where())}; {int(extra.sum()):,} changes "
            f"beyond the fewest possible, at {np.count_nonzero(extra):,} of {sites}"
        )

    def _where(self) -> PlacedTree:
        if self._placed is None:
            tree = drawn(self._ancestry).tree
            self._placed = arrange(tree, self.layout_of_tree, self.lengths, self._tree.frame)
        return self._placed

    def _find_homoplasy(self) -> None:
        self._homoplasy = homoplasy_of(self.known.of(self.tree))
        self._undrawn |= {"track", "sites"}

    def _draw_track(self) -> None:
        self._track.draw(self._homoplasy, self.site)

    def _draw_sites(self) -> None:
        many = int(np.count_nonzero(self._homoplasy))
        text = number(many, "homoplastic site")
        self.sites_line.value = text + (f", the first {LISTED} listed" if many > LISTED else "")
        if many:
            self._sites.draw(site_table(self.known.of(self.tree), least=1), self.site)
        else:
            self._sites.say("No site has more changes than it needs.")

    def _draw_changes(self) -> None:
        if self.branch is None:
            self.branch_line.value = ""
            self._changes.say("Click a branch of the picture to list its changes.")
            return
        found = changes_of(drawn(self._ancestry).states, self.branch)
        many = len(found)
        name = self.known.name_of_branch(drawn(self._ancestry), self.branch)
        text = f"branch to {html.escape(name)}: {number(many, 'change')}"
        self.branch_line.value = text + (f", the first {LISTED} listed" if many > LISTED else "")
        if many:
            self._changes.draw(found[:LISTED], self.site)
        else:
            self._changes.say("No site changes on this branch.")

    def _mark_site(self) -> None:
        self._track.mark(self.site)
        self._sites.mark([self.site])
        self._changes.mark([self.site])

    def _show_card(self) -> None:
        """Show the chosen site and branch on the card, beside the tree."""
        if self._ancestry is None or self.view != "tree":
            self.card.show("", [])
            return
        states, branch = self._site_states(), None
        if self.branch is not None:
            many = int(self._ancestry.tree.changes[self.branch])
            name = self.known.name_of_branch(self._ancestry, self.branch, most=0)
            branch = (name, many, bool(states.changed[self.branch]))
        rows = card_of(self.known.of(self.tree), self.site, branch)
        self.card.show(states.title.split(": ")[0], rows)

    def _turn_page(self) -> None:
        # Hidden, not removed: a picture that comes back would be drawn again.
        for name, page in self._pages.items():
            page.layout.display = "flex" if name == self.view else "none"
        if self.known.scores is None and self.view != "tree":
            self._undrawn -= _PICTURES[self.view]
            getattr(self, f"_draw_{next(iter(_PICTURES[self.view]))}")()

    def _draw_faces(self) -> None:
        try:
            both, names = self._both()
        except ValueError as error:
            self._words["two"] = ""
            self._faces.say(str(error))
            return
        self._words["two"] = self._faces.draw(both, names)

    def _draw_trace(self) -> None:
        search, self._words["search"] = self.known.search, ""
        if search is None or "trace" not in search:
            self._trace.say(_UNSEARCHED)
        else:
            self._words["search"] = self._trace.draw(search)

    def _say_in_all(self, text: str) -> None:
        self._track.say("")
        for view in (self._tree, self._changes, self._sites):
            view.say(text)


#: Parts of each view of the picture; all parts are drawn when they are in view.
_PICTURES = {"tree": {"tree", "track"}, "two": {"faces"}, "search": {"trace"}}
_PARTS = {"sites", "changes"}.union(*_PICTURES.values())
_STALE_BY_TRAIT = {
    "view": {"page"},
    "tab": set(),
    "tree": {"ancestors", "homoplasy", "faces"},
    "other": {"faces"},
    "layout_of_tree": {"placed", "tree"},
    "lengths": {"placed", "tree"},
    "numbers": {"tree"},
    "resolve": {"ancestors", "faces"},
    "site": {"site", "tree"},
    "branch": {"tree", "changes"},
    "outgroup": {"ancestors"},
}
