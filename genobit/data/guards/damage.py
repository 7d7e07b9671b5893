"""Turn errors from damaged files into errors that name the file and a remedy."""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GZIP_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)
"""Errors of `gzip` for a file that is not gzip, truncated or damaged."""


@contextmanager
def named_damage(path: Path) -> Iterator[None]:
    """Turn `GZIP_ERRORS` and UnicodeDecodeError into a ValueError with the file and a remedy."""
    try:
        yield
    except GZIP_ERRORS as error:
        raise ValueError(f"{path} is truncated or damaged: {error}. Copy it again.") from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 text: it holds the byte 0x{error.object[error.start]:02x}. "
            "Convert it: iconv -f LATIN1 -t UTF-8 FILE > NEW."
        ) from error


@contextmanager
def named_failure(what: object, remedy: str) -> Iterator[None]:
    """Turn every error of another library's reader into a ValueError that names the file.

    zarr, numcodecs and pyarrow raise any kind of error for a bad byte, including bare
    Exception, KeyError, MemoryError and SystemError. Keep the block to calls of such a library.
    ``what`` is the file and the part that is read; ``remedy`` is a sentence.
    """
    try:
        yield
    except Exception as error:
        reason = str(error).strip().rstrip(".") or "it declares more than fits into memory"
        msg = f"{what} cannot be read: {type(error).__name__}: {reason}. {remedy}"
        raise ValueError(msg) from error
