"""Files that the parsimony explorer writes: trees, pictures and tables."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.io.trees import to_trees
from genobit.parsimony.explorer.traits import ParsimonyTraits
from genobit.parsimony.plots.homoplasy import site_table
from genobit.parsimony.plots.layers import layers_of
from genobit.parsimony.plots.pixel_layers import svg
from genobit.parsimony.plots.placing import arrange
from genobit.parsimony.plots.states import SiteStates, changes_of, site_states
from genobit.parsimony.plots.tree import KEY, title_of
from genobit.visual.files import Export
from genobit.visual.style import number

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

_TREES = (".nwk", ".newick", ".tre", ".nex", ".nexus")


class Files(ParsimonyTraits):
    """Results and files of the parsimony explorer."""

    @property
    def newick(self) -> str:
        """The shown tree as Newick, with changes as branch lengths; waits until it is computed."""
        return self.ancestry.newick

    @property
    def sites(self) -> pd.DataFrame:
        """All sites with their changes on the shown tree, most homoplastic first."""
        return site_table(self.known.of(self.tree), self.n_sites)

    @property
    def changes(self) -> pd.DataFrame:
        """Changes of the marked branch: site, from, to."""
        if self.branch is None:
            raise ValueError("no branch is chosen; click one first")
        return changes_of(self.ancestry.states, self.branch)

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

        Parameters
        ----------
        path
            File to write: .nwk, .newick or .tre for Newick, .nex or .nexus for NEXUS.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no tree, or the suffix is none of these.
        FileExistsError
            If the file exists.
        """
        writers = dict.fromkeys(_TREES, partial(to_trees, self.newick))
        return self._saved(path, writers, f"tree {self.tree + 1}")

    def save_picture(self, path: str | Path) -> Path:
        """Write the picture of the shown tree to a new file.

        Parameters
        ----------
        path
            File to write, .svg.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no tree, or the suffix is not .svg.
        FileExistsError
            If the file exists.
        """
        placed = arrange(self.ancestry.tree, self.layout_of_tree, self.lengths)
        states = self._site_states()
        layers = layers_of(placed, states, **self._marks())
        title = title_of(placed, states, self.known.title(self.tree))
        width, height = placed.frame
        text = svg(layers, width + KEY, height, title)
        writers = {".svg": lambda target: target.write_text(text, encoding="utf-8")}
        return self._saved(path, writers, f"the picture of tree {self.tree + 1}")

    def save_sites(self, path: str | Path) -> Path:
        """Write all sites with their changes on the shown tree to a new file.

        Parameters
        ----------
        path
            File to write, .csv.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no tree, or the suffix is not .csv.
        FileExistsError
            If the file exists.
        """
        return self._saved_table(path, self.sites, "site")

    def save_changes(self, path: str | Path) -> Path:
        """Write the changes of all branches of the shown tree to a new file.

        Parameters
        ----------
        path
            File to write, .csv.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no tree, or the suffix is not .csv.
        FileExistsError
            If the file exists.
        """
        import pandas as pd

        tree, states = self.ancestry.tree, self.ancestry.states
        tables = []
        for branch in range(tree.parents.size - 1):
            found = changes_of(states, branch)
            found.insert(0, "branch", str(tree.names[branch]))
            tables.append(found)
        table = pd.concat(tables, ignore_index=True)
        return self._saved_table(path, table, "change")

    @property
    def exports(self) -> tuple[Export, ...]:
        """Entries of the save menu."""
        newick = "the tree with changes as branch lengths"
        changes = "the changes of all branches"
        return (
            Export("tree (Newick)", ".nwk", self.save_tree, newick),
            Export("tree (NEXUS)", ".nex", self.save_tree, newick),
            Export("picture of the tree (SVG)", ".svg", self.save_picture, "the tree as drawn"),
            Export("sites (CSV)", "_sites.csv", self.save_sites, "all sites and their changes"),
            Export("changes (CSV)", "_changes.csv", self.save_changes, changes),
            self.page,
        )
