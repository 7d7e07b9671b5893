"""Let a reader take several files, such as one for each chromosome."""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, cast

from genobit.data.regions import NoRecordError
from genobit.engine.files import is_address
from genobit.io.concat import concat

if TYPE_CHECKING:
    import xarray as xr

_Path = str | os.PathLike[str]
_Arguments = ParamSpec("_Arguments")
_Reader = Callable[Concatenate[_Path, _Arguments], "xr.Dataset"]
_OfSeveral = Callable[Concatenate[_Path | Iterable[_Path], _Arguments], "xr.Dataset"]


def takes_several(
    *endings: str,
) -> Callable[[_Reader[_Arguments]], _OfSeveral[_Arguments]]:
    """Return a decorator of readers: they also take paths or a pattern, and join the variants.

    ``endings`` are those of the files that a pattern means, the preferred one first.
    """

    def decorated(reader: _Reader[_Arguments]) -> _OfSeveral[_Arguments]:
        @functools.wraps(reader)
        def opened(
            path: _Path | Iterable[_Path], *args: _Arguments.args, **keywords: _Arguments.kwargs
        ) -> xr.Dataset:
            files = files_of(path, endings)
            if files is None:
                return reader(cast("_Path", path), *args, **keywords)
            found, without = {}, []
            for file in files:
                try:
                    found[os.fspath(file)] = reader(file, *args, **keywords)
                except NoRecordError as error:
                    without.append(error)
            if not found:
                msg = f"none of the {len(without)} files has a record there. {without[0]}"
                raise NoRecordError(msg)
            return _joined(found)

        # mypy: a type of Concatenate has no names of arguments.
        return opened  # type: ignore[return-value]

    return decorated


def _joined(found: dict[str, xr.Dataset]) -> xr.Dataset:
    """Return the Datasets of files joined along the variants; errors name the files."""
    if len(found) == 1:
        return next(iter(found.values()))
    try:
        return concat(list(found.values()), "variants")
    except (KeyError, ValueError) as error:
        names = list(found)
        text = re.sub(r"datasets\[(\d+)\]", lambda k: names[int(k[1])], str(error.args[0]))
        text = text.replace("join=", "genobit.concat of the opened files: join=", 1)
        text = text.replace("joined along dim='samples'", "joined by genobit.concat")
        raise type(error)(text) from error


def files_of(path: Any, endings: tuple[str, ...]) -> list[_Path] | None:
    """Return the files of some paths or of a pattern such as "chr*.bed"; None for one path.

    Files of a pattern are in natural order: chr2 before chr10.
    """
    if isinstance(path, str | os.PathLike):
        text = os.fspath(path)
        if not isinstance(text, str) or is_address(text) or not glob.has_magic(text):
            return None
        return _matching(Path(text).expanduser(), endings)
    if isinstance(path, bytes):
        return None
    if not isinstance(path, Iterable):
        raise TypeError(
            f"path={path!r} is of type {type(path).__name__}, expected the path of a file, a list "
            "of paths, or a pattern"
        )
    files = list(path)
    if not files:
        raise ValueError("the list of paths is empty: give the path of a file")
    repeated = next((file for k, file in enumerate(files) if file in files[:k]), None)
    if repeated is not None:
        msg = f"the file {os.fspath(repeated)!r} is twice in the list of paths: leave one out"
        raise ValueError(msg)
    return files


def _matching(pattern: Path, endings: tuple[str, ...]) -> list[_Path] | None:
    """Return the files of a pattern; None if it is the very name of a file."""
    if pattern.exists() or any(Path(f"{pattern}{ending}").exists() for ending in endings):
        return None
    every = glob.glob(str(pattern))  # noqa: PTH207
    every += [file for ending in endings for file in glob.glob(f"{pattern}{ending}")]  # noqa: PTH207
    for ending in endings:
        found = {file for file in every if file.endswith(ending)}
        if found:
            return [*sorted(found, key=_natural)]
    raise FileNotFoundError(
        f"no file of {' or '.join(endings)} matches {str(pattern)!r}: give the path of a file, a "
        "list of paths, or a pattern"
    )


def _natural(path: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in a path by value."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", path)
    ]
