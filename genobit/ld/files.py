"""Tables of linked pairs on disk: one Parquet file for each tile, written atomically.

An interrupted run can resume: a folder inside the table's folder keeps the question and the
finished tiles (`genobit.engine.schedule.checkpoints`). Memory holds the tiles of one pass and the
planes they need.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.base import compute
from dask.delayed import Delayed

from genobit.data.labels import text
from genobit.engine.files import WRITE, disk_full_named, local_path
from genobit.engine.progress import bar
from genobit.engine.schedule.blocks import ordered
from genobit.engine.schedule.checkpoints import TEMPORARY, Checkpoint, digest
from genobit.engine.schedule.names import named_layer
from genobit.engine.schedule.tiles import whole_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout

FINISHED = ".genobit"
"""Folder of the checkpoint; Parquet readers skip names that start with a dot."""
INCOMPLETE = "INCOMPLETE-repeat-the-call-of-ld_pairs.parquet"
"""Marker file, present until all parts are written. It is not Parquet: readers refuse the folder
and print the file's name."""
END_VARIANTS, END_BYTES = 1000, 2**20
"""Most variants at either end whose calls identify the genotypes, and most bytes of one plane of
them. The bytes limit long rows, because all these rows are in memory together."""
PASS = 16
"""Tiles in a pass: enough that the threads of one machine seldom wait for each other."""


def question_of(
    planes: Mapping[str, da.Array],
    layout: Layout,
    last: NDArray[np.int64],
    labels: Mapping[str, NDArray[Any]],
) -> dict[str, Any]:
    """Return what identifies the genotypes and windows of a table, to match a resumed run.

    Reads the calls of the first and last variants only: reading all calls takes as long as the
    analysis.
    """
    arrays = whole_rows(ordered(planes, layout))
    most = min(END_VARIANTS, max(1, END_BYTES // (8 * max(1, layout.words))))
    ends = compute(*[array[end] for end in (slice(most), slice(-most, None)) for array in arrays])
    named = [
        values if values.dtype.kind in "biuf" else _marked(text(values, name, missing=None))
        for name, values in labels.items()
    ]
    return {
        "layout": layout.to_attributes(),
        "chunks": digest([np.array(arrays[0].chunks[0])]),
        "windows": digest([last]),
        "variants": digest(named),
        "calls": digest([np.asarray(end) for end in ends]),
    }


def _marked(texts: NDArray[np.object_]) -> NDArray[np.str_]:
    """Return texts in which a missing label differs from an empty one."""
    return np.array(["" if label is None else f"={label}" for label in texts], "U")


def _writes(name: str, files: list[tuple[int, Any, Path]]) -> dict[Any, Any]:
    return {(name, k): (_write, key, path) for k, key, path in files}


def _write(table: Any, path: Path) -> int:
    """Write a part atomically; returns its number of pairs."""
    import pyarrow.parquet as pq

    with (
        disk_full_named(path),
        tempfile.NamedTemporaryFile(
            dir=path.parent / FINISHED, suffix=TEMPORARY, delete=False
        ) as unfinished,
    ):
        pq.write_table(table, unfinished)
    Path(unfinished.name).replace(path)
    return int(table.num_rows)


def write(
    folder: str | os.PathLike[str],
    keys: Sequence[Any],
    graph: HighLevelGraph,
    question: Mapping[str, Any],
    *,
    progress: bool | None,
) -> Path:
    """Write the tables of tiles that are not finished yet; returns the folder.

    ``keys`` and ``graph`` come from `genobit.ld.matrix.pair_tiles`, with pyarrow tables.
    ``question`` identifies the table. ``progress`` None follows `get_options`. Raises ValueError if
    the folder holds another question or other files, RuntimeError if another run is at work in it.
    """
    place = local_path(folder, "parquet=", WRITE)
    _check_folder(place, folder)
    with Checkpoint(place / FINISHED, question) as kept:
        paths = [place / f"part-{k:06d}.parquet" for k in range(len(keys))]
        written = [k for unit in kept.units() for k in kept.read(unit)["tiles"].tolist()]
        done = {k for k in written if paths[k].exists()}
        todo = [k for k in range(len(keys)) if k not in done]
        if todo:
            with disk_full_named(place):
                (place / INCOMPLETE).write_text("Not all parts are written: repeat the call.")
        with bar(
            progress=progress, total=len(keys), initial=len(done), desc="pairs", unit="tile"
        ) as steps:
            for part in _batches(todo):
                files = [(k, keys[k], paths[k].absolute()) for k in part]
                name, whole = named_layer("genobit-write", _writes, files, above=graph)
                counts = compute(*[Delayed((name, k), whole, layer=name) for k in part])
                # One checkpoint for each pass, because each waits for the disk.
                kept.write(part[0], {"tiles": np.array(part), "pairs": np.array(counts)})
                steps.update(len(part))
        (place / INCOMPLETE).unlink(missing_ok=True)
    return place


def _batches(numbers: list[int]) -> list[list[int]]:
    return [numbers[k : k + PASS] for k in range(0, len(numbers), PASS)]


def _check_folder(place: Path, folder: str | os.PathLike[str]) -> None:
    if not os.fspath(folder):
        raise ValueError("parquet='' is not a folder: name an empty or a new one")
    if place.exists() and not place.is_dir():
        msg = f"parquet={str(place)!r} is a file: name a folder"
        raise ValueError(msg)
    if place.is_dir() and not (place / FINISHED).exists() and any(place.iterdir()):
        msg = (
            f"parquet={str(place)!r} is a folder of something else: it holds "
            f"{min(path.name for path in place.iterdir())!r}; name an empty or a new one"
        )
        raise ValueError(msg)
