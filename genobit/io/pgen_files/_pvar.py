"""Read the variants beside a .pgen: .pvar, .pvar.zst or .bim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.io._plink_text import read_bim, real_numbers, whole_numbers
from genobit.io.pgen_files._table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

NO_ALLELE = "."
"""ALT of a variant without an alternative allele."""
MOST_ALLELES = 128
"""Alleles that fit int8 calls."""


def read_variants(path: Path) -> dict[str, NDArray[Any]]:
    """Return the columns of a .pvar or .bim file by name, as `read_bim` does.

    `alleles`: object (variants, alleles), REF first, "" where a variant has fewer. Also
    `quality`: float32, and `filter`: bool (variants, filters) with `filter_id`, if the file has
    these columns. `allele_counts`: int64, at least 2.

    Raises ValueError with the number of the first malformed line.
    """
    if path.suffix == ".bim":
        return _as_variants(read_bim(path))
    table = Table(path)
    if not table.columns:
        if path.suffix != ".pvar":
            msg = f"{path} has no header that begins with #CHROM; decompress it to a .pvar."
            raise ValueError(msg)
        # Without a header, a .pvar has the columns of a .bim.
        return _as_variants(read_bim(path))
    table.require_columns("CHROM", "POS", "ID", "REF", "ALT")
    return _variants(table)


def _as_variants(bim: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {**bim, "allele_counts": np.full(bim["id"].size, 2)}


def _variants(table: Table) -> dict[str, NDArray[Any]]:
    import pandas as pd

    columns = table.read()
    n = columns["ID"].size
    try:
        position = whole_numbers(columns["POS"])
        centimorgan = real_numbers(columns["CM"]) if "CM" in columns else np.zeros(n)
        quality = _quality(columns["QUAL"]) if "QUAL" in columns else None
    except (ValueError, OverflowError) as error:
        raise table.fault(_fault) from error
    contig, contig_id = pd.factorize(columns["CHROM"])
    alleles, counts = _alleles(table, columns["REF"], columns["ALT"])
    found = {
        "contig": contig.astype(np.int32),
        "contig_id": contig_id,
        "id": columns["ID"],
        "centimorgan": centimorgan,
        "position": position,
        "alleles": alleles,
        "allele_counts": counts,
    }
    if quality is not None:
        found["quality"] = quality
    if "FILTER" in columns:
        found |= _filters(columns["FILTER"])
    return found


def _alleles(
    table: Table, ref: NDArray[Any], alt: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return alleles (variants, most alleles), and the number of alleles of each, at least 2."""
    lists = [text.split(",") if "," in text else None for text in alt]
    extra = [k for k, names in enumerate(lists) if names]
    counts = np.full(ref.size, 2)
    counts[extra] = [1 + len(lists[k] or ()) for k in extra]
    most = int(counts.max(initial=2))
    if most > MOST_ALLELES:
        k = int(counts.argmax())
        msg = (
            f"{table.path}, line {table.first + k}: it has {most} alleles (variants={k}), and "
            f"calls of int8 hold {MOST_ALLELES}. Leave it out: plink2 --max-alleles {MOST_ALLELES}."
        )
        raise ValueError(msg)
    alleles = np.full((ref.size, most), "", object)
    alleles[:, 0] = ref
    alleles[:, 1] = np.where(alt == NO_ALLELE, "", alt)
    for k in extra:
        names = lists[k] or []
        if "" in names:
            msg = f"{table.path}, line {table.first + k}: ALT is {alt[k]!r}, with an empty allele."
            raise ValueError(msg)
        alleles[k, 1 : 1 + len(names)] = names
    return alleles, counts


def _quality(text: NDArray[Any]) -> NDArray[np.float32]:
    return real_numbers(np.where(text == ".", "nan", text)).astype(np.float32)


def _filters(text: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return which filters each variant did not pass, and PASS, as open_vcf does."""
    import pandas as pd

    codes, kinds = pd.factorize(text)
    sets = [[name for name in kind.split(";") if name not in {"", "."}] for kind in kinds]
    names = list(dict.fromkeys(["PASS", *(name for kind in sets for name in kind)]))
    of_kind = np.array([[name in kind for name in names] for kind in sets], bool)
    return {
        "filter": of_kind.reshape(len(sets), len(names))[codes],
        "filter_id": np.array(names, object),
    }


def _fault(fields: dict[str, str]) -> str | None:
    try:
        whole_numbers(np.array([fields["POS"]], dtype=object))
    except (ValueError, OverflowError):
        return f"POS is {fields['POS']!r}, not a whole number"
    for name, missing in (("CM", "0"), ("QUAL", ".")):
        try:
            value = fields.get(name, missing)
            real_numbers(np.array(["0" if value == missing else value], dtype=object))
        except ValueError:
            return f"{name} is {fields[name]!r}, not a number"
    return None
