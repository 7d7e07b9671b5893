"""Read text files, plain or gzip, within the memory that `eager_limit` allows.

A gzip file of 10 MB may inflate to 10 GB, and a line of a VCF may never end. Reading either stops
with an error once the limit is exceeded.
"""

from __future__ import annotations

import gzip
import io
from itertools import count
from typing import IO, TYPE_CHECKING, cast

from genobit.data.guards.damage import named_damage
from genobit.engine.options import get_options, require_fits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GZIP = b"\x1f\x8b"
TEXT_COST = 16
"""Bytes of memory per byte of text while it is split, decoded and converted to an array.
Measured: 19 for FASTA, 10 for .bim with blanks, 13 for .fam."""
_PART = 2**20
"""Letters of a line that are read at once."""


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, through gzip if it is compressed; bgzip is a kind of gzip."""
    with path.open("rb") as file:
        compressed = file.read(2) == GZIP
    return cast("IO[bytes]", gzip.open(path)) if compressed else path.open("rb")


def require_text_fits(path: Path, cost: int = TEXT_COST) -> None:
    """Raise ValueError if a plain text file would take more memory than the limit."""
    require_fits(f"the text of {path}", path.stat().st_size, cost)


def read_bytes(path: Path, cost: int = TEXT_COST) -> bytes:
    """Return a whole text file, decompressed if necessary.

    ``cost`` is the memory in bytes that the reader takes for each byte. Raises ValueError if
    it exceeds the limit or is damaged.
    """
    require_text_fits(path, cost)
    most = get_options().eager_limit // cost
    with named_damage(path), open_bytes(path) as file:
        data = file.read(most + 1)
    require_fits(f"the decompressed text of {path}", len(data), cost)
    return data


def open_text(path: Path) -> io.TextIOWrapper:
    """Open a UTF-8 text file, through gzip if it is compressed."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8")


def lines_of(file: IO[str], path: Path) -> Iterator[str]:
    """Yield the lines of an open file with their line ends.

    Raises ValueError with the line number for a line that exceeds the limit.
    """
    most = get_options().eager_limit // TEXT_COST
    for number in count(1):
        line = file.readline(_PART)
        if len(line) == _PART:
            line = _long_line(file, line, most, f"{path}: line {number}")
        if not line:
            return
        yield line


def _long_line(file: IO[str], start: str, most: int, what: str) -> str:
    """Return a line by its start; it is held once until it is known to fit."""
    parts, size = [start], len(start)
    while size <= most and not parts[-1].endswith("\n") and (part := file.readline(_PART)):
        parts.append(part)
        size += len(part)
    require_fits(what, size, TEXT_COST)
    return "".join(parts)
