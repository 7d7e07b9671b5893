"""A folder that keeps each finished unit of a long run, so that the run can resume.

A file is written whole or not at all. A manifest stores the inputs of the run. A lock admits only
one run at a time. The result of a unit is a few named arrays.
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
"""Version of the files. Other versions are refused."""
MANIFEST = "manifest.json"
LOCK = "lock"
TEMPORARY = ".unfinished"


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """Finished units of one run. Enter it to lock the folder.

    ``folder`` is made if it is missing. ``question`` describes the run as JSON; units of different
    questions are never mixed. Raises ValueError if the folder holds another run or other files, and
    RuntimeError if another run is using it.

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
            msg = f"checkpoint={folder!r} is not a path: name a folder"
            raise TypeError(msg)
        if folder == "":
            # Path("") would be the current folder.
            msg = "checkpoint='' is not a path: name a folder"
            raise ValueError(msg)
        self.folder = local_path(folder, "checkpoint=", WRITE)
        # JSON turns tuples into lists: convert here too, for the comparison with the file.
        self._question = json.loads(json.dumps({"format": FORMAT, **question}))
        self._lock = FileLock(self.folder / LOCK, timeout=0)

    def __enter__(self) -> Self:
        """Create and lock the folder."""
        from filelock import Timeout

        if self.folder.exists() and not self.folder.is_dir():
            msg = f"checkpoint={str(self.folder)!r} is a file: name a folder"
            raise ValueError(msg)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"checkpoint={str(self.folder)!r} cannot be created ({error.strerror})"
            raise OSError(error.errno, f"{msg}: name another folder") from error
        try:
            self._lock.acquire()
        except Timeout:
            msg = f"another run uses checkpoint={str(self.folder)!r}: name another folder"
            raise RuntimeError(msg) from None
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Unlock the folder."""
        self._lock.release()

    def _begin(self) -> None:
        """Resume the run in the folder, or write the manifest of a new one."""
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
                "not the folder of a run; name an empty or a new one"
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
        """Save the arrays of a unit."""
        content = io.BytesIO()
        named: dict[str, Any] = dict(arrays)
        np.savez(content, **named)
        self._replace(self._path(unit), content.getvalue())

    def units(self) -> set[int]:
        """Return the numbers of the finished units."""
        named = (re.fullmatch(r"unit-(\d{9,})\.npz", path.name) for path in self.folder.iterdir())
        return {int(found[1]) for found in named if found}

    def read(self, unit: int) -> dict[str, NDArray[Any]]:
        """Return the arrays of a unit. Raises ValueError if its file is damaged."""
        path = self._path(unit)
        try:
            # Reading a member checks its checksum.
            with zipfile.ZipFile(path) as file:
                require_fits("what it inflates to", sum(m.file_size for m in file.infolist()))
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                return dict(arrays)
        # A bad byte can make zipfile and numpy raise almost anything, even MemoryError.
        except Exception as error:
            msg = f"{path} is damaged ({error}): remove it, and its unit is computed again"
            raise ValueError(msg) from error


def digest(parts: Iterable[NDArray[Any] | bytes | str]) -> str:
    """Return a hash of arrays (dtype, shape and values) and texts.

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
