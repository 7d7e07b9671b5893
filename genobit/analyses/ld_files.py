"""Tables of linked pairs on disk: a Parquet file for each tile, written whole or not at all.

A run that was stopped goes on where it was: a folder inside the table's keeps the question and
which tiles are finished (`genobit.lazy.checkpoints`). Held at a time are the tiles of one pass and
the planes they need.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.base import compute
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from genobit.lazy.checkpoints import TEMPORARY, Checkpoint, digest
from genobit.lazy.rows import ordered
from genobit.lazy.tiles import whole_rows
from genobit.progress import bar

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.packing import Layout

FINISHED = ".genobit"
"""Folder of what is finished; readers of Parquet pass over names with a dot."""
PASS = 16
"""Tiles of a pass: enough for the threads of one machine not to wait for each other for long."""


def question_of(
    planes: Mapping[str, da.Array],
    layout: Layout,
    last: NDArray[np.int64],
    labels: Mapping[str, NDArray[Any]],
) -> dict[str, Any]:
    """What tells one set of genotypes and windows from another.

    Of the calls only the first and the last chunk are looked at: to read all of them would take as
    long as to use them.
    """
    arrays = whole_rows(ordered(planes, layout))
    ends = compute(*[array.blocks[k] for k in (0, -1) for array in arrays])
    # By way of objects: what xarray reads from Zarr 3 is text of numpy's StringDType.
    named = [np.asarray(values).astype(object).astype("U") for values in labels.values()]
    return {
        "layout": layout.to_attributes(),
        "chunks": digest([np.array(arrays[0].chunks[0])]),
        "windows": digest([last]),
        "variants": digest(named),
        "calls": digest([np.asarray(end) for end in ends]),
    }


def _schema(example: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    fields = []
    for name, kind in example.dtypes.items():
        # An empty column of objects does not say that it is of texts.
        number = pd.api.types.is_numeric_dtype(kind)
        fields.append((name, pa.from_numpy_dtype(kind) if number else pa.string()))
    return pa.schema(fields)


def _write(frame: Any, path: Path, schema: Any) -> int:
    """Write a part whole or not at all; returns its pairs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [field.name for field in schema if field.type == pa.string()]
    # What pandas knows to be texts is let be: to make texts of them takes as long as to write.
    texts = {name: str for name in names if frame[name].dtype == object}
    frame = frame.astype(texts) if texts else frame
    table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
    with tempfile.NamedTemporaryFile(
        dir=path.parent / FINISHED, suffix=TEMPORARY, delete=False
    ) as unfinished:
        pq.write_table(table, unfinished)
    Path(unfinished.name).replace(path)
    return table.num_rows


def write(
    folder: str | os.PathLike[str],
    tiles: tuple[Sequence[Any], HighLevelGraph, Any],
    question: Mapping[str, Any],
    *,
    progress: bool | None,
) -> Path:
    """Write the tables of tiles that are not there yet; returns the folder.

    Parameters
    ----------
    folder
        Where; made if it is not there.
    tiles
        Keys, graph and example of `genobit.analyses.ld.pair_tiles`.
    question
        What is asked. Another one in the same folder is refused.
    progress
        Whether to show a bar; None for what `get_options` says.

    Raises
    ------
    ValueError
        If the folder holds the pairs of another question, or something else.
    RuntimeError
        If another run is at work in it.
    """
    keys, graph, example = tiles
    place, schema = Path(folder), _schema(example)
    _check_folder(place)
    with Checkpoint(place / FINISHED, question) as kept:
        paths = [place / f"part-{k:06d}.parquet" for k in range(len(keys))]
        written = [k for unit in kept.units() for k in kept.read(unit)["tiles"].tolist()]
        done = {k for k in written if paths[k].exists()}
        todo = [k for k in range(len(keys)) if k not in done]
        with bar(
            progress=progress, total=len(keys), initial=len(done), desc="pairs", unit="tile"
        ) as steps:
            for part in _batches(todo):
                name = f"genobit-write-{part[0]}-{keys[0][0]}"
                layer = {(name, k): (_write, keys[k], paths[k], schema) for k in part}
                whole = HighLevelGraph(
                    {**graph.layers, name: layer}, {**graph.dependencies, name: {keys[0][0]}}
                )
                counts = compute(*[Delayed(key, whole, layer=name) for key in layer])
                # One for each pass: it waits for the disk.
                kept.write(part[0], {"tiles": np.array(part), "pairs": np.array(counts)})
                steps.update(len(part))
    return place


def _batches(numbers: list[int]) -> list[list[int]]:
    return [numbers[k : k + PASS] for k in range(0, len(numbers), PASS)]


def _check_folder(place: Path) -> None:
    if place.exists() and not place.is_dir():
        msg = f"parquet={str(place)!r} is a file: name a folder"
        raise ValueError(msg)
    if place.is_dir() and not (place / FINISHED).exists() and any(place.iterdir()):
        msg = (
            f"parquet={str(place)!r} is a folder of something else: it holds "
            f"{min(path.name for path in place.iterdir())!r}; name an empty or a new one"
        )
        raise ValueError(msg)
