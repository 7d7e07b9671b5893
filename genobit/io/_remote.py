"""Files at addresses, such as ``https://`` and ``s3://``: sizes, ranges of bytes, and copies.

fsspec reads them. No connection stays open, so a task on another machine reads by the address
alone.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genobit.engine.extras import needed_by

if TYPE_CHECKING:
    from collections.abc import Iterator


def info_of(address: str) -> tuple[int, str]:
    """Return the size of a file in bytes, and a text that changes when the file does."""
    with _named(address):
        files, path = _opened(address)
        files.invalidate_cache(path)
        found = files.info(path)
        size = found.get("size")
        if found.get("partial") is False or size is None:
            raise OSError("the server sends no parts of files")
        return int(size), str(files.ukey(path))


def read_range(address: str, start: int, stop: int) -> bytes:
    """Return bytes start:stop of a file, or fewer at its end."""
    if start == stop:
        return b""
    with _named(address):
        files, path = _opened(address)
        found: bytes = files.cat_file(path, start=start, end=stop)
        if len(found) > stop - start:
            raise OSError("the server sends no parts of files")
        return found


@contextmanager
def copied(*addresses: str) -> Iterator[list[Path]]:
    """Yield local copies of files with their own names; a ValueError names the address."""
    with tempfile.TemporaryDirectory(prefix="genobit-") as folder:
        copies = [Path(folder) / address.rpartition("/")[2] for address in addresses]
        for address, copy in zip(addresses, copies, strict=True):
            with _named(address):
                files, path = _opened(address)
                copy.write_bytes(files.cat_file(path))
        try:
            yield copies
        except ValueError as error:
            text = str(error)
            for address, copy in zip(addresses, copies, strict=True):
                text = text.replace(str(copy), address)
            raise ValueError(text) from error


def _opened(address: str) -> tuple[Any, str]:
    with needed_by(f"reading {address}"):
        from fsspec.core import url_to_fs

        found: tuple[Any, str] = url_to_fs(address)
        return found


@contextmanager
def _named(address: str) -> Iterator[None]:
    """Name the address in errors; each protocol's library raises its own."""
    try:
        yield
    except (ModuleNotFoundError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{address} does not exist, or may not be read") from error
    except Exception as error:
        reason = str(error) or type(error).__name__
        msg = f"{address} cannot be read: {reason}. Download the file, and open the copy"
        raise OSError(msg) from error
