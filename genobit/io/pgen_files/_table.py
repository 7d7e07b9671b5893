"""Read the tables beside a .pgen, .pvar and .psam; errors name the first bad line."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.guards.bounded import TEXT_COST, read_bytes
from genobit.data.guards.damage import named_failure
from genobit.data.guards.inflation import inflated_size, is_cut
from genobit.engine.options import require_fits
from genobit.io._plain_tables import read_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    Fault = Callable[[dict[str, str]], str | None]
    """Says what is wrong with the fields of a line, by column; None if nothing is."""

_ZSTD = b"\x28\xb5\x2f\xfd"
_UNKNOWN = "a line of the table cannot be split into columns"


class Table:
    """The text of a .pvar or .psam file, its columns and its lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = _text(path)
        self.columns: list[str] = []
        """Names in the last line of the header without its "#"; none without a header."""
        self._header, self._begin, self.first = 0, 0, 1
        """Where the last line of the header and the first after it begin, and its number."""
        line = b""
        while self.data.startswith(b"#", self._begin):
            end = self.data.find(b"\n", self._begin)
            end = len(self.data) if end < 0 else end + 1
            line = self.data[self._begin : end]
            self._header, self._begin, self.first = self._begin, end, self.first + 1
        if line and not line.startswith(b"##"):
            self.columns = self._decoded(line, self.first - 1)[1:].split()

    def _decoded(self, line: bytes, number: int) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            msg = f"{self.path}, line {number}: it is not UTF-8 text."
            raise ValueError(msg) from error

    def require_columns(self, *names: str) -> None:
        """Raise ValueError unless the header has these columns, and none twice."""
        header = f"{self.path}, line {self.first - 1}: the header"
        for name in self.columns:
            if self.columns.count(name) > 1:
                msg = f"{header} has the column {name!r} twice; rename one."
                raise ValueError(msg)
        for name in names:
            if name not in self.columns:
                found = ", ".join(self.columns)
                msg = f"{header} has no column {name!r} (columns: {found})."
                raise ValueError(msg)

    def plain(self, kinds: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the columns that have a kind as `read_plain` does; None if they are not plain."""
        return read_plain(self.data[self._begin :], self.columns, kinds)

    def read(self) -> dict[str, NDArray[np.object_]]:
        """Return the columns as arrays of str objects; ValueError for a line of another width."""
        import pandas as pd

        width = len(self.columns)
        if self._begin == len(self.data):
            return {name: np.empty(0, object) for name in self.columns}
        try:
            # pandas would fold a line that is too long; an extra column detects it.
            table = pd.read_csv(
                # From the header on: pandas drops U+FEFF from the start of its text.
                io.BytesIO(memoryview(self.data)[self._header :]),
                skiprows=1,
                sep=r"\s+",
                header=None,
                names=range(width + 1),
                dtype=object,
                na_filter=False,
                quoting=csv.QUOTE_NONE,
                skip_blank_lines=False,
                encoding="utf-8",
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
            raise self.fault(lambda _: None) from error
        if (table[width] != "").any() or (table[width - 1] == "").any():
            raise self.fault(lambda _: None)
        return {name: table[k].to_numpy(object) for k, name in enumerate(self.columns)}

    def fault(self, fault: Fault) -> ValueError:
        """Return the error for the first line with another width, or with a fault."""
        lines = self.data[self._begin :].removesuffix(b"\n").split(b"\n")
        for number, raw in enumerate(lines, start=self.first):
            fields = self._decoded(raw, number).split()
            if len(fields) != len(self.columns):
                found = f"it has {len(fields)} fields" if fields else "it is empty"
                reason: str | None = f"{found}, and the header has {len(self.columns)}"
            else:
                reason = fault(dict(zip(self.columns, fields, strict=True)))
            if reason:
                return ValueError(f"{self.path}, line {number}: {reason}.")
        return ValueError(f"{self.path}: {_UNKNOWN}.")


def _text(path: Path) -> bytes:
    """Return a whole text file, decompressed if it is Zstandard or gzip.

    Raises ValueError if it is damaged or takes more memory than the limit.
    """
    data = read_bytes(path)
    if not data.startswith(_ZSTD):
        return data
    import numcodecs

    size = inflated_size("zstd", data, 0)
    require_fits(f"the decompressed text of {path}", size or 0, TEXT_COST)
    if is_cut("zstd", data):
        msg = f"{path} is truncated: its last Zstandard frame is not whole. Copy it again."
        raise ValueError(msg)
    with named_failure(path, "It is truncated or damaged; copy it again."):
        return bytes(numcodecs.Zstd().decode(data))
