"""Local paths, atomic replacement of files, and full-disk errors that name the path.

May import: nothing of genobit. Every reader and writer of files takes its path from this module.
"""

from __future__ import annotations

import atexit
import errno
import os
import re
import shutil
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# Match one slash: Path("s3://bucket") keeps only one. A single letter is a Windows drive. fsspec
# chains protocols, as in "zip::https://".
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+:/")
_LAST_CHUNK = 0.2
"""Seconds in which a thread writes the chunk that it has begun."""
_TRIES = 3
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


READ = (
    "download the file first; only Zarr and .bed are read from addresses, by open_vcf_zarr, "
    "xarray.open_zarr and open_plink"
)
WRITE = "write to a local path, and copy the result there"


def is_address(path: object) -> bool:
    """Return whether a path is a remote address, such as ``s3://bucket/x``.

    Examples
    --------
    >>> is_address("s3://bucket/x"), is_address("C:/x"), is_address("folder/x")
    (True, False, False)
    """
    return isinstance(path, str | os.PathLike) and bool(_ADDRESS.match(os.fsdecode(path)))


def address(path: str | os.PathLike[str]) -> str:
    """Return an address with both slashes; `Path` removes one."""
    text = os.fspath(path)
    return text if "://" in text else text.replace(":/", "://", 1)


def local_path(path: Any, what: str, instead: str = READ) -> Path:
    """Return a path on this machine, with ``~`` replaced by the home folder.

    ``what`` is the function or argument that takes the path, and ``instead`` the remedy (`READ`,
    `WRITE` or another text), both for the message. Raises ValueError for an address such as
    ``s3://bucket/x``.

    Examples
    --------
    >>> local_path("s3://bucket/x", "to_gcta", "write to a local path")
    Traceback (most recent call last):
    ValueError: to_gcta takes a path on this machine, not 's3://bucket/x': write to a local path
    """
    if is_address(path):
        msg = f"{what} takes a path on this machine, not {address(path)!r}: {instead}"
        raise ValueError(msg)
    if not isinstance(path, str | os.PathLike):
        msg = f"{what} takes a path, not {path!r} of type {type(path).__name__}"
        raise TypeError(msg)
    return Path(path).expanduser()


def require_file(path: Path, remedy: str) -> Path:
    """Return the path of a file; raise FileNotFoundError with a remedy for anything else."""
    if not path.is_file():
        other = "is a folder" if path.is_dir() else "is no file"
        raise FileNotFoundError(f"{path} {other if path.exists() else 'does not exist'}: {remedy}")
    return path


@contextmanager
def disk_full_named(
    path: str | os.PathLike[str], remedy: str = "free some space, then repeat the call"
) -> Iterator[None]:
    """Add the path to a full-disk error; most libraries raise it without one.

    Raises OSError with the path if the chain of an error contains a full disk or quota.
    """
    try:
        yield
    except Exception as error:
        full = full_disk(error)
        if full is None or (full is error and full.filename is not None):
            raise
        text = f"{os.strerror(full.errno or errno.ENOSPC)} ({remedy})"
        raise OSError(full.errno, text, full.filename or str(path)) from error


def full_disk(error: BaseException | None) -> OSError | None:
    """Return the full-disk error in the chain of ``error``, or None."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return error
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def replacing(*paths: str | os.PathLike[str], overwrite: bool = False) -> Iterator[list[Path]]:
    """Yield paths to write to, beside the given ones; when the block succeeds they replace them.

    After an error the new files are removed and the old files are unchanged. A device or a pipe is
    written to directly. A symbolic link stays, and the file it points to is replaced. Raises
    FileExistsError for an existing file without ``overwrite``, FileNotFoundError if the folder does
    not exist, IsADirectoryError if a path is a folder, and OSError with the path if the disk is
    full.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with replacing(path) as (new,):
    ...     _ = new.write_text("complete")
    >>> path.read_text(), [p.name for p in path.parent.iterdir()]
    ('complete', ['note.txt'])
    """
    targets = [Path(os.path.realpath(path)) for path in paths]
    for path, target in zip(paths, targets, strict=True):
        if target.is_file() and not overwrite:
            msg = f"{path} exists: name another path, or replace it with overwrite=True"
            raise FileExistsError(msg)
    written = [_beside(target) for target in targets]
    try:
        with disk_full_named(targets[0]):
            yield written
        for new, target in zip(written, targets, strict=True):
            if new != target and new.exists():
                if target.is_file():
                    shutil.copymode(target, new)
                new.replace(target)
    finally:
        for new, target in zip(written, targets, strict=True):
            if new != target:
                remove(new)


def _beside(target: Path) -> Path:
    """Return a new name in the same folder, or the target itself if it is a device or a pipe."""
    if not target.parent.is_dir():
        msg = f"{target}: there is no folder {str(target.parent)!r}; make it first"
        raise FileNotFoundError(errno.ENOENT, msg)
    if target.is_dir():
        msg = f"{target} is a folder: name a file in it"
        raise IsADirectoryError(errno.EISDIR, msg)
    if target.exists() and not target.is_file():
        return target
    # Keep the suffix: some writers choose the format by it. A file name has at most 255 bytes.
    return target.with_name(f".{target.stem[:40]}-{uuid.uuid4().hex[:12]}.partial{target.suffix}")


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there, beside threads that may still write to it."""
    for _ in range(_TRIES):
        if not path.is_dir():
            path.unlink(missing_ok=True)
            return
        shutil.rmtree(path, ignore_errors=True)
        # After an error or Ctrl-C, a running thread makes the folder again for its last chunk.
        time.sleep(_LAST_CHUNK)
    # A chunk may take longer than all tries.
    atexit.register(shutil.rmtree, path, ignore_errors=True)
