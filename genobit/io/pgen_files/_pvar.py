"""Read the variants beside a .pgen: .pvar, .pvar.zst or .bim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.checks import first_true
from genobit.io._filters import WRITE_FILTERS, filter_descriptions, filter_names, filter_table
from genobit.io._plain_tables import FEW, NAMES, REAL, WHOLE
from genobit.io._plink_text import read_bim, variant_columns
from genobit.io._text_tables import Table, real_numbers, whole_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    _Encoded = tuple[NDArray[Any], NDArray[np.object_]]
    """The index of each text, and the texts."""

NO_ALLELE = "."
"""ALT of a variant without an alternative allele."""
_KINDS = {"CHROM": FEW, "POS": WHOLE, "ID": NAMES, "REF": FEW, "ALT": FEW}
_KINDS |= {"QUAL": FEW, "FILTER": FEW, "CM": REAL}
MOST_ALLELES = 128
"""Alleles that fit int8 calls."""


def read_variants(path: Path) -> dict[str, Any]:
    """Return the columns of a .pvar or .bim file by name, as `read_bim` does.

    `alleles`: object (variants, alleles), REF first, "" where a variant has fewer. Also
    `quality`: float32, and `filter`: bool (variants, filters) with `filter_id`, if the file has
    these columns. `allele_counts`: int64, at least 2.

    Raises ValueError with the number of the first malformed line.
    """
    if path.suffix == ".bim":
        return _as_variants(read_bim(path))
    table = Table(path, numbers={"POS": whole_numbers, "CM": real_numbers, "QUAL": _quality})
    if not table.columns:
        if path.suffix != ".pvar":
            msg = f"{path} has no header that begins with #CHROM; decompress it to a .pvar."
            raise ValueError(msg)
        # Without a header, a .pvar has the columns of a .bim.
        return _as_variants(read_bim(path))
    table.require_columns("CHROM", "POS", "ID", "REF", "ALT")
    return _variants(table)


def _as_variants(bim: dict[str, Any]) -> dict[str, Any]:
    return {**bim, "allele_counts": np.full(bim["id"].size, 2)}


def _variants(table: Table) -> dict[str, Any]:
    columns = table.of_kinds(_KINDS)
    alleles, counts = _alleles(table, columns["REF"], columns["ALT"])
    found = variant_columns(columns, ("CHROM", "ID", "CM", "POS"))
    found |= {"alleles": alleles, "allele_counts": counts}
    if "QUAL" in columns:
        codes, texts = columns["QUAL"]
        found["quality"] = table.parsed(_quality, texts)[codes]
    if "FILTER" in columns:
        found |= _filters(table, *columns["FILTER"])
    return found


def _alleles(
    table: Table, ref: _Encoded, alt: _Encoded
) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
    """Return alleles (variants, most alleles), and the number of alleles of each, at least 2."""
    codes, texts = alt
    lists = [
        ["" if text == NO_ALLELE else text] if "," not in text else text.split(",")
        for text in texts
    ]
    sizes = np.array([1 + len(names) for names in lists], np.int64)
    counts = sizes[codes]
    most = int(counts.max(initial=2))
    if most > MOST_ALLELES:
        k = int(counts.argmax())
        raise ValueError(
            f"{table.path}, line {table.first + k}: it has {most} alleles (variants={k}), and "
            f"calls of int8 hold {MOST_ALLELES}. Leave it out: plink2 --max-alleles {MOST_ALLELES}."
        )
    empty = np.array([len(names) > 1 and "" in names for names in lists], bool)[codes]
    if (k := first_true(empty)) >= 0:
        raise ValueError(
            f"{table.path}, line {table.first + k}: ALT is {texts[codes[k]]!r}, with an empty "
            "allele."
        )
    # One row for each different ALT, so that equal alleles share one str object.
    names = np.full((len(lists), most - 1), "", object)
    for row, found in zip(names, lists, strict=True):
        row[: len(found)] = found
    alleles = np.empty((codes.size, most), object)
    alleles[:, 0] = ref[1][ref[0]]
    alleles[:, 1:] = names[codes]
    return alleles, counts


def _quality(text: NDArray[Any]) -> NDArray[np.float32]:
    return real_numbers(np.where(text == ".", "nan", text)).astype(np.float32)


def _filters(table: Table, codes: NDArray[Any], kinds: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return which filters each variant did not pass, and PASS, as open_vcf does."""
    found = [filter_names(kind) for kind in kinds]
    if (k := first_true(np.array(["" in some for some in found], bool)[codes])) >= 0:
        msg = f"{table.path}, line {table.first + k}: FILTER is {kinds[codes[k]]!r}, with an empty "
        raise ValueError(f"{msg}name. {WRITE_FILTERS}")
    names, of_kind = filter_table(found)
    described = filter_descriptions(table.declared())
    return {
        "filter": of_kind[codes],
        "filter_id": np.array(names, object),
        "filter_description": np.array([described.get(name, "") for name in names], object),
    }
