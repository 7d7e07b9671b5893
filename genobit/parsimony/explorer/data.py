"""Trees of a parsimony explorer, with their scores and ancestors, without drawing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.labels import decoded, text
from genobit.data.topology import tips
from genobit.io.tree_files.tree_nodes import is_number
from genobit.io.trees import Phylogeny, newick, read_trees
from genobit.parsimony.methods.lengths import ParsimonyMethods
from genobit.parsimony.methods.search import ParsimonySearchMethods
from genobit.parsimony.plots.layout import Tree, tree_of
from genobit.parsimony.plots.states import changes_of
from genobit.parsimony.rooting import branch_of, rooted_at
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import xarray as xr

#: Most taxa of an alignment that is searched without a click.
SEARCHED = 60
#: Number of trees whose ancestors are cached.
_KEPT = 4


@dataclass
class Ancestry:
    """A rooted tree with the states of its ancestors."""

    phylogeny: Phylogeny
    states: xr.Dataset
    tree: Tree

    @property
    def newick(self) -> str:
        """The tree as Newick, with changes as branch lengths and support at inner nodes."""
        tree, labels = self.tree, self.phylogeny.labels
        lengths = tree.changes.astype("f8")
        lengths[-1] = np.nan
        return newick(tree.parents, labels[: tree.n_tips], labels, lengths)

    def changes(self) -> pd.DataFrame:
        """Return the changes of all branches: branch, site, from, to."""
        import pandas as pd

        tables = []
        for branch in range(self.tree.parents.size - 1):
            found = changes_of(self.states, branch)
            found.insert(0, "branch", str(self.tree.names[branch]))
            tables.append(found)
        return pd.concat(tables, ignore_index=True)


@dataclass
class TreeData:
    """An alignment (taxa, sites) and its trees."""

    alignment: xr.DataArray
    search: xr.Dataset | None = None
    trees: list[Phylogeny] = field(default_factory=list)
    scores: xr.Dataset | None = None
    _kept: dict[Any, Ancestry] = field(default_factory=dict)

    @property
    def taxa(self) -> list[str]:
        """Names of the taxa."""
        aln = self.alignment
        names = aln["taxa"].values if "taxa" in aln.coords else np.arange(aln.sizes["taxa"])
        return list(text(names).tolist())

    def labels(self, site: int) -> dict[str, Any]:
        """Return the coordinates of a site, such as its position."""
        coords = self.alignment.coords.items()
        return {
            str(k): decoded(v.values[site : site + 1], str(k))[0]
            for k, v in coords
            if v.dims == ("sites",) and k != "sites"
        }

    def read(self, trees: Any) -> None:
        """Read trees, in any form that `.genobit.parsimony()` takes.

        Raises ValueError if there is no tree.
        """
        self.trees = read_trees(trees, self.taxa).trees
        self.search = trees if hasattr(trees, "data_vars") else None
        if not self.trees:
            raise ValueError("no tree was given")

    def find(self) -> None:
        """Search for the shortest trees."""
        self.read(ParsimonySearchMethods(self.alignment).parsimony_search(seed=0))

    def score(self) -> xr.Dataset:
        """Compute the changes of all trees at all sites."""
        self.scores = ParsimonyMethods(self.alignment).parsimony(self.trees)
        return self.scores

    def length(self, tree: int) -> int:
        """Return the length of a tree."""
        return int(self.of(tree)["length"])

    def of(self, tree: int) -> xr.Dataset:
        """Return the scores of one tree; compute them if they are not known yet.

        Raises ValueError if there is no tree.
        """
        if not self.trees:
            raise ValueError("there is no tree yet; search for one, or give one")
        scores = self.scores
        if scores is None:
            # Not kept: the explorer draws when its own are there.
            scores = ParsimonyMethods(self.alignment).parsimony(self.trees)
        return scores.isel(trees=tree) if "trees" in scores.dims else scores

    def title(self, tree: int) -> str:
        """Return the title of a tree: its number from 0, length, CI and RI."""
        scores, many = self.of(tree), len(self.trees)
        which = f"tree {tree}: " if many > 1 else ""
        return (
            f"{which}{number(int(scores['length']), 'change')}, CI {float(scores['ci']):.3f}, "
            f"RI {float(scores['ri']):.3f}, {len(self.taxa):,} taxa"
            f"{f', {many:,} trees' if many > 1 else ''}"
        )

    def ancestors(self, tree: int, outgroup: Sequence[str], resolve: str) -> Ancestry:
        """Reconstruct the ancestors of a tree, rooted at an outgroup if there is one.

        Raises ValueError if no branch of the tree separates the outgroup from the other taxa.
        """
        wanted = (tree, tuple(outgroup), resolve)
        found = self._kept.get(wanted)
        if found is None:
            rooted = self._rooted(self.trees[tree], outgroup)
            states = ParsimonyMethods(self.alignment).ancestral_states(rooted, resolve=resolve)
            found = Ancestry(rooted, states, tree_of(states, support_of(rooted)))
            self._kept[wanted] = found
            for old in list(self._kept)[:-_KEPT]:
                del self._kept[old]
        return found

    def _rooted(self, phylogeny: Phylogeny, outgroup: Sequence[str]) -> Phylogeny:
        if not outgroup:
            return phylogeny
        names = self.taxa
        branch = branch_of(phylogeny.parents, [names.index(name) for name in outgroup])
        # A root of two branches is removed, and a taxon that was this root becomes a tip.
        top = np.flatnonzero(phylogeny.parents == phylogeny.parents.size - 1)
        sampled = tuple(tip for tip in phylogeny.sampled if top.size > 2 or tip not in top)
        if branch in sampled:
            msg = f"{outgroup[0]!r} is an inner node of this tree: root it at a branch, or as given"
            raise ValueError(msg)
        if branch is None:
            some = ", ".join(outgroup[:4]) + (", …" if len(outgroup) > 4 else "")
            raise ValueError(
                f"no branch of this tree separates {some} from the other taxa: root it at another "
                "branch, or as given"
            )
        rooted = rooted_at(phylogeny.parents, branch)
        n_tips = tips(phylogeny.parents)
        labels = [phylogeny.labels[max(k, 0)] if k >= n_tips else "" for k in rooted.branch]
        labels[:n_tips] = names
        return Phylogeny(rooted.parents, tuple(labels), None, sampled)

    def below(self, ancestry: Ancestry, branch: int) -> tuple[str, ...]:
        """Return the names of the taxa below the branch above node ``branch``."""
        below = np.zeros(ancestry.tree.parents.size, dtype=bool)
        below[branch] = True
        for node in range(branch - 1, -1, -1):
            below[node] = below[ancestry.tree.parents[node]]
        return tuple(name for name, here in zip(self.taxa, below, strict=False) if here)

    def name_of_branch(self, ancestry: Ancestry, branch: int, most: int = 4) -> str:
        """Return the name of the node below a branch, with up to ``most`` taxa below it."""
        name, below = str(ancestry.tree.names[branch]), self.below(ancestry, branch)
        if len(below) == 1:
            return name
        if not most:
            return f"{name} ({len(below)} taxa)"
        more = f" and {len(below) - most + 1} more" if len(below) > most else ""
        return f"{name} ({', '.join(below[: most - 1 if more else most])}{more})"


def support_of(phylogeny: Phylogeny) -> np.ndarray:
    """Return the support of branches from the labels of inner nodes, NaN for none, (nodes,)."""
    support = np.full(phylogeny.parents.size, np.nan)
    for node in range(tips(phylogeny.parents), support.size):
        if is_number(phylogeny.labels[node]):
            support[node] = float(phylogeny.labels[node])
    return support
