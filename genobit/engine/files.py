"""Local paths, files that are replaced only when complete, and full disks with their path.

May import: nothing of genobit. Every reader and writer of files takes its path from here.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# One slash, as Path("s3://bucket") keeps one. A single letter is a drive of Windows.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


READ = (
    "download the file first; only Zarr is read from addresses, by open_vcf_zarr and "
    "xarray.open_zarr"
)
WRITE = "write to a local path, and copy the result there"


def is_address(path: object) -> bool:
    """Whether a path names a place on another machine, such as ``s3://bucket/x``.

    Examples
    --------
    >>> is_address("s3://bucket/x"), is_address("C:/x"), is_address("folder/x")
    (True, False, False)
    """
    return isinstance(path, str | os.PathLike) and bool(_ADDRESS.match(os.fsdecode(path)))


def address(path: str | os.PathLike[str]) -> str:
    """An address with both slashes, one of which `Path` takes away."""
    text = os.fspath(path)
    return text if "://" in text else text.replace(":/", "://", 1)


def local_path(path: str | os.PathLike[str], what: str, instead: str = READ) -> Path:
    """Return a path on this machine, with ``~`` replaced by the home folder.

    Parameters
    ----------
    path
        The path that the user gave.
    what
        The function or argument that takes it, for the message.
    instead
        What to do with an address, for the message; `READ`, `WRITE` or another text.

    Raises
    ------
    ValueError
        For an address such as ``s3://bucket/x``.

    Examples
    --------
    >>> local_path("s3://bucket/x", "to_gcta", "write to a local path")
    Traceback (most recent call last):
    ValueError: to_gcta takes a path on this machine, not 's3://bucket/x': write to a local path
    """
    if is_address(path):
        msg = f"{what} takes a path on this machine, not {address(path)!r}: {instead}"
        raise ValueError(msg)
    return Path(path).expanduser()


@contextmanager
def disk_full_named(
    path: str | os.PathLike[str], remedy: str = "free some space, then repeat the call"
) -> Iterator[None]:
    """Name the path in an error of a full disk, which comes without one from most libraries.

    Raises
    ------
    OSError
        With the path, for a full disk or quota anywhere in the chain of an error.
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
    """The error of a full disk that led to this one, if any."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return error
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def replacing(*paths: str | os.PathLike[str]) -> Iterator[list[Path]]:
    """Yield paths to write to, beside the given ones; when the block succeeds they replace them.

    After an error, nothing of the new files is left and the old files are as they were. A device
    or a pipe is written to directly. A symbolic link stays, and the file it points to is replaced.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    IsADirectoryError
        If a path is a folder.
    OSError
        With the path, if the disk is full.

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
                _remove(new)


def _beside(target: Path) -> Path:
    """A new name in the same folder; the target itself if it is a device or a pipe."""
    if not target.parent.is_dir():
        msg = f"{target}: there is no folder {str(target.parent)!r}; make it first"
        raise FileNotFoundError(errno.ENOENT, msg)
    if target.is_dir():
        msg = f"{target} is a folder: name a file in it"
        raise IsADirectoryError(errno.EISDIR, msg)
    if target.exists() and not target.is_file():
        return target
    # The ending stays, since some writers choose the format by it. A name has 255 bytes at most.
    return target.with_name(f".{target.stem[:40]}-{uuid.uuid4().hex[:12]}.partial{target.suffix}")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
