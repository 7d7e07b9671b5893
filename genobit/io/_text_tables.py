"""Read tables of text with white space between fields; errors name the first bad line."""

from __future__ import annotations

import csv
import io
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.guards.bounded import TEXT_COST, read_bytes
from genobit.data.guards.damage import named_failure
from genobit.data.guards.inflation import inflated_size, is_cut
from genobit.engine.options import require_fits
from genobit.io._plain_tables import FEW, NAMES, REAL, WHOLE, read_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Parse = Callable[[NDArray[Any]], Any]

_ZSTD = b"\x28\xb5\x2f\xfd"
_UNKNOWN = "a line of the table cannot be split into columns"


def whole_numbers(text: NDArray[Any]) -> NDArray[np.int64]:
    """Parse whole numbers, which R may write as 1e+05."""
    _refuse_underscores(text)
    try:
        return text.astype(np.int64)
    except ValueError:
        values = text.astype(np.float64)
        # A float above 2**53 may differ from the number in the file.
        if not (np.abs(values) < 2**53).all() or (values != np.floor(values)).any():
            raise ValueError("not a whole number") from None
        return values.astype(np.int64)


def real_numbers(text: NDArray[Any]) -> NDArray[np.float64]:
    """Parse numbers as float64."""
    _refuse_underscores(text)
    return text.astype(np.float64)


def _refuse_underscores(text: NDArray[Any]) -> None:
    """Raise ValueError for text such as 1_5, which Python reads as 15."""
    if any("_" in value for value in text):
        raise ValueError("a number has an underscore")


class Table:
    """The text of a table, its columns and its lines.

    ``columns`` are those of a file without a header. ``numbers`` parses columns of numbers, to find
    the line of a fault. Reading takes ``cost`` bytes of memory for each byte. ``data`` is text that
    was read before, and ``lines`` are the numbers of its lines in the file.
    """

    def __init__(
        self,
        path: Path,
        columns: Sequence[str] | None = None,
        numbers: Mapping[str, Parse] | None = None,
        cost: int = TEXT_COST,
        data: bytes | None = None,
        lines: Iterable[int] | None = None,
    ) -> None:
        self.path, self._numbers, self._lines = path, numbers or {}, lines
        self.data = _text(path, cost) if data is None else data
        self.columns = list(columns or ())
        """Names in the last line of the header without its "#"; none without a header."""
        self._header, self._begin, self.first = 0, 0, 1
        """Where the last line of the header and the first after it begin, and its number."""
        line = b""
        while columns is None and self.data.startswith(b"#", self._begin):
            end = self.data.find(b"\n", self._begin)
            end = len(self.data) if end < 0 else end + 1
            line = self.data[self._begin : end]
            self._header, self._begin, self.first = self._begin, end, self.first + 1
        if line and not line.startswith(b"##"):
            self.columns = self._decoded(line, self.first - 1)[1:].split()

    def declared(self) -> list[str]:
        """Return the lines before the names of the columns."""
        rows = self.data[: self._header].splitlines()
        return [self._decoded(row, k) for k, row in enumerate(rows, 1)]

    def _decoded(self, line: bytes, number: int) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path}, line {number}: it is not UTF-8 text.") from error

    def require_columns(self, *names: str) -> None:
        """Raise ValueError unless the header has these columns, and none twice."""
        header = f"{self.path}, line {self.first - 1}: the header"
        for name in self.columns:
            if self.columns.count(name) > 1:
                raise ValueError(f"{header} has the column {name!r} twice; rename one.")
        for name in names:
            if name not in self.columns:
                found = ", ".join(self.columns)
                raise ValueError(f"{header} has no column {name!r} (columns: {found}).")

    def of_kinds(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        """Return the columns that have a kind, as `read_plain` does."""
        plain = read_plain(self.data[self._begin :], self.columns, kinds)
        if plain is not None:
            return plain
        import pandas as pd

        parse: dict[str, Parse] = {FEW: pd.factorize, WHOLE: whole_numbers, REAL: real_numbers}
        parse[NAMES] = np.asarray
        return {
            name: self.parsed(parse[kinds[name]], values)
            for name, values in self.read().items()
            if name in kinds
        }

    def parsed(self, parse: Parse, values: NDArray[Any]) -> Any:
        """Return parsed values; raise ValueError with the number of the first line with a fault."""
        try:
            return parse(values)
        except (ValueError, OverflowError) as error:
            raise self._fault() from error

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
                skiprows=int(self._begin > 0),
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
            raise self._fault() from error
        if (table[width] != "").any() or (table[width - 1] == "").any():
            raise self._fault()
        return {name: table[k].to_numpy(object) for k, name in enumerate(self.columns)}

    def _fault(self) -> ValueError:
        """Return the error for the first line with another width, or without a number."""
        width = len(self.columns)
        expected = f", and the header has {width}"
        if not self._begin:
            expected = f" where {width} are expected ({', '.join(self.columns)})"
        lines = self.data[self._begin :].removesuffix(b"\n").split(b"\n")
        numbers = itertools.count(self.first) if self._lines is None else self._lines
        for number, raw in zip(numbers, lines, strict=False):
            fields = self._decoded(raw, number).split()
            found = f"it has {len(fields)} fields" if fields else "it is empty"
            reason = found + expected
            if len(fields) == width:
                reason = self._no_number(dict(zip(self.columns, fields, strict=True)))
            if reason:
                return ValueError(f"{self.path}, line {number}: {reason}.")
        return ValueError(f"{self.path}: {_UNKNOWN}.")

    def _no_number(self, fields: Mapping[str, str]) -> str:
        """Return which field of a line should be a number and is not, or ""."""
        for name, parse in self._numbers.items():
            try:
                parse(np.array([fields[name]] if name in fields else [], object))
            except (ValueError, OverflowError):
                whole = "whole " if parse is whole_numbers else ""
                return f"{name} is {fields[name]!r}, not a {whole}number"
        return ""


def _text(path: Path, cost: int) -> bytes:
    """Return a whole text file, decompressed if it is Zstandard or gzip.

    Raises ValueError if it is damaged or takes more memory than the limit.
    """
    data = read_bytes(path, cost)
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
