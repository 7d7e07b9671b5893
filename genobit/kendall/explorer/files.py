"""The files that the Kendall explorer writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.visual.files import Export, csv_writer
from genobit.visual.style import number

if TYPE_CHECKING:
    from pathlib import Path

_FORMATS = {
    ".csv": "CSV",
    ".graphml": "GraphML",
    ".cyjs": "Cytoscape JSON",
    ".parquet": "Parquet",
}


class KendallFiles:
    """Saving, for the explorer."""

    def save(self: Any, path: str | Path) -> Path:
        """Write the edges of the threshold to a new file.

        Parameters
        ----------
        path
            Where to; its ending says how: .csv, .graphml, .cyjs or .json (Cytoscape), .parquet.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no edge, or the ending says nothing.
        FileExistsError
            If there is such a file already.
        """
        pairs = self.pairs
        if not len(pairs):
            raise ValueError("there is no edge to save; lower the threshold first")
        writers = {
            ".csv": csv_writer(pairs.to_pandas()),
            ".graphml": pairs.to_graphml,
            ".cyjs": pairs.to_cytoscape,
            ".json": pairs.to_cytoscape,
            ".parquet": pairs.to_parquet,
        }
        return self._saved(path, writers, number(len(pairs), "edge"))

    @property
    def exports(self: Any) -> tuple[Export, ...]:
        """What can be saved: the lines of the menu."""
        edges = "the edges of the threshold"
        formats = _FORMATS.items()
        return (
            *(Export(f"edges ({text})", ending, self.save, edges) for ending, text in formats),
            self.page,
        )
