"""The files that the Kendall explorer writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .files import new_file

if TYPE_CHECKING:
    from pathlib import Path

    from genobit.network import PairTable

#: Endings of the files that have a button, and what it is called.
FORMATS = {".csv": "CSV", ".graphml": "GraphML", ".cyjs": "Cytoscape JSON"}


def write_pairs(pairs: PairTable, path: str | Path) -> Path:
    """Write edges to a new file.

    Parameters
    ----------
    pairs
        The edges.
    path
        Where to; its ending says how: .csv, .graphml, .cyjs or .json (Cytoscape), .parquet.

    Returns
    -------
    The absolute path.

    Raises
    ------
    ValueError
        If the ending says nothing.
    FileExistsError
        If there is such a file already.
    """
    writers = {
        ".csv": lambda file: pairs.to_pandas().to_csv(file, index=False),
        ".graphml": pairs.to_graphml,
        ".cyjs": pairs.to_cytoscape,
        ".json": pairs.to_cytoscape,
        ".parquet": pairs.to_parquet,
    }
    target = new_file(path, writers)
    writers[target.suffix](target)
    return target
