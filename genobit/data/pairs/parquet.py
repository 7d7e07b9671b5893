"""Tables of pairs on disk: a folder with one Parquet file for each part, written atomically.

An interrupted run can resume: a folder inside the table's folder keeps the question and the
finished parts (`genobit.engine.schedule.checkpoints`). Memory holds the parts of one pass and the
planes they need.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.labels import text
from genobit.data.pairs.parts import FINISHED
from genobit.engine.files import WRITE, disk_full_named, local_path
from genobit.engine.progress import bar, note
from genobit.engine.schedule.checkpoints import TEMPORARY, Checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from genobit.data.pairs.parts import Parts

ABOUT = "table.json"
"""File in the folder of the checkpoint, with the row, the value and the attributes of the table."""
NAMES = "names.json"
"""File beside it, with the names of all rows of the matrix that the pairs are from."""
INCOMPLETE = "INCOMPLETE-repeat-the-call-of-to_parquet"
"""Marker file, present until all parts are written. It is not Parquet: readers refuse the folder
and print the file's name."""
PASS = 16
"""Parts in a pass: enough that the threads of one machine seldom wait for each other."""


def write(
    folder: str | os.PathLike[str],
    parts: Parts,
    about: Mapping[str, Any],
    names: Callable[[], Any] | None,
    *,
    progress: bool | None,
) -> Path:
    """Write the parts that are not finished yet; return the folder.

    ``about`` describes the whole table, and ``names`` returns the names of its rows, of those
    without a pair too. ``progress`` None follows `get_options`. Raises ValueError
    if the folder holds another table or other files, RuntimeError if another run is at work in it.
    """
    place = local_path(folder, "to_parquet()", WRITE)
    _check_folder(place, folder)
    with Checkpoint(place / FINISHED, parts.question(), called="") as kept:
        paths = [place / f"part-{k:06d}.parquet" for k in range(parts.count)]
        written = [k for unit in kept.units() for k in kept.read(unit)["parts"].tolist()]
        done = {k for k in written if paths[k].exists()}
        todo = [k for k in range(parts.count) if k not in done]
        if done and not todo and not (place / INCOMPLETE).exists():
            note(f"{place} is complete: nothing is computed", progress=progress)
            return place
        # A run that was killed before its first unit leaves parts, perhaps of other data.
        for left in {*place.glob("part-*.parquet")} - {paths[k] for k in done}:
            left.unlink()
        try:
            _fill(place, parts, paths, todo, kept, progress=progress)
        except BaseException:
            if not kept.begun():
                _remove(place)
            raise
        with disk_full_named(place):
            if names is not None:
                every = text(names()).tolist()
                (place / FINISHED / NAMES).write_text(json.dumps(every), "utf-8")
            (place / FINISHED / ABOUT).write_text(json.dumps(about, default=str), "utf-8")
        (place / INCOMPLETE).unlink(missing_ok=True)
    return place


def _fill(
    place: Path,
    parts: Parts,
    paths: list[Path],
    todo: list[int],
    kept: Checkpoint,
    *,
    progress: bool | None,
) -> None:
    """Write some parts."""
    with disk_full_named(place):
        (place / INCOMPLETE).write_text("Not all parts are written: repeat the call.")
    total, done = parts.count, parts.count - len(todo)
    with bar(progress=progress, total=total, initial=done, desc="pairs", unit="tile") as steps:
        for first in range(0, len(todo), PASS):
            numbers = todo[first : first + PASS]
            counts = parts.write(numbers, [paths[k] for k in numbers])
            # One checkpoint for each pass, because each waits for the disk.
            kept.write(numbers[0], {"parts": np.array(numbers), "pairs": np.array(counts)})
            steps.update(len(numbers))


def _remove(place: Path) -> None:
    """Remove the files of a run without a finished part, so that another run may take the folder.

    A task that still runs may write its part later; the next run removes it.
    """
    for path in (place / INCOMPLETE, *place.glob("part-*.parquet")):
        with suppress(OSError):
            path.unlink()
    for path in (place / FINISHED).glob(f"*{TEMPORARY}"):
        with suppress(OSError):
            path.unlink()


def _check_folder(place: Path, folder: str | os.PathLike[str]) -> None:
    if not os.fspath(folder):
        raise ValueError("to_parquet('') names no folder: name an empty or a new one")
    if place.exists() and not place.is_dir():
        raise ValueError(f"to_parquet({str(place)!r}) names a file: name a folder")
    if place.is_dir() and not (place / FINISHED).exists() and any(place.iterdir()):
        raise ValueError(
            f"to_parquet({str(place)!r}) names a folder of something else: it holds "
            f"{min(path.name for path in place.iterdir())!r}; name an empty or a new one"
        )
