"""Exports of the Kendall explorer: edges, and the network as a figure for papers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from genobit.kendall.explorer.traits import KendallTraits
from genobit.kendall.plots.paper_network import paper_network
from genobit.visual.colouring import colouring
from genobit.visual.explorer.files import Export, csv_writer
from genobit.visual.figure import Figure
from genobit.visual.style import number

if TYPE_CHECKING:
    from pathlib import Path

    from genobit.kendall.explorer.data import Scene
    from genobit.visual.explorer.files import Writers

_FORMATS = {
    ".csv": "CSV",
    ".graphml": "GraphML",
    ".cyjs": "Cytoscape JSON",
    ".parquet": "Parquet",
}


class KendallFiles(KendallTraits):
    """The files of a Kendall explorer."""

    _scene: Scene | None

    def save(self, path: str | Path) -> Path:
        """Write the edges that pass the threshold to a new file.

        The path ends in .csv, .graphml, .cyjs or .json (Cytoscape), or .parquet. Returns the
        absolute path. Raises ValueError if there is no edge, and FileExistsError for an existing
        file.
        """
        pairs = self.pairs
        if not len(pairs):
            raise ValueError("there is no edge to save; lower the threshold first")
        table = pairs.to_dataframe()
        writers: Writers = {
            ".csv": csv_writer(table),
            ".graphml": pairs.to_graphml,
            ".cyjs": pairs.to_cytoscape,
            ".json": pairs.to_cytoscape,
            ".parquet": partial(table.to_parquet, index=False),
        }
        return self._saved(path, writers, number(len(pairs), "edge"))

    @property
    def exports(self) -> tuple[Export, ...]:
        """Entries of the export menu."""
        edges = "the edges of the threshold"
        formats = _FORMATS.items()
        return (
            *self.papers,
            *(Export(f"edges ({text})", ending, self.save, edges) for ending, text in formats),
            self.page,
        )

    def figure(self) -> Figure:
        """Return the network in view as a figure for papers.

        The chosen pair or variable has rings and names.
        """
        if self._scene is None:
            raise ValueError(f"there is no network to draw. {self.status}")
        shown, name = self._scene.shown, self.colour_by
        labels = self.correlated.variable_labels
        chosen = [*(self.pair or ()), *([] if self.variable is None else [self.variable])]
        marked = sorted({str(self.correlated.names[k]) for k in chosen if k in shown.variables})
        paper = partial(
            paper_network,
            shown.pairs,
            colour_by=colouring(name, labels[name]) if name else None,
            marked=marked,
        )
        size = f"{number(shown.size, 'variable')}, {number(len(shown.first), 'edge')}"
        return Figure(None, paper, f"network of {size}")
