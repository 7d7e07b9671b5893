"""Text of files, plain or in gzip, never more of it in memory than `eager_limit` allows.

A file of 10 MB in gzip may inflate to 10 GB, and the line of a VCF may have no end. Both are
refused when the limit is passed.
"""

from __future__ import annotations

import gzip
import io
from itertools import count
from typing import IO, TYPE_CHECKING, AnyStr, cast

from genobit.data.guards.damage import named_damage
from genobit.engine.options import get_options, require_fits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GZIP = b"\x1f\x8b"
TEXT_COST = 16
"""Bytes of memory that a byte of text takes at most while it is split, decoded and made an array:
measured as 19 for FASTA, 10 for .bim of blanks and 13 for .fam."""


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, through gzip (bgzip is a kind of it) where it is compressed."""
    with path.open("rb") as file:
        compressed = file.read(2) == GZIP
    return cast("IO[bytes]", gzip.open(path)) if compressed else path.open("rb")


def require_text_fits(path: Path, cost: int = TEXT_COST) -> None:
    """Refuse a file of plain text that would take more memory than the limit.

    Raises
    ------
    ValueError
        Names the file and its size.
    """
    require_fits(f"the text of {path}", path.stat().st_size, cost)


def read_bytes(path: Path) -> bytes:
    """Read a text file whole, inflated where it is compressed.

    Raises
    ------
    ValueError
        When it is past the limit or damaged.
    """
    require_text_fits(path)
    most = get_options().eager_limit // TEXT_COST
    with named_damage(path), open_bytes(path) as file:
        data = file.read(most + 1)
    require_fits(f"the decompressed text of {path}", len(data), TEXT_COST)
    return data


def open_text(path: Path) -> io.TextIOWrapper:
    """Open a file of UTF-8, through gzip where it is compressed."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8")


def lines_of(file: IO[AnyStr], path: Path) -> Iterator[AnyStr]:
    """Lines of an open file with their ends.

    Raises
    ------
    ValueError
        For a line past the limit, with its number.
    """
    most = get_options().eager_limit // TEXT_COST
    for number in count(1):
        line = file.readline(most + 1)
        if not line:
            return
        if len(line) > most:
            require_fits(f"{path}: line {number}", len(line), TEXT_COST)
        yield line
