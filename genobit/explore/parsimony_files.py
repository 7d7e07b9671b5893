"""What the parsimony explorer writes: trees, pictures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.io.trees import to_trees
from genobit.plots.marks import svg
from genobit.plots.style import number
from genobit.plots.tree_layers import layers_of
from genobit.plots.tree_placing import arrange
from genobit.plots.tree_states import changes_of
from genobit.plots.trees import KEY, title_of

from .files import new_file

if TYPE_CHECKING:
    from pathlib import Path

_TREES = (".nwk", ".newick", ".tre", ".nex", ".nexus")


class Files:
    """Saving, for the explorer."""

    def save_tree(self: Any, path: str | Path) -> Path:
        """Write the shown tree to a new file, its branches as long as their changes.

        Parameters
        ----------
        path
            Where to: .nwk, .newick or .tre, or .nex or .nexus.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no tree, or the ending is another.
        FileExistsError
            If there is such a file already.
        """
        tree = self.newick
        target = new_file(path, _TREES)
        to_trees(tree, target)
        return self._saved(f"tree {self.tree + 1}", target)

    def save_picture(self: Any, path: str | Path) -> Path:
        """Write the picture of the shown tree to a new file.

        Parameters
        ----------
        path
            Where to, .svg.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no tree, or the file is no .svg.
        FileExistsError
            If there is such a file already.
        """
        placed = arrange(self.ancestry.tree, self.layout_of_tree, self.lengths)
        states = self._site_states()
        layers = layers_of(placed, states, numbers=self.numbers, marked=self.branch)
        target = new_file(path, [".svg"])
        title = title_of(placed, states, self.known.title(self.tree))
        width, height = placed.frame
        target.write_text(svg(layers, width + KEY, height, title), encoding="utf-8")
        return self._saved(f"the picture of tree {self.tree + 1}", target)

    def save_sites(self: Any, path: str | Path) -> Path:
        """Write all sites with their changes on the shown tree to a new file.

        Parameters
        ----------
        path
            Where to, .csv.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no tree, or the file is no .csv.
        FileExistsError
            If there is such a file already.
        """
        table = self.sites
        target = new_file(path, [".csv"])
        table.to_csv(target, index=False)
        return self._saved(number(len(table), "site"), target)

    def save_changes(self: Any, path: str | Path) -> Path:
        """Write the changes of all branches of the shown tree to a new file.

        Parameters
        ----------
        path
            Where to, .csv.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no tree, or the file is no .csv.
        FileExistsError
            If there is such a file already.
        """
        import pandas as pd

        tree, states = self.ancestry.tree, self.ancestry.states
        tables = []
        for branch in range(tree.parents.size - 1):
            found = changes_of(states, branch)
            found.insert(0, "branch", str(tree.names[branch]))
            tables.append(found)
        table = pd.concat(tables, ignore_index=True)
        target = new_file(path, [".csv"])
        table.to_csv(target, index=False)
        return self._saved(number(len(table), "change"), target)

    def _saved(self: Any, what: str, target: Path) -> Path:
        self.status = f"Saved {what} to {target}"
        return target
