"""The traits of the parsimony explorer, and its files."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import traitlets

from genobit.data.labels import text
from genobit.engine.spelling import did_you_mean
from genobit.io.trees import to_trees
from genobit.parsimony.plots.homoplasy import site_table
from genobit.parsimony.plots.layers import layers_of
from genobit.parsimony.plots.layout import arrange
from genobit.parsimony.plots.paper_tree import paper_tree
from genobit.parsimony.plots.pixel_layers import svg
from genobit.parsimony.plots.search_trace import search_trace
from genobit.parsimony.plots.states import SiteStates, changes_of, site_states
from genobit.parsimony.plots.tanglegram import draw_faced, face
from genobit.parsimony.plots.tree import KEY, LAYOUTS, LENGTHS, NUMBERS, title_of
from genobit.visual.explorer.explorer import Explorer
from genobit.visual.explorer.files import Export
from genobit.visual.explorer.frame import PICTURE
from genobit.visual.figure import Figure
from genobit.visual.style import number

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from genobit.parsimony.explorer.data import Ancestry, TreeData

_TREES = (".nwk", ".newick", ".tre", ".nex", ".nexus")
VIEWS = {"tree": "tree", "two trees": "two", "search": "search"}
RESOLVES = {
    "ACCTRAN": "acctran",
    "DELTRAN": "deltran",
    "all possible": "sets",
}


class ParsimonyTraits(Explorer):
    """The state of a parsimony explorer: its traits, and the tree that they determine."""

    known: TreeData
    n_sites: int
    _homoplasy: np.ndarray

    css = "genobit-parsimony"
    finds_all = True
    nouns: ClassVar = {"variants": ("site", "sites"), "samples": ("taxon", "taxa")}
    opened_by = "explore.parsimony"
    tabs = (PICTURE, "sites", "changes")
    view = traitlets.Enum(tuple(VIEWS.values()), "tree")
    tree = traitlets.Int(0)
    other = traitlets.Int(0)
    layout_of_tree = traitlets.Enum(LAYOUTS, LAYOUTS[0])
    lengths = traitlets.Enum(LENGTHS, LENGTHS[0])
    numbers = traitlets.Enum(NUMBERS, NUMBERS[0])
    resolve = traitlets.Enum(tuple(RESOLVES.values()), "acctran")
    site = traitlets.Int(0)
    branch: Any = traitlets.Int(None, allow_none=True)
    outgroup: Any = traitlets.Tuple(default_value=())
    tree_names: Any = traitlets.List(traitlets.Unicode())
    """Descriptions of all trees; users only read them."""

    # Results and actions for users.

    def find(self, words: str) -> None:
        """Choose a site by its index, or select taxa by their names.

        Parameters
        ----------
        words
            Index of a site, from 0, or names of taxa with commas or spaces between.

        Raises
        ------
        ValueError
            If a name is not a taxon; the message names it.
        TraitError
            If there is no such site.
        """
        names = re.findall(r"[^,;\s]+", words)
        # Names of taxa may have spaces.
        whole = words.strip()
        if whole in self.known.taxa:
            names = [whole]
        elif len(names) == 1 and names[0].isdecimal():
            if int(names[0]) >= self.n_sites:
                raise traitlets.TraitError(
                    f"there is no site {names[0]}: the sites are 0 to {self.n_sites - 1:,}"
                )
            self.site = int(names[0])
            self._mark({"site"})  # an earlier error goes, even if it is the site as before
            return
        if names:
            places = {name: k for k, name in enumerate(self.known.taxa)}
            for name in names:
                if name not in places:
                    some = ", ".join(self.known.taxa[:3])
                    raise ValueError(
                        f"there is no taxon {name!r} among the {len(places):,} ({some}, …)"
                        f"{did_you_mean(name, list(places))}"
                    )
            self._select("samples", [places[name] for name in names])

    @property
    def ancestry(self) -> Ancestry:
        """The shown tree with the states of its ancestors; waits until they are computed."""
        if not self.known.trees:
            raise ValueError("there is no tree yet; search for one, or give one")
        return self.known.ancestors(self.tree, self.outgroup, self.resolve)

    @property
    def newick(self) -> str:
        """The shown tree as Newick, with changes as branch lengths; waits until it is computed."""
        return self.ancestry.newick

    @property
    def sites(self) -> pd.DataFrame:
        """All sites with their changes on the shown tree, most homoplastic first.

        Waits until they are computed. The column `site` is an index, from 0.
        """
        return site_table(self.known.of(self.tree), self.n_sites)

    @property
    def changes(self) -> pd.DataFrame:
        """Changes on the marked branch, as a table with columns site, from and to."""
        if self.branch is None:
            raise ValueError("no branch is chosen; click one first")
        return changes_of(self.ancestry.states, self.branch)

    def search(self) -> None:
        """Search for the shortest trees, and show them."""
        what = f"the shortest trees of {len(self.known.taxa):,} taxa"
        self._work(what, self.known.find, self._got_trees)

    def root_here(self) -> None:
        """Root the tree in the middle of the marked branch."""
        if self.branch is None:
            raise ValueError("no branch is chosen; click one first")
        self.outgroup = self.known.below(self.ancestry, self.branch)

    def root_as_given(self) -> None:
        """Restore the root of the given tree."""
        self.outgroup = ()

    def next_site(self) -> None:
        """Choose the next homoplastic site: one with more changes than the fewest possible."""
        self._step(1)

    def previous_site(self) -> None:
        """Choose the previous homoplastic site: one with more changes than the fewest possible."""
        self._step(-1)

    def _step(self, direction: int) -> None:
        found = np.flatnonzero(self._homoplasy)
        if not len(found):
            raise ValueError("no site has more changes than it needs on this tree")
        ahead = found[found > self.site] if direction > 0 else found[found < self.site][::-1]
        around = found[0] if direction > 0 else found[-1]
        self.site = int(ahead[0] if len(ahead) else around)

    # Files.

    def _site_states(self) -> SiteStates:
        scores = self.known.of(self.tree)
        changes, least = (int(scores[name][self.site]) for name in ("changes", "min_changes"))
        about = f"{number(changes, 'change')}, at least {least} on any tree"
        states = site_states(self.ancestry.states, self.site, about)
        labels = [f"{name} {value}" for name, value in self.known.labels(self.site).items()]
        words = f"{states.name} ({', '.join(labels)}): {about}" if labels else states.title
        return replace(states, title=words)

    def _marks(self) -> dict[str, Any]:
        """Return the marks of the tree, as arguments of `plots.tree.draw_tree`."""
        tips = np.asarray(self._places("samples"))
        return {"numbers": self.numbers, "marked": self.branch, "selected": tips.tolist()}

    def save_tree(self, path: str | Path) -> Path:
        """Write the shown tree to a new file, with changes as branch lengths.

        The path ends in .nwk, .newick or .tre for Newick, or in .nex or .nexus for NEXUS. Returns
        the absolute path. Raises ValueError if there is no tree, and FileExistsError for an
        existing file.
        """
        writers = dict.fromkeys(_TREES, partial(to_trees, self.newick))
        return self._saved(path, writers, f"tree {self.tree}")

    def save_picture(self, path: str | Path) -> Path:
        """Write the picture of the shown tree to a new .svg file.

        Returns the absolute path. Raises ValueError if there is no tree, and FileExistsError for an
        existing file.
        """
        placed = arrange(self.ancestry.tree, self.layout_of_tree, self.lengths)
        states = self._site_states()
        layers = layers_of(placed, states, **self._marks())
        title = title_of(placed, states, self.known.title(self.tree))
        width, height = placed.frame
        text = svg(layers, width + KEY, height, title)
        writers = {".svg": lambda target: target.write_text(text, encoding="utf-8")}
        return self._saved(path, writers, f"the picture of tree {self.tree}")

    def save_sites(self, path: str | Path) -> Path:
        """Write all sites with their changes on the shown tree to a new .csv file.

        Returns the absolute path. Raises ValueError if there is no tree, and FileExistsError for an
        existing file.
        """
        return self._saved_table(path, self.sites, "site")

    def save_changes(self, path: str | Path) -> Path:
        """Write the changes of all branches of the shown tree to a new .csv file.

        Returns the absolute path. Raises ValueError if there is no tree, and FileExistsError for an
        existing file.
        """
        return self._saved_table(path, self.ancestry.changes(), "change")

    def figure(self) -> Figure:
        """Return the picture in view as a figure for papers.

        A tree always has the rectangular layout, beside a matrix of the sites with the most
        changes. Raises ValueError if there is no tree.
        """
        if self.view == "two":
            both, names = self._both()
            labels = both[0].tree.names[: both[0].tree.n_tips]
            faced = face(both[0].tree.parents, both[1].tree.parents)
            return Figure(draw_faced(faced, labels, names))
        if self.view == "search":
            if self.known.search is None:
                raise ValueError("these trees are not from a search, so there is no trace to draw")
            return Figure(search_trace(self.known.search))
        ancestry, title = self.ancestry, f"Tree {self.tree}"
        draw = partial(
            paper_tree,
            ancestry.states,
            site=self.site,
            alignment=self.known.alignment,
            title=title if len(self.known.trees) > 1 else "Parsimony tree",
            lengths=self.lengths,
            numbers=self.numbers,
            support=ancestry.tree.support if ancestry.tree.supported else None,
        )
        return Figure(None, draw, title)

    def _both(self) -> tuple[list[Ancestry], tuple[str, str]]:
        """Return the trees to draw face to face, and their names."""
        if len(self.known.trees) < 2:
            raise ValueError("There is one tree; give two or more to see them face to face.")
        if self.tree == self.other:
            raise ValueError("Choose another tree to compare with this one.")
        both = [self.known.ancestors(k, (), self.resolve) for k in (self.tree, self.other)]
        return both, (f"tree {self.tree}", f"tree {self.other}")

    @property
    def exports(self) -> tuple[Export, ...]:
        """Entries of the save menu."""
        newick = "the tree with changes as branch lengths"
        changes = "the changes of all branches"
        return (
            *self.papers,
            Export("tree (Newick)", ".nwk", self.save_tree, newick),
            Export("tree (NEXUS)", ".nex", self.save_tree, newick),
            Export("picture of the tree (SVG)", ".svg", self.save_picture, "the tree as drawn"),
            Export("sites (CSV)", "_sites.csv", self.save_sites, "all sites and their changes"),
            Export("changes (CSV)", "_changes.csv", self.save_changes, changes),
            self.page,
        )

    # Validation of traits.

    @traitlets.validate("site")
    def _check_site(self, proposal: Any) -> int:
        return _place(proposal, self.n_sites, "sites")

    @traitlets.validate("tree", "other")
    def _check_tree(self, proposal: Any) -> int:
        return _place(proposal, max(len(self.known.trees), 1), "trees")

    @traitlets.validate("branch")
    def _check_branch(self, proposal: Any) -> Any:
        if proposal["value"] is None or not self.known.trees:
            return None
        return _place(proposal, len(self.ancestry.tree.parents) - 1, "branches")

    @traitlets.validate("outgroup")
    def _check_outgroup(self, proposal: Any) -> tuple[str, ...]:
        names = tuple(text(list(proposal["value"])).tolist())
        unknown = [name for name in names if name not in self.known.taxa]
        if unknown:
            raise traitlets.TraitError(f"outgroup has {unknown[0]!r}, which is not a taxon")
        return names

    def _got_trees(self, result: Any, _seconds: float) -> None:
        """Show the trees that a search found."""
        raise NotImplementedError


def _place(proposal: Any, size: int, of: str) -> int:
    value, name = proposal["value"], proposal["trait"].name
    if not 0 <= value < size:
        raise traitlets.TraitError(f"{name} is {value}, and the {of} are 0 to {size - 1}")
    return int(value)
