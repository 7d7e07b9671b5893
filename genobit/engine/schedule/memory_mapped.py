"""Memory maps for planes larger than ``eager_limit``.

The page cache keeps pages that are read often, and the system can reclaim them. A process on this
machine, or on one that sees the folder, receives the file's name instead of its data.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
import weakref
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


class Mapped(np.memmap[Any, Any]):
    """A read-only memory map of words or numbers, pickled as its file name."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the whole map as its file name, and a part of it as an array."""
        base: Any = self.base
        if isinstance(base, mmap.mmap):
            return opened, (str(self.filename), self.shape, self.offset, self.dtype.str)
        return np.array(self).__reduce_ex__(protocol)


def opened(path: str, shape: tuple[int, ...], offset: int, dtype: str = "=u8") -> Mapped:
    """Map words or other integers of a file.

    Raises FileNotFoundError if the file is missing, as on a machine that does not see the folder.
    """
    try:
        # numpy's stubs give memmap's own type.
        return np.memmap.__new__(Mapped, path, dtype, "r", offset, shape)  # type: ignore[return-value]
    except FileNotFoundError as error:
        msg = (
            f"{path} is not there: what is past eager_limit is read from "
            "gb.set_options(spill_to=...), a folder that every worker has to see"
        )
        raise FileNotFoundError(msg) from error


class PlaneFile(AbstractContextManager["PlaneFile"]):
    """A file of words or smaller numbers that is written part by part, then mapped.

    shape: (planes, rows, words). The file is removed when no map of it is left, or if writing
    fails. Raises OSError if ``folder`` has no room.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with PlaneFile(folder.name, (1, 3, 2)) as file:
    ...     file.write(0, 1, np.array([[5, 6], [7, 8]], np.uint64))
    ...     words = file.mapped()
    >>> words.tolist()
    [[[0, 0], [5, 6], [7, 8]]]
    >>> del words
    >>> folder.cleanup()
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        shape: tuple[int, int, int],
        dtype: DTypeLike = np.uint64,
    ) -> None:
        self._shape, self._dtype = shape, np.dtype(dtype)
        number, path = tempfile.mkstemp(".planes", "genobit-", folder)
        self._path = Path(path)
        self._file = os.fdopen(number, "wb")
        try:
            # Creates a sparse file: parts that are not written use no disk space.
            self._file.truncate(self._dtype.itemsize * math.prod(shape))
        except OSError as error:
            self.__exit__(OSError)
            raise self._full(error) from error

    def __exit__(self, kind: object, *_: object) -> None:
        """Close the file, and remove it after an error."""
        with suppress(OSError):
            self._file.close()
        if kind is not None:
            _remove(str(self._path))

    def write(self, plane: int, row: int, rows: NDArray[np.integer]) -> None:
        """Write rows of a plane, starting at row ``row``.

        Raises OSError for a full disk, with the file's name and the remedy.
        """
        # Do not write through the map, where a full disk is a signal that ends the process.
        try:
            place = self._shape[2] * (self._shape[1] * plane + row)
            self._file.seek(self._dtype.itemsize * place)
            self._file.write(np.ascontiguousarray(rows, self._dtype).data)
        except OSError as error:
            raise self._full(error) from error

    def mapped(self, first: int = 0) -> Mapped:
        """Return a read-only map of the file, from plane ``first`` on."""
        try:
            self._file.flush()
        except OSError as error:
            raise self._full(error) from error
        planes, rows, words = self._shape
        offset = self._dtype.itemsize * first * rows * words
        shape = planes - first, rows, words
        found = opened(str(self._path), shape, offset, self._dtype.str)
        # Views keep this mmap alive, so it is finalized last. numpy has no public name for it.
        weakref.finalize(found._mmap, _remove, str(self._path))  # type: ignore[attr-defined]
        return found

    def _full(self, error: OSError) -> OSError:
        size = self._dtype.itemsize * math.prod(self._shape)
        msg = (
            f"{self._path} cannot be written ({error}): it needs {size / 2**20:,.0f} MiB; name a "
            "folder with room, gb.set_options(spill_to=...), or select variants or sites"
        )
        return OSError(error.errno, msg)


def taken(planes: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a copy of some rows of planes (planes, rows, words).

    Rows of a memory map are copied to a new file in the same folder.
    """
    if not isinstance(planes, Mapped):
        return np.ascontiguousarray(planes[:, rows])
    kinds, _, words = planes.shape
    together = max(1, 2**20 // max(words, 1))
    with PlaneFile(Path(str(planes.filename)).parent, (kinds, rows.size, words)) as file:
        for kind in range(kinds):
            for start in range(0, rows.size, together):
                file.write(kind, start, planes[kind, rows[start : start + together]])
        return file.mapped()


def in_memory(planes: NDArray[np.uint64]) -> int:
    """Return the bytes that planes take in memory: 0 for a memory map."""
    return 0 if isinstance(planes, Mapped) else planes.nbytes


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        Path(path).unlink()
