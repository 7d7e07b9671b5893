"""What to say of a text file that is damaged, compressed badly or in another encoding."""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GZIP_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)
"""What `gzip` raises for a file that is no gzip, cut or changed."""


@contextmanager
def named_damage(path: Path) -> Iterator[None]:
    """Turn errors of decompressing and decoding into ones that name the file and a remedy.

    Raises
    ------
    ValueError
        In the place of `GZIP_ERRORS` and of UnicodeDecodeError.
    """
    try:
        yield
    except GZIP_ERRORS as error:
        msg = f"{path} is truncated or damaged: {error}. Copy it again."
        raise ValueError(msg) from error
    except UnicodeDecodeError as error:
        msg = (
            f"{path} is not UTF-8 text: it holds the byte 0x{error.object[error.start]:02x}. "
            "Convert it: iconv -f LATIN1 -t UTF-8 FILE > NEW."
        )
        raise ValueError(msg) from error
