"""File formats that the Kendall explorer writes."""

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
    """Methods of the explorer that save files."""

    def save(self: Any, path: str | Path) -> Path:
        """Write the edges that pass the threshold to a new file.

        Parameters
        ----------
        path
            Path of the file. Its suffix sets the format: .csv, .graphml, .cyjs or .json
            (Cytoscape), .parquet.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If there is no edge, or the suffix is unknown.
        FileExistsError
            If the file already exists.
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
        """Entries of the save menu."""
        edges = "the edges of the threshold"
        formats = _FORMATS.items()
        return (
            *(Export(f"edges ({text})", ending, self.save, edges) for ending, text in formats),
            self.page,
        )
