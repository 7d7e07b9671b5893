"""A folder that keeps each finished unit of a long run, for the run to go on after it was stopped.

A file is written whole or not at all, a manifest says what the run was asked for, and only one run
at a time has the folder. What a unit found is a few named arrays.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from genobit.engine.files import WRITE, disk_full_named, local_path
from genobit.engine.options import require_fits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

FORMAT = 1
"""Of the files; another one is refused."""
MANIFEST = "manifest.json"
LOCK = "lock"
TEMPORARY = ".unfinished"


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """Finished units of one run, entered by the run that writes them.

    Parameters
    ----------
    folder
        Where; made if it is not there.
    question
        What is asked, as JSON can say it. Units of another question are never mixed with these.

    Raises
    ------
    ValueError
        If the folder holds another run, or files of something else.
    RuntimeError
        If another run is at work in it.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Checkpoint(folder.name, {"order": 2}) as kept:
    ...     kept.write(7, {"scores": np.array([0.5])})
    >>> with Checkpoint(folder.name, {"order": 2}) as kept:
    ...     kept.units(), kept.read(7)
    ({7}, {'scores': array([0.5])})
    >>> folder.cleanup()
    """

    def __init__(self, folder: str | os.PathLike[str], question: Mapping[str, Any]) -> None:
        from filelock import FileLock

        given: object = folder
        if not isinstance(given, str | os.PathLike):
            msg = f"checkpoint={folder!r} is no path: name a folder"
            raise TypeError(msg)
        if folder == "":
            # Path("") is the current folder, which nobody means.
            msg = "checkpoint='' is no path: name a folder"
            raise ValueError(msg)
        self.folder = local_path(folder, "checkpoint=", WRITE)
        # As it comes back from the file: tuples are lists there.
        self._question = json.loads(json.dumps({"format": FORMAT, **question}))
        self._lock = FileLock(self.folder / LOCK, timeout=0)

    def __enter__(self) -> Self:
        """Take the folder."""
        from filelock import Timeout

        if self.folder.exists() and not self.folder.is_dir():
            msg = f"checkpoint={str(self.folder)!r} is a file: name a folder"
            raise ValueError(msg)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"checkpoint={str(self.folder)!r} cannot be made ({error.strerror})"
            raise OSError(error.errno, f"{msg}: name another folder") from error
        try:
            self._lock.acquire()
        except Timeout:
            msg = f"another run is at work in checkpoint={str(self.folder)!r}: name another folder"
            raise RuntimeError(msg) from None
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Let the folder go."""
        self._lock.release()

    def _begin(self) -> None:
        """Take up the run that is here, or begin one."""
        for left in self.folder.glob(f"*{TEMPORARY}"):
            left.unlink()
        manifest = self.folder / MANIFEST
        if manifest.exists():
            self._compare(manifest)
            return
        others = sorted(p.name for p in self.folder.iterdir() if p.name != LOCK)
        if others:
            msg = (
                f"checkpoint={str(self.folder)!r} has no {MANIFEST} and holds {others[0]!r}: it is "
                "no folder of a run; name an empty or a new one"
            )
            raise ValueError(msg)
        text = json.dumps(self._question, indent=1, sort_keys=True)
        self._replace(manifest, text.encode())

    def _compare(self, manifest: Path) -> None:
        try:
            there = json.loads(manifest.read_bytes())
            different = [k for k in self._question if there.get(k) != self._question[k]]
        except (ValueError, AttributeError) as error:
            msg = f"{manifest} is damaged ({error}): name another folder, or empty this one"
            raise ValueError(msg) from error
        different += [k for k in there if k not in self._question]
        if different:
            key = different[0]
            msg = (
                f"checkpoint={str(self.folder)!r} holds another run: its {key} is "
                f"{there.get(key)!r}, not {self._question.get(key)!r}"
                + (f" (and {', '.join(different[1:])} differ)" if different[1:] else "")
                + "; name another folder"
            )
            raise ValueError(msg)

    def _replace(self, path: Path, content: bytes) -> None:
        with (
            disk_full_named(path),
            tempfile.NamedTemporaryFile(
                dir=self.folder, suffix=TEMPORARY, delete=False
            ) as unfinished,
        ):
            unfinished.write(content)
            unfinished.flush()
            os.fsync(unfinished.fileno())
        Path(unfinished.name).replace(path)

    def _path(self, unit: int) -> Path:
        return self.folder / f"unit-{unit:09d}.npz"

    def write(self, unit: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep what a unit found."""
        content = io.BytesIO()
        named: dict[str, Any] = dict(arrays)
        np.savez(content, **named)
        self._replace(self._path(unit), content.getvalue())

    def units(self) -> set[int]:
        """Which are finished."""
        named = (re.fullmatch(r"unit-(\d{9,})\.npz", path.name) for path in self.folder.iterdir())
        return {int(found[1]) for found in named if found}

    def read(self, unit: int) -> dict[str, NDArray[Any]]:
        """What a unit found.

        Raises
        ------
        ValueError
            If its file is damaged.
        """
        path = self._path(unit)
        try:
            # The archive's checksums are compared as its members are read.
            with zipfile.ZipFile(path) as file:
                require_fits("what it inflates to", sum(m.file_size for m in file.infolist()))
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                return dict(arrays)
        # zipfile and numpy raise whatever a bad byte leads to: NotImplementedError, MemoryError.
        except Exception as error:
            msg = f"{path} is damaged ({error}): remove it, and its unit is computed again"
            raise ValueError(msg) from error


def digest(parts: Iterable[NDArray[Any] | bytes | str]) -> str:
    """Of arrays (type, shape and values) and texts, for a question.

    Examples
    --------
    >>> digest([np.arange(3), "case"]) == digest([np.arange(3), "case"])
    True
    """
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype.str}{part.shape}".encode())
            found.update(np.ascontiguousarray(part).data)
        else:
            found.update(part.encode() if isinstance(part, str) else part)
        found.update(b"\0")
    return found.hexdigest()
