"""A folder that keeps each finished unit of a long run, so that the run can resume.

A file is written whole or not at all. A manifest stores the inputs of the run. A lock admits only
one run at a time. The result of a unit is a few named arrays.

`digest_of_inputs` tells whether two runs compute with equal data, wherever these came from. Names
of dask arrays cannot tell: they hold the path of a file, or a random number.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from contextlib import AbstractContextManager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from dask.core import flatten, toposort
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from genobit.engine.files import WRITE, disk_full_named, local_path
from genobit.engine.options import require_fits
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.graphs import Tasks, as_bytes, layer_name, named_layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import dask.array as da
    from numpy.typing import NDArray


FORMAT = 1
"""Version of the files. Other versions are refused."""
MANIFEST = "manifest.json"
LOCK = "lock"
TEMPORARY = ".unfinished"


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """Finished units of one run. Enter it to lock the folder.

    ``folder`` is made if it is missing. ``question`` describes the run as JSON; units of different
    questions, or of different versions of genobit, are never mixed. Raises ValueError if the folder
    holds another run or other files, and RuntimeError if another run is using it.

    A run begins with its first unit, or when ``begun(question)`` is true. Before that, another run
    may take the folder, and an error removes it. Messages call the folder ``called``.

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

    def __init__(
        self,
        folder: str | os.PathLike[str],
        question: Mapping[str, Any],
        *,
        called: str = "checkpoint=",
        begun: Callable[[Mapping[str, Any]], bool] = lambda _: False,
    ) -> None:
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
        asked = {"format": FORMAT, "genobit": version("genobit"), **question}
        self._question = json.loads(json.dumps(asked))
        self._name, self._has_begun = f"{called}{str(self.folder)!r}", begun
        self._made: list[Path] = []
        self._lock = FileLock(self.folder / LOCK, timeout=0)

    def __enter__(self) -> Self:
        """Create and lock the folder."""
        from filelock import Timeout

        if self.folder.exists() and not self.folder.is_dir():
            msg = f"{self._name} is a file: name a folder"
            raise ValueError(msg)
        self._made = [at for at in (self.folder, *self.folder.parents) if not at.exists()]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"{self._name} cannot be created ({error.strerror})"
            raise OSError(error.errno, f"{msg}: name another folder") from error
        try:
            self._lock.acquire()
        except Timeout:
            msg = f"another run uses {self._name}: name another folder"
            raise RuntimeError(msg) from None
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        """Unlock the folder; remove it after an error if no unit is finished."""
        removed = failed is not None and not self.begun()
        lock, posix = self.folder / LOCK, os.name == "posix"
        if removed:
            (self.folder / MANIFEST).unlink(missing_ok=True)
            if posix:
                # Once it is released, another run may lock this file.
                lock.unlink(missing_ok=True)
        self._lock.release()
        if removed:
            with suppress(OSError):
                if not posix:
                    # Windows removes no file that is locked.
                    lock.unlink(missing_ok=True)
                for at in self._made:
                    at.rmdir()

    def begun(self) -> bool:
        """Return whether anything of the run in the folder is finished."""
        return bool(self.units()) or self._has_begun(self._question)

    def _begin(self) -> None:
        """Resume the run in the folder, or write the manifest of a new one."""
        for left in self.folder.glob(f"*{TEMPORARY}"):
            left.unlink()
        manifest = self.folder / MANIFEST
        if manifest.exists():
            there = self._read(manifest)
            if there.get("format") != FORMAT or self.units() or self._has_begun(there):
                self._compare(there)
                return
        elif others := sorted(p.name for p in self.folder.iterdir() if p.name != LOCK):
            msg = (
                f"{self._name} has no {MANIFEST} and holds {others[0]!r}: it is not the folder of "
                "a run; name an empty or a new one"
            )
            raise ValueError(msg)
        text = json.dumps(self._question, indent=1, sort_keys=True)
        self._replace(manifest, text.encode())

    def _read(self, manifest: Path) -> dict[str, Any]:
        """Return the question of the run in the folder."""
        try:
            return dict(json.loads(manifest.read_bytes()))
        except (ValueError, TypeError) as error:
            msg = f"{manifest} is damaged ({error}): name another folder, or empty this one"
            raise ValueError(msg) from error

    def _compare(self, there: Mapping[str, Any]) -> None:
        """Raise ValueError if the folder holds another run."""
        known = {**self._question, **there}
        different = [k for k in known if there.get(k) != self._question.get(k)]
        if different:
            key = different[0]
            ours, theirs = self._question.get(key), there.get(key)
            said = f"its {key} is {theirs!r}, not {ours!r}"
            if isinstance(ours, dict) and isinstance(theirs, dict):
                # They are long, or digests: name the first that differs.
                first = next(k for k in {**theirs, **ours} if ours.get(k) != theirs.get(k))
                said = f"its {key} differ in {first!r}"
            elif isinstance(ours, str) and re.fullmatch("[0-9a-f]{32}", ours):
                said = f"its {key} differ"
            others = f" (and {', '.join(different[1:])} differ)" if different[1:] else ""
            msg = f"{self._name} holds another run: {said}{others}; name another folder"
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
        for piece in as_bytes(part) if isinstance(part, np.ndarray) else (part,):
            found.update(piece.encode() if isinstance(piece, str) else piece)
        found.update(b"\0")
    return found.hexdigest()


class Passes(MaterializedLayer):
    """Tasks that use each chunk of their inputs many times, as those of `Tasks` do."""


def digest_of_chunks(arrays: Sequence[da.Array]) -> str:
    """Return a digest of all chunks of arrays. Memory holds the chunks being computed."""
    graph = HighLevelGraph.merge(*(array.dask for array in arrays))
    return _digest(graph, [key for array in arrays for key in flatten(array.__dask_keys__())])


def digest_of_inputs(arrays: Sequence[da.Array]) -> str | None:
    """Return a digest of what the costly layers of arrays take, such as bit planes.

    Costly are products and searches over pairs of chunks. Returns None without such a layer: the
    arrays then take little longer to compute than to compare.
    """
    if not arrays:
        return None
    graph = HighLevelGraph.merge(*(array.dask for array in arrays))
    costly: set[str] = set()
    for name in toposort(dict(graph.dependencies)):
        layer = graph.layers[name]
        own = isinstance(layer, Passes) or (isinstance(layer, Tasks) and layer.costly)
        if own or not costly.isdisjoint(graph.dependencies[name]):
            costly.add(name)
    if not costly:
        return None
    taken = {below for name in costly for below in graph.dependencies[name]} - costly
    keys = [
        key
        for name, layer in graph.layers.items()
        if name in taken
        for key in sorted(layer.get_output_keys(), key=_place)
    ]
    return _digest(graph, keys)


def _place(key: Any) -> str:
    """Return where a chunk stands in its array; names differ between runs."""
    return repr(key[1:]) if isinstance(key, tuple) else ""


def _digest(graph: HighLevelGraph, keys: list[Any]) -> str:
    name, whole = named_layer("genobit-digest", _digests, keys, above=graph)
    (found,) = compute(Delayed(name, whole, layer=name))
    return digest(found)


def _digests(name: str, keys: list[Any]) -> dict[Any, Any]:
    layer: dict[Any, Any] = {(name, k): (_digest_of, key) for k, key in enumerate(keys)}
    layer[name] = (list, list(layer))
    return layer


def _digest_of(chunk: Any) -> str:
    return digest([chunk]) if isinstance(chunk, np.ndarray) else layer_name("value", chunk)
