"""Read a table of text or a frame of any library as a pandas DataFrame, with its keys as text."""

from __future__ import annotations

import csv
import gzip
import os
import warnings
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import labels
from genobit.data.guards.bounded import GZIP, TEXT_COST
from genobit.data.guards.damage import named_damage
from genobit.engine.files import local_path
from genobit.engine.options import get_options, require_fits
from genobit.io.kernels.fields import scan_fields

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Names that mean missing to pandas.read_csv, and no others."""
_EXTRA = "\0extra"
"""Column that detects lines with more fields than the header."""


class TextTable(NamedTuple):
    """A table of text with one header line."""

    name: str
    """File name, for messages."""
    columns: list[str]
    separator: str
    """A single character, or the pattern of any white space."""
    body: str
    """All lines below the header."""
    missing: dict[str, tuple[str, ...]] = {}  # noqa: RUF012 - read only
    """More names that mean missing, for some columns."""
    plain: str = ""
    """The blank or tab that stands once between all fields, if there is no other white space and no
    quotation mark: pandas then reads faster, and fields need no stripping."""

    def parsed(self, as_text: Collection[str] | None = None) -> pd.DataFrame:
        """Return the rows; columns in ``as_text`` keep every character, None means all columns."""
        keep = set(self.columns if as_text is None else as_text)
        missing = {
            name: (*MISSING, *self.missing.get(name, ()))
            for name in self.columns
            if name not in keep
        }
        try:
            with warnings.catch_warnings():
                # pandas drops fields past the names, and only warns.
                warnings.simplefilter("error", pd.errors.ParserWarning)
                found = pd.read_csv(
                    # pandas skips an empty line, but drops U+FEFF from the start of its text.
                    BytesIO(b"\n" + self.body.encode()),
                    sep=self.plain or self.separator,
                    header=None,
                    names=[*self.columns, _EXTRA],
                    index_col=False,
                    dtype=dict.fromkeys(keep, object),
                    keep_default_na=False,
                    na_values={**missing, _EXTRA: ("",)},
                    low_memory=False,
                )
        except pd.errors.ParserWarning as error:
            raise ValueError(
                f"a row of {self.name} has more fields than the {len(self.columns)} names of the "
                "header: correct the file"
            ) from error
        except pd.errors.EmptyDataError:
            return pd.DataFrame({name: pd.Series(dtype=object) for name in self.columns})
        except pd.errors.ParserError as error:
            msg = f"{self.name} cannot be read as a table: {error}. Correct the file"
            raise ValueError(msg) from error
        long = found.pop(_EXTRA).notna().to_numpy()
        if long.any():
            raise ValueError(
                f"row {int(long.argmax())} of {self.name} has more fields than the "
                f"{len(self.columns)} names of the header: correct the file. Row 0 is below the "
                "header"
            )
        for name in () if self.plain else keep:
            found[name] = found[name].str.strip()
        return found


def read_text(path: str | os.PathLike[str]) -> TextTable:
    """Return a table separated by tabs, commas, semicolons or spaces, as its header tells.

    Files compressed by gzip are decompressed. Raises ValueError for a file that is not UTF-8 text,
    for repeated column names, and for lines that are too short.
    """
    file = local_path(path, "join")
    return table_of(file.name, decoded(file))


def table_of(name: str, text: str) -> TextTable:
    """Return the table of a text that `decoded` returned, as `read_text` does."""
    header, _, body = text.partition("\n")
    separator = next((mark for mark in "\t,;" if mark in header), r"\s+")
    plain = ""
    if separator == r"\s+":
        columns = header.split()
        plain = require_equal_widths(name, body, len(columns))
    else:
        columns = [name.strip() for name in next(csv.reader([header], delimiter=separator))]
    if columns:
        columns[0] = columns[0].removeprefix("#")
    require_unique(name, columns)
    return TextTable(name, columns, separator, body, plain=plain)


def read_samples(path: str | os.PathLike[str], convention: str) -> TextTable:
    """Return a table of samples in the convention of a program: see ``ds.genobit.join``."""
    if convention == "table":
        return read_text(path)
    file = local_path(path, "join")
    lines = decoded(file).split("\n")
    header = lines[0].split()
    if convention == "oxford":
        return _oxford(file.name, header, lines[1:])
    name = "PHENO" if convention == "phenotype" else "COVAR"
    if header and header[0].upper().removeprefix("#") not in {"FID", "IID"}:
        columns = ["FID", "IID", *(f"{name}{k}" for k in range(1, len(header) - 1))]
        if len(header) < 3:
            raise ValueError(
                f"{file.name} has {len(header)} columns: give FID, IID and at least one more, "
                "separated by spaces or tabs, or read another table with convention='table'"
            )
        found = TextTable(file.name, columns, r"\s+", "\n".join(lines))
        require_equal_widths(file.name, found.body, len(columns))
        _require_no_names(file.name, header, lines[1:])
    else:
        found = read_text(path)
    coded = found.columns if convention == "phenotype" else ()
    return found._replace(missing=dict.fromkeys(coded, ("-9",)))


def _require_no_names(name: str, first: list[str], lines: list[str]) -> None:
    """Raise ValueError if the first line of a file without a header has names above numbers."""
    second = next((fields for line in lines if (fields := line.split())), [])
    for k, (above, below) in enumerate(zip(first, second, strict=False)):
        if k > 1 and _is_number(below) and not _is_number(above):
            raise ValueError(
                f"the first line of {name} has {above!r} above a number, but it does not begin "
                "with FID or IID: begin it so, or read the file with convention='table'"
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in MISSING
    return True


def _oxford(name: str, columns: list[str], lines: list[str]) -> TextTable:
    """Return a .sample file, given its first line in fields and the lines below."""
    types = lines[0].split() if lines else []
    known = {"0", "B", "C", "D", "P"}
    wrong = [k for k, kind in enumerate(types) if kind not in known]
    if (
        len(types) != len(columns)
        or wrong
        or [x.upper() for x in columns[:1]] not in (["ID_1"], ["ID"])
    ):
        at = f"column {wrong[0]} has type {types[wrong[0]]!r}" if wrong else f"it has {types[:6]}"
        raise ValueError(
            f"{name} is not a .sample file of Oxford: its first line begins with ID_1 ID_2 or ID, "
            f"and its second has a type for each column, 0, D, C, P or B; {at}. Read another table "
            "with convention='table'"
        )
    require_unique(name, columns)
    # PLINK's names of the same columns.
    ids = {"ID_1": "FID", "ID_2": "IID", "ID": "IID"}
    columns = [ids.get(own.upper(), own) for own in columns]
    require_unique(name, columns)
    body = "\n".join(lines[1:])
    require_equal_widths(name, body, len(columns))
    return TextTable(name, columns, r"\s+", body)


def decoded(file: Path) -> str:
    """Return the text of a file, plain or in gzip. Raises ValueError unless it is UTF-8 and fits.

    Lines end in one newline, also those of Windows and of old Macs.
    """
    if file.is_dir():
        raise FileNotFoundError(f"{file} is a folder: give the path of a file")
    if not file.exists():
        raise FileNotFoundError(f"{file} does not exist: give the path of a file, or a DataFrame")
    most = get_options().eager_limit // TEXT_COST
    try:
        # Read once: the file may be a pipe.
        with named_damage(file), file.open("rb") as source:
            raw = source.read(most + 1)
            require_fits(f"the text of {file}", len(raw), TEXT_COST)
            if raw.startswith(GZIP):
                with gzip.open(BytesIO(raw)) as inner:
                    raw = inner.read(most + 1)
                require_fits(f"the decompressed text of {file}", len(raw), TEXT_COST)
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(
            f"{file.name} is not UTF-8 text: read it with pandas, for example pd.read_excel, "
            "pd.read_parquet or pd.read_csv(encoding='latin-1'), and give the frame"
        )
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def require_equal_widths(name: str, body: str, width: int) -> str:
    """Raise ValueError for a line with fewer fields, which would shift its values.

    Returns `TextTable.plain`.
    """
    if '"' in body:
        return ""  # A quoted field may hold spaces.
    row, fields, separator = scan_fields(np.frombuffer(body.encode(), np.uint8), width)
    if row >= 0:
        raise ValueError(
            f"row {row} of {name} has {fields} fields instead of {width}: write NA where a value "
            "is missing, or separate the columns with tabs. Row 0 has the first values"
        )
    return chr(separator) if separator else ""


def require_unique(name: str, columns: list[str]) -> None:
    """Raise ValueError if two columns of a table have the same name."""
    first, second = labels.first_repeat(columns)
    if second:
        raise ValueError(
            f"columns {first} and {second} of {name} are both called {columns[first]!r}: rename "
            "one of them. A file without a header is read by "
            "pd.read_csv(..., header=None, names=[...])"
        )


def frame_of(table: Any, what: str, expected: str) -> pd.DataFrame:
    """Return a pandas DataFrame of a frame of pandas, polars, Arrow or dask, or of a Series.

    Messages say that ``what`` was given, and that ``expected`` is accepted.
    Raises TypeError for anything else, and ValueError for a Series without a name.
    """
    if isinstance(table, pd.DataFrame):
        return table
    for lazy in ("collect", "compute"):  # polars and dask
        # Of the type: polars warns where a lazy frame is asked for its columns.
        if hasattr(table, lazy) and hasattr(type(table), "columns"):
            table = getattr(table, lazy)()
    if isinstance(table, pd.Series):
        if table.name is None:
            raise ValueError(f"{what} is a Series without a name: name it, series.rename('bmi')")
        return table.to_frame()
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "get_column"):
        # polars; its to_pandas() needs pyarrow.
        return pd.DataFrame({name: table.get_column(name).to_numpy() for name in table.columns})
    if hasattr(table, "to_pandas") and hasattr(table, "columns"):
        found: pd.DataFrame = table.to_pandas()
        return found
    raise TypeError(f"{what} is of type {type(table).__name__}, expected {expected}")


def frame_of_xarray(table: xr.Dataset | xr.DataArray, on: Collection[str]) -> pd.DataFrame:
    """Return the variables of a Dataset along the dimension of its keys ``on``.

    Raises KeyError if it lacks a key, and ValueError for a DataArray without a name.
    """
    if isinstance(table, xr.DataArray):
        if table.name is None:
            msg = "the table is a DataArray without a name: name it, array.rename('bmi')"
            raise ValueError(msg)
        table = table.to_dataset()
    table = labels.plain(table)
    first = next(iter(on))
    if first not in table.variables or table[first].ndim != 1:
        known = ", ".join(str(k) for k, v in table.variables.items() if v.ndim == 1) or "none"
        raise KeyError(
            f"the table has no variable {first!r} along one dimension (such variables: {known}): "
            "name its key, for example on={'sample_id': 'id'}"
        )
    dims = table[first].dims
    # The index of the dimension repeats its names.
    index = set(dims) - set(on)
    return pd.DataFrame(
        {
            str(name): v.values
            for name, v in table.variables.items()
            if v.dims == dims and name not in index
        }
    )
