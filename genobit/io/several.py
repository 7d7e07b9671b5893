"""Let a reader take several files, such as one for each chromosome."""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, cast

from genobit.data.regions import NoRecordError
from genobit.engine.files import is_address
from genobit.io.concat import concat

if TYPE_CHECKING:
    import xarray as xr

_Path = str | os.PathLike[str]
_Arguments = ParamSpec("_Arguments")
_BESIDE = (
    ".bim", ".fam", ".map", ".tfam", ".pvar", ".psam", ".zst", ".sample", ".bgi", ".tbi", ".csi",
    ".log",
)  # fmt: skip
"""Endings of the files that lie beside genotypes."""


def takes_several(
    reader: Callable[Concatenate[_Path, _Arguments], xr.Dataset],
) -> Callable[Concatenate[_Path | Sequence[_Path], _Arguments], xr.Dataset]:
    """Return a reader that also takes a list of paths or a pattern, and joins along variants."""

    @functools.wraps(reader)
    def opened(
        path: _Path | Sequence[_Path], *args: _Arguments.args, **keywords: _Arguments.kwargs
    ) -> xr.Dataset:
        files = files_of(path)
        if files is None:
            return reader(cast("_Path", path), *args, **keywords)
        found, without = [], []
        for file in files:
            try:
                found.append(reader(file, *args, **keywords))
            except NoRecordError as error:
                without.append(error)
        if not found:
            msg = f"none of the {len(without)} files has a record there. {without[0]}"
            raise NoRecordError(msg)
        return concat(found, "variants")

    # mypy: a type of Concatenate has no names of arguments.
    return opened  # type: ignore[return-value]


def files_of(path: Any) -> list[_Path] | None:
    """Return the files of a list or a pattern such as "chr*.bed"; None for the path of one file.

    Files of a pattern are in natural order: chr2 before chr10.
    """
    if isinstance(path, list | tuple):
        if not path:
            msg = "the list of paths is empty: give the path of a file"
            raise ValueError(msg)
        return list(path)
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    if not isinstance(text, str) or is_address(text) or not glob.has_magic(text):
        return None
    local = Path(text).expanduser()
    if local.exists():
        return None
    found: list[str] = [file for file in glob.glob(str(local)) if not file.endswith(_BESIDE)]  # noqa: PTH207
    if not found:
        msg = f"no file matches {text!r}: give the path of a file, a list of paths, or a pattern"
        raise FileNotFoundError(msg)
    return [*sorted(found, key=_natural)]


def _natural(path: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in a path by value."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path)]
