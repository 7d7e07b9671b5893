"""Match a table of p-values to variants, by identifier or by contig and position."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genobit.data import columns
from genobit.data.contigs import renamed
from genobit.data.labels import text
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Names of columns in tables of associations, in small letters without other signs.
_P = ("p", "pval", "pvalue", "pwald", "plrt", "pscore", "probability")
_LOG10 = ("log10p", "neglog10p", "mlog10p", "minuslog10p", "neglog10pvalue", "mlogp")
_ID = ("variantid", "id", "snp", "snpid", "rsid", "rs", "marker", "markername", "markerid", "index")
_CONTIG = ("contig", "chrom", "chromosome", "chr", "variantcontig")
_POSITION = ("position", "pos", "bp", "variantposition", "genpos", "basepairlocation", "ps")
#: -log10 of the smallest double; a smaller p is read as 0.
SMALLEST = 323.3


@dataclass(frozen=True)
class Variants:
    """Labels of variants; arrays (variants,). `ids` is None without identifiers."""

    ids: np.ndarray | None
    contig: np.ndarray
    """Text; "" where the contig is unknown."""
    position: np.ndarray
    known: tuple[str, ...] = ()
    """Names of all contigs, also of those without a variant."""

    def contigs(self) -> list[str]:
        """Return the names of the contigs, in order of appearance."""
        return list(dict.fromkeys(self.contig.tolist()))


@dataclass(frozen=True)
class Matched:
    """P-values of variants, and the rows of the table that match no variant."""

    strength: np.ndarray
    """-log10 p (variants,), NaN without a p-value. A p of 0 is `SMALLEST`."""
    underflow: np.ndarray
    """Whether p is 0 (variants,)."""
    lost_contig: np.ndarray | None
    """Contigs of the rows without a variant; None if the table has no positions."""
    lost_position: np.ndarray

    def lost(self, contig: str, start: float, end: float) -> int:
        """Return the number of rows in a region, both ends included, that match no variant.

        All such rows are counted if the table has no positions.
        """
        inside = np.ones(len(self.lost_position), bool)
        if self.lost_contig is not None:
            inside = (self.lost_position >= start) & (self.lost_position <= end)
            inside &= (self.lost_contig == contig) | (self.lost_contig == "")
        return int(inside.sum())


def match(
    table: pd.DataFrame,
    variants: Variants,
    *,
    p: str | None = None,
    log10: bool = False,
    in_order: bool = False,
) -> Matched:
    """Return the p-values of variants from a table with a row for each.

    Rows are matched by identifier. If no identifier of the table matches, all rows are matched by
    contig and position. With ``in_order``, row k is that of variant k. With ``log10``, the column
    holds -log10 of p.

    Raises ValueError if nothing matches, if a variant has several p-values, or if a p-value is out
    of range.

    Examples
    --------
    >>> table = pd.DataFrame({"SNP": ["rs2", "rs9"], "P": [0.01, 0.5]})
    >>> known = Variants(np.array(["rs1", "rs2"], object), np.array(["2", "2"]), np.array([5, 8]))
    >>> match(table, known).strength.tolist()
    [nan, 2.0]
    """
    strength, underflow = _strength(table, _p_column(table, p, log10=log10), log10=log10)
    ids, contig, position = _labels(table, variants)
    places = np.arange(len(table)) if in_order else _by_id(ids, variants, len(table))
    if (places < 0).all():
        places = _by_position(contig, position, variants, len(table))
    if (places < 0).all():
        raise ValueError(_no_match(table, variants, ids, position))
    given = np.flatnonzero((places >= 0) & ~np.isnan(strength))
    _require_one_each(table, places, given, variants)
    values = np.full(len(variants.position), np.nan)
    values[places[given]] = strength[given]
    zero = np.zeros(len(values), bool)
    zero[places[given]] = underflow[given]
    lost = places < 0
    return Matched(
        values,
        zero,
        None if position is None or contig is None else contig[lost],
        np.zeros(lost.sum()) if position is None else position[lost],
    )


def _plain(name: Any) -> str:
    return re.sub(r"[^a-z0-9]", "", str(name).lower())


def _column(table: pd.DataFrame, known: Sequence[str]) -> Any:
    by_name = {_plain(name): name for name in reversed(list(table.columns))}
    return next((by_name[name] for name in known if name in by_name), None)


def _p_column(table: pd.DataFrame, p: str | None, *, log10: bool) -> Any:
    """Return the column of p-values."""
    columns = list(table.columns)
    if p is not None:
        if p not in columns:
            raise ValueError(
                f"p={p!r} is no column of association{did_you_mean(p, columns)} Its columns are "
                f"{', '.join(map(str, columns))}"
            )
        return p
    found = [name for name in columns if _plain(name) in (_LOG10 if log10 else _P)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(
            f"association has the {len(found)} columns {', '.join(map(repr, found))} of p-values: "
            f"name one, for example p={found[0]!r}"
        )
    other = [name for name in columns if _plain(name) in _LOG10]
    remedy = f"give p={other[0]!r}, log10=True" if other and not log10 else "name it with p="
    raise ValueError(
        f"association has no column of p-values such as 'P' or 'p_value': {remedy}. Its columns "
        f"are {', '.join(map(str, columns))}"
    )


def _strength(table: pd.DataFrame, name: Any, *, log10: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return -log10 p of the rows, and which p are 0."""
    column = pd.Series(columns.values(table[name], f"association[{name!r}]"))
    given = pd.to_numeric(column, errors="coerce").to_numpy("f8", na_value=np.nan)
    unread = np.flatnonzero(np.isnan(given) & ~table[name].isna().to_numpy())
    if unread.size:
        k = int(unread[0])
        raise ValueError(f"{name}[{k}] is {table[name].iloc[k]!r}: give a number, or NaN")
    wrong = np.flatnonzero((given < 0) | ((given > 1) & (not log10)) | np.isinf(given))
    if wrong.size:
        k = int(wrong[0])
        what = "is not a value of -log10 p" if log10 else "is outside [0, 1]"
        remedy = "give p-values" if log10 else "give p-values, or log10=True for -log10 p"
        raise ValueError(f"{name}[{k}] = {given[k]:g} {what}: {remedy}")
    if log10:
        return given, np.zeros(len(given), bool)
    with np.errstate(divide="ignore"):
        strength = -np.log10(given)
    return np.minimum(strength, SMALLEST) + 0.0, given == 0


def _labels(
    table: pd.DataFrame, variants: Variants
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """Return identifiers, contigs and positions of the rows, as far as the table has them."""
    names = [_column(table, known) for known in (_ID, _CONTIG, _POSITION)]
    ids = None if names[0] is None else text(table[names[0]].to_numpy(), str(names[0]))
    position = None
    if names[2] is not None:
        values = pd.to_numeric(table[names[2]], errors="coerce")
        position = values.to_numpy("f8", na_value=np.nan)
    contig = None
    if names[1] is not None:
        contig = renamed(text(table[names[1]].to_numpy()), variants.known or variants.contigs())
    elif position is not None and len(variants.contigs()) == 1:
        contig = np.full(len(table), variants.contigs()[0], object)
    return ids, contig, position


def _by_id(ids: np.ndarray | None, variants: Variants, rows: int) -> np.ndarray:
    """Return the variant of each row, -1 for none. Repeated identifiers, as ".", name none."""
    if ids is None or variants.ids is None:
        return np.full(rows, -1)
    known = pd.Index(variants.ids, dtype=object)
    once = np.flatnonzero(~known.duplicated(keep=False))
    found = known[once].get_indexer(pd.Index(ids, dtype=object))
    return np.where(found >= 0, once[found], -1) if len(once) else found


def _by_position(
    contig: np.ndarray | None, position: np.ndarray | None, variants: Variants, count: int
) -> np.ndarray:
    if contig is None or position is None:
        return np.full(count, -1)
    known = pd.MultiIndex.from_arrays([variants.contig, variants.position.astype("f8")])
    rows = pd.MultiIndex.from_arrays([contig, position])
    repeated = known[known.duplicated()]
    shared = rows[rows.isin(repeated)] if len(repeated) else repeated
    if len(shared):
        where, at = shared[0]
        raise ValueError(
            f"association is matched by position, and several variants are at {where}:{at:,.0f}: "
            "give a column variant_id, or select one variant of each position"
        )
    once = np.flatnonzero(~known.duplicated(keep=False))
    found = known[once].get_indexer(rows)
    return np.where(found >= 0, once[found], -1) if len(once) else found


def _require_one_each(
    table: pd.DataFrame, places: np.ndarray, given: np.ndarray, variants: Variants
) -> None:
    again = np.flatnonzero(pd.Index(places[given]).duplicated())
    if not again.size:
        return
    row = int(given[again[0]])
    first = int(given[np.flatnonzero(places[given] == places[row])[0]])
    k = int(places[row])
    name = f"{variants.contig[k]}:{variants.position[k]:,}"
    if variants.ids is not None:
        name = variants.ids[k]
    test = _column(table, ("test", "trait", "phenotype", "model"))
    example = f", for example association[association[{test!r}] == ...]" if test else ""
    raise ValueError(
        f"association has several p-values for {name}, in rows {first} and {row}: keep one row for "
        f"each variant{example}"
    )


def _no_match(
    table: pd.DataFrame, variants: Variants, ids: np.ndarray | None, position: np.ndarray | None
) -> str:
    if ids is None and position is None:
        columns = ", ".join(map(str, table.columns))
        return (
            "association has neither a column of identifiers, such as variant_id, nor one of "
            f"positions: rename one. Its columns are {columns}"
        )
    theirs = ids[0] if ids is not None and len(ids) else f"position {table.iloc[0].to_dict()}"
    ours = variants.ids[0] if variants.ids is not None else f"position {variants.position[0]:,}"
    return (
        f"none of the {len(table):,} rows of association matches a variant of the Dataset: its "
        f"first row is {theirs}, and the first variant is {ours}. Compare identifiers, contigs and "
        "the version of the genome"
    )
