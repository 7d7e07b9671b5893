"""The parsimony explorer: a tree, and the changes of a chosen branch and a chosen site."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.parsimony.explorer.data import SEARCHED, Ancestry, TreeData
from genobit.parsimony.explorer.traits import ParsimonyTraits, parsimony_controls
from genobit.parsimony.explorer.views import Changes, Faces, Sites, Trace, Track, TreeView
from genobit.parsimony.plots.homoplasy import LISTED, homoplasy_of, site_table
from genobit.parsimony.plots.layout import arrange
from genobit.parsimony.plots.states import changes_of
from genobit.visual.frame import framed
from genobit.visual.home import Throttled
from genobit.visual.jobs import in_words
from genobit.visual.looks import panel, wrapping
from genobit.visual.style import number
from genobit.visual.traits import refuse_unknown
from genobit.visual.view import drawn

if TYPE_CHECKING:
    import xarray as xr

    from genobit.data.selection import Selection
    from genobit.parsimony.plots.layout import PlacedTree

_WITHOUT = (
    "There is no tree yet. Click search, or give trees: "
    "aln.genobit.explore.parsimony(aln.genobit.parsimony_search())"
)


class ParsimonyExplorer(ParsimonyTraits):
    """Widget to explore the trees of an alignment and their changes.

    Parameters
    ----------
    aln
        Alignment (taxa, sites).
    trees
        Trees in any form that `.genobit.parsimony()` takes, or the result of
        `.genobit.parsimony_search()`. By default, the explorer searches for the shortest trees: at
        once for up to 60 taxa, otherwise when the search button is clicked.
    selection
        Selection to share with other explorers; by default a new one. Taxa are samples of the
        selection, and sites are its variants.
    **initial
        Initial values of the traits listed under Attributes.

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
        Reconstruction of the ancestors: "acctran", "deltran", or "sets" for all possible states.
    site
        Index of the site whose states are shown.
    branch
        Index of the node below the marked branch, or None.
    outgroup
        Taxa at which the tree is rooted. Without taxa, the tree is rooted as given.
    tree_names
        Descriptions of all trees (read only).

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
        self._asked_site = "site" in initial
        self._ancestry: Ancestry | None = None
        self._placed: PlacedTree | None = None
        self._homoplasy = np.zeros(self.n_sites, dtype="i8")
        self._stale = set()
        if trees is not None:
            self.known.read(trees)
        super().__init__(**initial)
        if not self._asked_site:
            self._follow_quietly("variants", own=False)
        self._later = Throttled(self._home, self.refresh)
        self._make_parts()
        self.observe(self._on_trait, list(_STALE_BY_TRAIT))
        self._begin()

    def _make_parts(self) -> None:
        self._tree = TreeView(self._home, self._choose_branch)
        self._track = Track(self._home, self._choose_site)
        self._changes = Changes(self._home, self._choose_site)
        self._sites = Sites(self._home, self._choose_site)
        self._faces, self._trace = Faces(self._home), Trace(self._home)
        self.site_line = ipywidgets.HTML().add_class("genobit-parsimony-site-line")
        self._branch_line = ipywidgets.HTML().add_class("genobit-parsimony-branch-line")
        self._sites_line = ipywidgets.HTML().add_class("genobit-parsimony-sites-line")
        lists = [self._branch_line, self._changes.box, self._sites_line, self._sites.box]
        beside = wrapping(self._tree.box, panel(ipywidgets.VBox(lists), 330))
        self._pages = {
            "tree": ipywidgets.VBox([beside, self._track.box]),
            "two": self._faces.box,
            "search": self._trace.box,
        }
        body = self._pages.values()
        self.children = framed(self, parsimony_controls(self), body, "parsimony")

    def _begin(self) -> None:
        self._turn_page()
        if self.known.trees:
            self._ask_scores()
        elif len(self.known.taxa) <= SEARCHED:
            self.search()
        else:
            self._said = self.status = _WITHOUT
            self._say_in_all("There is no tree yet: see the message above.")

    # Observers of traits and of the selection: taxa are samples, sites are variants.

    def _on_trait(self, change: Any) -> None:
        self._tell(change["name"])
        self._home.run(self._mark, set(_STALE_BY_TRAIT[change["name"]]))

    def _tell(self, trait: str) -> None:
        """Share what a trait of this explorer selects with the other explorers."""
        if trait == "site":
            self._select("variants", [self.site])
        elif trait == "branch" and self.branch is not None:
            below = set(self.known.below(self.ancestry, self.branch))
            self._select("samples", [k for k, name in enumerate(self.known.taxa) if name in below])

    def _follow(self, kind: str, *, own: bool) -> None:
        if kind == "samples":
            self._mark({"selected"})
            return
        sites = self._places("variants")
        if not own and len(sites) == 1:
            self._asked_site = True
            self.site = int(sites[0])

    def _choose_branch(self, branch: int | None) -> None:
        self.branch = branch

    def _choose_site(self, site: int) -> None:
        self.site = site

    # Results are computed on a worker thread and drawn on the main one.

    def _got_trees(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            self._say_in_all("There is no tree: see the message above.")
            raise result
        self._ask_scores()

    def _ask_scores(self) -> None:
        many = number(len(self.known.trees), "tree")
        self._work(f"the changes of {many}", self.known.score, self._got_scores)

    def _got_scores(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            self._say_in_all("There is nothing to draw: see the message above.")
            raise result
        known = self.known
        many = len(known.trees)
        self.tree_names = [
            f"{k + 1} of {many}: {number(known.length(k), 'change')}" for k in range(many)
        ]
        if many > 1 and self.other == self.tree:
            self.other = (self.tree + 1) % many
        if not self._asked_site:
            self._quiet = True  # chosen by code, not by the user
            self.site = int(np.argmax(homoplasy_of(known.of(self.tree))))
            self._quiet = False
        self._stale |= {"ancestors", "sites", "page"}
        self.refresh()

    def refresh(self) -> None:
        """Compute and draw all stale parts; the widget calls this after every change."""
        stale, self._stale = self._stale, set()
        if self.known.scores is None:
            if "page" in stale:
                self._turn_page()
            return
        if self.status.startswith("Error"):
            self.status = self._said
        self._try(self._refresh, stale)

    def _refresh(self, stale: set[str]) -> None:
        if "sites" in stale:
            self._draw_sites()
        if "ancestors" in stale:
            self._ask_ancestors()
        elif self._ancestry is not None:
            if "placed" in stale:
                self._placed = None
            if stale & {"placed", "picture", "site", "branch", "selected"}:
                self._draw_tree()
            if "branch" in stale:
                self._draw_changes()
        if "site" in stale:
            self._mark_site()
        if stale & {"page", "faces"}:
            self._turn_page()

    def _ask_ancestors(self) -> None:
        wanted = (self.tree, self.outgroup, self.resolve)
        self._work(
            f"the ancestors of tree {self.tree + 1}",
            lambda: (wanted, self.known.ancestors(*wanted)),
            self._got_ancestors,
        )

    def _got_ancestors(self, result: Any, seconds: float) -> None:
        if isinstance(result, Exception):
            self._tree.say(in_words(result))
            self._ancestry = None
            raise result
        wanted, ancestry = result
        if wanted != (self.tree, self.outgroup, self.resolve):
            return
        if ancestry is not self._ancestry:
            self._ancestry, self._placed = ancestry, None
            # Another tree numbers its nodes differently.
            self.branch = None
        self._said = f"{self.known.title(self.tree)}; ready in {seconds:.1f} s"
        self._draw_tree()
        self._draw_changes()

    def _draw_tree(self) -> None:
        states = self._site_states()
        self.site_line.value = html.escape(states.title)
        if self.view != "tree":
            self._stale |= {"picture"}
            return
        self._tree.draw(
            self._where(),
            states,
            **self._marks(),
            title=self.known.title(self.tree),
        )

    def _where(self) -> PlacedTree:
        if self._placed is None:
            self._placed = arrange(drawn(self._ancestry).tree, self.layout_of_tree, self.lengths)
        return self._placed

    def _draw_sites(self) -> None:
        scores = self.known.of(self.tree)
        self._homoplasy = homoplasy_of(scores)
        found = site_table(scores, least=1)
        many = int(np.count_nonzero(self._homoplasy))
        text = f"<b>{number(many, 'homoplastic site')}</b>"
        self._sites_line.value = text + (f", the first {LISTED} listed" if many > LISTED else "")
        self._track.draw(self._homoplasy, self.site)
        if many:
            self._sites.draw(found, self.site)
        else:
            self._sites.say("No site has more changes than it needs.")

    def _draw_changes(self) -> None:
        if self.branch is None:
            self._branch_line.value = "<b>changes of a branch</b>"
            self._changes.say("Click a branch to list its changes.")
            return
        found = changes_of(drawn(self._ancestry).states, self.branch)
        text = f"<b>branch to {html.escape(self._branch_name())}</b>: "
        text += number(len(found), "change")
        if len(found) > LISTED:
            text += f", the first {LISTED} listed"
        self._branch_line.value = text
        if len(found):
            self._changes.draw(found[:LISTED], self.site)
        else:
            self._changes.say("No site changes on this branch.")

    def _branch_name(self) -> str:
        ancestry = drawn(self._ancestry)
        name = str(ancestry.tree.names[self.branch])
        below = self.known.below(ancestry, self.branch)
        if len(below) == 1:
            return name
        more = f" and {len(below) - 3} more" if len(below) > 4 else ""
        return f"{name} ({', '.join(below[: 3 if more else 4])}{more})"

    def _mark_site(self) -> None:
        self._track.mark(self.site)
        self._sites.mark([self.site])
        self._changes.mark(self.site)

    def _turn_page(self) -> None:
        # Hidden, not removed: a picture that comes back would be drawn again.
        for name, page in self._pages.items():
            page.layout.display = "flex" if name == self.view else "none"
        if self.view == "two":
            self._draw_faces()
        elif self.view == "search":
            self._draw_trace()
        elif "picture" in self._stale and self._ancestry is not None:
            self._stale -= {"picture"}
            self._draw_tree()

    def _draw_faces(self) -> None:
        if len(self.known.trees) < 2:
            self._faces.say("There is one tree; give two or more to see them face to face.")
            return
        if self.tree == self.other:
            self._faces.say("Choose another tree to compare with this one.")
            return
        both = [self.known.ancestors(k, (), self.resolve) for k in (self.tree, self.other)]
        names = (f"tree {self.tree + 1}", f"tree {self.other + 1}")
        self._faces.draw(both[0], both[1], names)

    def _draw_trace(self) -> None:
        search = self.known.search
        if search is None or "trace" not in search:
            self._trace.say(
                "These trees are not from a search; parsimony_search() records its steps."
            )
            return
        self._trace.draw(search)

    def _say_in_all(self, text: str) -> None:
        for view in (self._tree, self._track, self._changes, self._sites):
            view.say(text)


_STALE_BY_TRAIT = {
    "view": {"page"},
    "tree": {"ancestors", "sites", "faces"},
    "other": {"faces"},
    "layout_of_tree": {"placed"},
    "lengths": {"placed"},
    "numbers": {"picture"},
    "resolve": {"ancestors"},
    "site": {"site"},
    "branch": {"branch"},
    "outgroup": {"ancestors"},
}
