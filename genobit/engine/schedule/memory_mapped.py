"""Arrays in a file that are read as if they stood in memory: for what is past ``eager_limit``.

The system keeps what is read often in memory that it can take back, which counts as no program's
own. Another process, of this machine or of one that sees the folder, is sent the file's name.
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
    """A file of words or numbers, mapped to be read; pickled whole it is the name of the file."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Name the file; of a part, the words."""
        base: Any = self.base
        if isinstance(base, mmap.mmap):
            return opened, (str(self.filename), self.shape, self.offset, self.dtype.str)
        return np.array(self).__reduce_ex__(protocol)


def opened(path: str, shape: tuple[int, ...], offset: int, dtype: str = "=u8") -> Mapped:
    """Map words or other whole numbers of a file.

    Raises
    ------
    FileNotFoundError
        If it is not there, as on a machine that does not see the folder.
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


class Spilled(AbstractContextManager["Spilled"]):
    """A file of words, or of smaller numbers, that is written part by part, then mapped.

    It is removed when nothing reads it any more, and where writing fails.

    Parameters
    ----------
    folder
        Where.
    shape
        (planes, rows, words).
    dtype
        Of the numbers.

    Raises
    ------
    OSError
        If the folder has no room for it.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Spilled(folder.name, (1, 3, 2)) as file:
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
            # What is not written takes no room.
            self._file.truncate(self._dtype.itemsize * math.prod(shape))
        except OSError as error:
            self.__exit__(OSError)
            raise self._full(error) from error

    def __exit__(self, kind: object, *_: object) -> None:
        """Close the file; remove what was not written to its end."""
        with suppress(OSError):
            self._file.close()
        if kind is not None:
            _remove(str(self._path))

    def write(self, plane: int, row: int, rows: NDArray[np.integer]) -> None:
        """Write rows of a plane, from row number ``row`` on.

        Raises
        ------
        OSError
            For a full disk, with the name of the file and the remedy.
        """
        # Not through the mapping, where a full disk is a signal that ends the process.
        try:
            place = self._shape[2] * (self._shape[1] * plane + row)
            self._file.seek(self._dtype.itemsize * place)
            self._file.write(np.ascontiguousarray(rows, self._dtype).data)
        except OSError as error:
            raise self._full(error) from error

    def mapped(self, first: int = 0) -> Mapped:
        """All that was written, read only, from a plane on."""
        try:
            self._file.flush()
        except OSError as error:
            raise self._full(error) from error
        planes, rows, words = self._shape
        offset = self._dtype.itemsize * first * rows * words
        shape = planes - first, rows, words
        found = opened(str(self._path), shape, offset, self._dtype.str)
        # What views of it are made from, and so the last to go.
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
    """Some rows (planes, rows, words) of planes; of a file in another one beside it."""
    if not isinstance(planes, Mapped):
        return np.ascontiguousarray(planes[:, rows])
    kinds, _, words = planes.shape
    together = max(1, 2**20 // max(words, 1))
    with Spilled(Path(str(planes.filename)).parent, (kinds, rows.size, words)) as file:
        for kind in range(kinds):
            for start in range(0, rows.size, together):
                file.write(kind, start, planes[kind, rows[start : start + together]])
        return file.mapped()


def in_memory(planes: NDArray[np.uint64]) -> int:
    """Bytes of memory of planes: none of a file's."""
    return 0 if isinstance(planes, Mapped) else planes.nbytes


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        Path(path).unlink()
