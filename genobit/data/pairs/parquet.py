"""Tables of pairs on disk: a folder with one Parquet file for each part, written atomically.

An interrupted run can resume: a folder inside the table's folder keeps the question and the
finished parts (`genobit.engine.schedule.checkpoints`). Memory holds the parts of one pass and the
planes they need.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.pairs.parts import FINISHED
from genobit.engine.files import WRITE, disk_full_named, local_path
from genobit.engine.progress import bar
from genobit.engine.schedule.checkpoints import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from genobit.data.pairs.parts import Parts

ABOUT = "table.json"
"""File in the folder of the checkpoint, with the row, the value and the attributes of the table."""
INCOMPLETE = "INCOMPLETE-repeat-the-call-of-to_parquet"
"""Marker file, present until all parts are written. It is not Parquet: readers refuse the folder
and print the file's name."""
PASS = 16
"""Parts in a pass: enough that the threads of one machine seldom wait for each other."""


def write(
    folder: str | os.PathLike[str],
    parts: Parts,
    about: Mapping[str, Any],
    *,
    progress: bool | None,
) -> Path:
    """Write the parts that are not finished yet; return the folder.

    ``about`` describes the whole table. ``progress`` None follows `get_options`. Raises ValueError
    if the folder holds another table or other files, RuntimeError if another run is at work in it.
    """
    place = local_path(folder, "to_parquet()", WRITE)
    _check_folder(place, folder)
    with Checkpoint(place / FINISHED, parts.question()) as kept:
        paths = [place / f"part-{k:06d}.parquet" for k in range(parts.count)]
        written = [k for unit in kept.units() for k in kept.read(unit)["parts"].tolist()]
        done = {k for k in written if paths[k].exists()}
        todo = [k for k in range(parts.count) if k not in done]
        if todo:
            with disk_full_named(place):
                (place / INCOMPLETE).write_text("Not all parts are written: repeat the call.")
        with bar(
            progress=progress, total=parts.count, initial=len(done), desc="pairs", unit="tile"
        ) as steps:
            for first in range(0, len(todo), PASS):
                numbers = todo[first : first + PASS]
                counts = parts.write(numbers, [paths[k] for k in numbers])
                # One checkpoint for each pass, because each waits for the disk.
                kept.write(numbers[0], {"parts": np.array(numbers), "pairs": np.array(counts)})
                steps.update(len(numbers))
        with disk_full_named(place):
            (place / FINISHED / ABOUT).write_text(json.dumps(about, default=str), "utf-8")
        (place / INCOMPLETE).unlink(missing_ok=True)
    return place


def _check_folder(place: Path, folder: str | os.PathLike[str]) -> None:
    if not os.fspath(folder):
        raise ValueError("to_parquet('') names no folder: name an empty or a new one")
    if place.exists() and not place.is_dir():
        msg = f"to_parquet({str(place)!r}) names a file: name a folder"
        raise ValueError(msg)
    if place.is_dir() and not (place / FINISHED).exists() and any(place.iterdir()):
        msg = (
            f"to_parquet({str(place)!r}) names a folder of something else: it holds "
            f"{min(path.name for path in place.iterdir())!r}; name an empty or a new one"
        )
        raise ValueError(msg)
