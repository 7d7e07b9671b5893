"""Text of files, plain or in gzip, never more of it in memory than `eager_limit` allows.

A file of 10 MB in gzip may inflate to 10 GB, and the line of a VCF may have no end. Both are
refused when the limit is passed.
"""

from __future__ import annotations

import gzip
from itertools import count
from typing import IO, TYPE_CHECKING, cast

from genobit.io._damage import named_damage
from genobit.options import get_options, require_fits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GZIP = b"\x1f\x8b"
LINE_COST = 16
"""Bytes of memory that a byte of a line takes while it is split and decoded."""


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, through gzip (bgzip is a kind of it) where it is compressed."""
    with path.open("rb") as file:
        compressed = file.read(2) == GZIP
    return cast("IO[bytes]", gzip.open(path)) if compressed else path.open("rb")


def read_bytes(path: Path, cost: int) -> bytes:
    """Read a file, inflated where it is compressed.

    Parameters
    ----------
    path
        The file.
    cost
        Bytes of memory that a byte of the text takes until the reader is done.

    Raises
    ------
    ValueError
        When it is past the limit or damaged.
    """
    most = get_options().eager_limit // cost
    require_fits(str(path), path.stat().st_size, cost)
    with named_damage(path), open_bytes(path) as file:
        data = file.read(most + 1)
    require_fits(f"{path}, decompressed,", len(data), cost)
    return data


def lines_of(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """Lines of an open file with their ends.

    Raises
    ------
    ValueError
        For a line past the limit, with its number.
    """
    most = get_options().eager_limit // LINE_COST
    for number in count(1):
        line = file.readline(most + 1)
        if not line:
            return
        if len(line) > most:
            require_fits(f"{path}: line {number}", len(line), LINE_COST)
        yield line
