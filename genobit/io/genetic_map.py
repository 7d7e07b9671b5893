"""Read genetic maps: PLINK map and bim files, the maps of HapMap and of Oxford, and tables."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import model
from genobit.data.checks import first_true
from genobit.data.contigs import contigs_in, renamed
from genobit.data.joining import with_report
from genobit.data.labels import text
from genobit.engine.files import local_path, require_file
from genobit.io._plain_tables import FEW, REAL, read_plain
from genobit.io.tables import MISSING, TextTable, decoded, frame_of, require_equal_widths, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

_KNOWN = {
    "contig": ("contig", "chromosome", "chrom", "chr", "variantcontig"),
    "position": (
        "position", "pos", "positionbp", "bp", "pposition", "variantposition", "physicalposition",
    ),
    "cm": (
        "cm", "mapcm", "geneticmapcm", "geneticposition", "gposition", "poscm",
        "variantgeneticposition",
    ),
    "rate": (
        "rate", "rrate", "ratecmmb", "combinedratecmmb", "recrate", "recombinationrate", "cmmb",
    ),
}  # fmt: skip
_NUMBER, _PLAIN_NUMBER = re.compile(r"[-+.\deE]+"), re.compile(r"0|[1-9][0-9]{0,17}")
#: Columns of PLINK's files without a header, by their number: .map and .bim.
_PLINK = {4: ["contig", "id", "cm", "position"], 6: ["contig", "id", "cm", "position", "a1", "a2"]}


def read_genetic_map(source: Any, contigs: Iterable[str] = ()) -> pd.DataFrame:
    """Read a genetic map, sorted by contig and position.

    Parameters
    ----------
    source
        Path of a text file, plain or gzipped, or a table: a pandas DataFrame, or an xarray Dataset
        of one dimension. A file without a header is a PLINK map or bim file. Otherwise it has a
        column of positions in base pairs, and a column of genetic positions in cM or of rates in
        cM/Mb. A column of contigs is optional. Common column names are recognised.
    contigs
        Names of the contigs of the data. The same chromosomes of the map get these names
        (`genobit.data.contigs`).

    Returns
    -------
        DataFrame with columns ``contig`` (text, "" if unknown), ``position`` and ``cm``. Rates are
        summed: a rate is that of the stretch from its position to the next.

    Raises
    ------
    ValueError
        For a table without positions, or without genetic positions and rates. Also for values that
        are not numbers, and for genetic positions that decrease along a contig. For a contig that
        means several of ``contigs``.

    Examples
    --------
    >>> table = pd.DataFrame({"pos": [1_000, 2_001_000], "chr": ["2", "2"], "cM": [0.5, 3.5]})
    >>> read_genetic_map(table)
      contig  position   cm
    0      2      1000  0.5
    1      2   2001000  3.5
    """
    what = "the genetic map"
    if isinstance(source, str | os.PathLike):
        path = local_path(source, "read_genetic_map")
        require_file(path, "give a genetic map, or a table")
        frame, what = _read(path), path.name
    elif isinstance(source, xr.Dataset):
        frame = source.to_dataframe().reset_index()
    else:
        frame = frame_of(source, what, "a path, a frame of pandas or polars, or a Dataset")
    table = _columns(frame, what)
    # Millions of rows have few contigs: their names are handled once each, the rows as numbers.
    names, numbers = np.unique(renamed(table.names, contigs).astype(str), return_inverse=True)
    number = numbers[table.numbers]
    order = np.lexsort((table.position, number))
    number, position, values = number[order], table.position[order], table.values[order]
    cm = _summed(number, position, values) if table.is_rate else values
    contig = pd.array(names.astype(object), dtype="str").take(number)
    found = pd.DataFrame({"contig": contig, "position": position, "cm": cm})
    if (k := first_true((number[1:] == number[:-1]) & (np.diff(cm) < 0))) >= 0:
        row = found.iloc[k + 1]
        raise ValueError(
            f"the genetic position of {what} falls to {row['cm']:g} cM at {row['contig']}:"
            f"{row['position']:,}: give positions that increase along each contig"
        )
    return found


def with_genetic_positions(ds: xr.Dataset, source: Any) -> xr.Dataset:
    """Return the Dataset with genetic positions from a map; see ``ds.genobit.genetic_map``."""
    position = model.values(ds, model.VARIANT_POSITION, needed_for="a genetic map")
    contigs = contigs_in(ds)
    names = np.array([""], object) if contigs is None else contigs.names
    table = read_genetic_map(source, names.tolist())
    table = table.drop_duplicates(["contig", "position"], keep="last")
    known = list(table["contig"].unique())
    before = ds.get(model.VARIANT_GENETIC_POSITION)
    cm = np.full(position.shape, np.nan) if before is None else np.array(before.values, "f8")
    of_variant = np.zeros(position.shape, int) if contigs is None else contigs.numbers
    used = [0] if contigs is None else contigs.used()
    if known == [""] and len(used) > 1:
        raise ValueError(
            "the genetic map does not say its contig, and the Dataset has variants on "
            f"{', '.join(names[used][:8])}: add a column chr to the map"
        )
    mapped, outside, lacking = 0, 0, []
    for k in used:
        here = of_variant == k
        part = table if known == [""] else table[table["contig"] == names[k]]
        if part.empty:
            lacking.append(str(names[k]))
            continue
        at = part["position"].to_numpy()
        cm[here] = np.interp(position[here], at, part["cm"].to_numpy("f8"))
        mapped += int(here.sum())
        outside += int(((position[here] < at[0]) | (position[here] > at[-1])).sum())
    if not mapped:
        raise ValueError(
            f"the genetic map has none of the contigs of the Dataset ({', '.join(lacking[:8])}); "
            f"it has {', '.join(known[:8]) or 'none'}: give the map of these contigs"
        )
    line = f"genetic map: {mapped:,} of {position.size:,} variants get a genetic position"
    if outside:
        line += f"; {outside:,} of them lie outside the map and get that of its end"
    if lacking:
        line += f"; the map lacks contigs {', '.join(lacking[:8])}"
    values = xr.Variable(model.VARIANTS, cm, {"units": "centimorgan"})
    found = {model.VARIANT_GENETIC_POSITION: values}
    return with_report(ds, found, line, warn=bool(outside or lacking))


def _read(path: Path) -> pd.DataFrame:
    """Return the columns of a file; those of PLINK have no header."""
    text = decoded(path)
    first = text[: text.find("\n") + 1 or None].split()
    if len(first) < 3 or not all(map(_NUMBER.fullmatch, first[2:4])):
        header, _, body = text.partition("\n")
        found = _plain(header.removeprefix("#").split("\t" if "\t" in header else None), body)
        if found is None or any(map(_is_altered, _contigs_in(found))):
            return table_of(path.name, text).parsed(as_text=[])
        return found
    if len(first) not in _PLINK:
        raise ValueError(
            f"{path.name} has no header and {len(first)} columns: add a line of names, such as "
            "position rate cM"
        )
    names = _PLINK[len(first)]
    found = _plain(names, text)
    if found is None:
        plain = require_equal_widths(path.name, text, len(names))
        found = TextTable(path.name, names, r"\s+", text, plain=plain).parsed(["contig"])
    if not found["cm"].astype(bool).any():
        raise ValueError(f"all genetic positions of {path.name} are 0: give a genetic map")
    return found


def _plain(columns: list[str], body: str) -> pd.DataFrame | None:
    """Return the columns of a map that Arrow can read: numbers, and contigs as categories."""
    found = _columns_found(columns)
    if '"' in body or '"' in "".join(columns) or len(set(columns)) < len(columns):
        return None
    if found["cm"] is not None:
        found["rate"] = None  # not needed
    kinds = {name: FEW if key == "contig" else REAL for key, name in found.items() if name}
    read = read_plain(body.encode(), columns, kinds) if kinds else None
    if read is None:
        return None
    contig = found["contig"]
    if contig is not None:
        read[contig] = pd.Categorical.from_codes(*read[contig])
    return pd.DataFrame(read)


def _contigs_in(frame: pd.DataFrame) -> list[str]:
    contig = _columns_found(list(frame.columns))["contig"]
    return [] if contig is None else frame[contig].cat.categories.tolist()


def _is_altered(name: str) -> bool:
    """Return whether pandas takes a contig for missing, or writes its number in another way."""
    return name in MISSING or bool(_NUMBER.fullmatch(name) and not _PLAIN_NUMBER.fullmatch(name))


class _Columns(NamedTuple):
    """Columns of a map, in the order of its rows."""

    names: NDArray[np.object_]
    """Names of the contigs."""
    numbers: NDArray[np.int64]
    """Contig of each row, as an index of ``names``."""
    position: NDArray[np.int64]
    values: NDArray[np.float64]
    """Genetic position of each row in cM, or its rate."""
    is_rate: bool


def _columns_found(columns: Iterable[Any]) -> dict[str, Any]:
    """Return the name of each column of `_KNOWN`, None if the table lacks it."""
    by_name = {re.sub(r"[^a-z]", "", str(name).lower()): name for name in columns}
    return {
        column: next((by_name[name] for name in names if name in by_name), None)
        for column, names in _KNOWN.items()
    }


def _columns(frame: pd.DataFrame, what: str) -> _Columns:
    found = _columns_found(frame.columns)
    if found["position"] is None or (found["cm"] is None and found["rate"] is None):
        lacking = "position" if found["position"] is None else "cM or rate"
        raise ValueError(
            f"{what} has no column {lacking}; it has "
            f"{', '.join(map(str, frame.columns))}: rename one"
        )
    names, numbers = np.array([""], object), np.zeros(len(frame), np.int64)
    if found["contig"] is not None:
        numbers, index = pd.factorize(frame[found["contig"]], use_na_sentinel=False)
        names = text(index.to_numpy(), "contig")
    is_rate, numeric = found["cm"] is None, []
    for column in ("position", "rate" if is_rate else "cm"):
        values = pd.to_numeric(frame[found[column]], errors="coerce").to_numpy("f8")
        if (k := first_true(~np.isfinite(values))) >= 0:
            given = frame[found[column]].iloc[k]
            raise ValueError(
                f"{found[column]}[{k}] of {what} is {str(given)!r}: give a number. Row 0 "
                "is the first"
            )
        numeric.append(values)
    return _Columns(names, numbers, numeric[0].astype("i8"), numeric[1], is_rate)


def _summed(
    contig: NDArray[np.int64], position: NDArray[np.int64], rate: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return genetic positions in cM from rates in cM/Mb."""
    step = np.diff(position, prepend=position[:1]) / 1e6
    step[1:] *= rate[:-1]
    step[1:][contig[1:] != contig[:-1]] = 0.0
    return np.cumsum(step)
