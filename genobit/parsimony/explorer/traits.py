"""The traits of the parsimony explorer, with their valid values, and actions that set them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from genobit.data.labels import text
from genobit.parsimony.plots.tree import LAYOUTS, LENGTHS, NUMBERS
from genobit.visual.explorer import Explorer

if TYPE_CHECKING:
    import ipywidgets

    from genobit.parsimony.explorer.data import Ancestry, TreeData

VIEWS = {"tree": "tree", "two trees": "two", "search": "search"}
RESOLVES = {
    "changes early (ACCTRAN)": "acctran",
    "changes late (DELTRAN)": "deltran",
    "all possible states": "sets",
}


class ParsimonyTraits(Explorer):
    """The state of a parsimony explorer: traits, and the tree that follows from them."""

    known: TreeData
    n_sites: int
    site_line: ipywidgets.HTML
    _homoplasy: np.ndarray

    css = "genobit-parsimony"
    selectable = "taxa or sites"
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

    # Results and actions for users.

    @property
    def ancestry(self) -> Ancestry:
        """The shown tree with the states of its ancestors; waits until they are computed."""
        if not self.known.trees:
            raise ValueError("there is no tree yet; search for one, or give one")
        return self.known.ancestors(self.tree, self.outgroup, self.resolve)

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
        """Root the tree as given."""
        self.outgroup = ()

    def next_site(self) -> None:
        """Choose the next site with more changes than it needs."""
        self._step(1)

    def previous_site(self) -> None:
        """Choose the previous site with more changes than it needs."""
        self._step(-1)

    def _step(self, direction: int) -> None:
        found = np.flatnonzero(self._homoplasy)
        if not len(found):
            raise ValueError("no site has more changes than it needs on this tree")
        ahead = found[found > self.site] if direction > 0 else found[found < self.site][::-1]
        around = found[0] if direction > 0 else found[-1]
        self.site = int(ahead[0] if len(ahead) else around)

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
