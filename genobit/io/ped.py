"""Read text filesets of PLINK 1, .ped with .map and .tped with .tfam, as rows of a .bed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import autosomes, model
from genobit.data.guards.bounded import read_bytes
from genobit.data.text import lazy_text
from genobit.engine.files import require_file
from genobit.engine.options import require_fits
from genobit.io._plink_text import (
    BIM_COLUMNS,
    FAM_COLUMNS,
    KINDS,
    NUMBERS,
    fam_variables,
    read_fam,
    variant_columns,
)
from genobit.io._text_tables import Table

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from genobit.io._plink_text import Variable

_MAP = BIM_COLUMNS[:4]
_MANY = 2**31
_COST = 2
"""Bytes of memory per byte of text."""


def read_text(path: Path) -> tuple[dict[str, Any], dict[str, Variable], NDArray[np.uint8]]:
    """Return the columns of a .bim, the variables of a .fam, and rows (variants, bytes) of a .bed.

    A1 is the rarer allele in founders, as ``plink --make-bed`` chooses it. Raises FileNotFoundError
    for a missing file, and ValueError with line and field for the first fault.
    """
    data = read_bytes(_existing(path), _COST)
    if path.suffix == ".tped":
        text, lines = _heads(data, len(_MAP))
        bim = _variants(path, text, lines)
        fam = read_fam(_existing(path.with_suffix(".tfam")))
    else:
        beside = _existing(path.with_suffix(".map"))
        bim = _variants(beside, *_heads(read_bytes(beside), _MANY))
        text, lines = _heads(data, len(FAM_COLUMNS))
        fam = fam_variables(path, Table(path, FAM_COLUMNS, data=text, lines=lines[:, 0]))
    alleles, rows_of_bed = _genotypes(path, data, lines, bim, fam)
    return bim | {"alleles": alleles}, fam, rows_of_bed


def _existing(path: Path) -> Path:
    pair = ".tped and .tfam" if path.suffix in {".tped", ".tfam"} else ".ped and .map"
    return require_file(path, f"a text fileset of PLINK 1 is two files of one name, {pair}")


def _heads(data: bytes, width: int) -> tuple[bytes, NDArray[np.int64]]:
    """Return up to ``width`` fields of each line with tabs between, and what `copy_heads` fills."""
    from genobit.io.kernels.ped import copy_heads

    lines = np.empty((data.count(b"\n") + 1, 3), np.int64)
    heads = np.empty(len(data) + 1, np.uint8)
    count, used = copy_heads(np.frombuffer(data, np.uint8), width, lines, heads)
    return heads[:used].tobytes(), lines[:count]


def _variants(path: Path, text: bytes, lines: NDArray[np.int64]) -> dict[str, Any]:
    """Return the columns of `read_bim` but the alleles; a .map may lack cM."""
    fields = text.partition(b"\n")[0].count(b"\t") + 1
    names = (*_MAP[:2], "bp") if path.suffix == ".map" and fields == 3 else _MAP
    table = Table(path, names, NUMBERS, data=text, lines=lines[:, 0])
    return variant_columns(table.of_kinds(KINDS))


def _genotypes(
    path: Path,
    data: bytes,
    lines: NDArray[np.int64],
    bim: dict[str, Any],
    fam: dict[str, Variable],
) -> tuple[NDArray[np.object_], NDArray[np.uint8]]:
    """Return alleles (variants, 2), A2 then A1, and rows of a .bed."""
    from genobit.io.kernels.ped import FINE, Found, read_pairs, swapped

    variants, samples = bim["id"].size, fam[model.SAMPLE_ID][1].size
    transposed = path.suffix == ".tped"
    skipped, pairs = (4, samples) if transposed else (6, variants)
    require_fits(f"the genotypes of {path}", variants * (samples // 4 + 64))
    found = Found(
        np.zeros((variants, 2, 2), np.int64),
        np.zeros((variants, 2, 2), np.int64),
        np.zeros((variants, (samples + 3) // 4), np.uint8),
        *_weights(bim, fam),
    )
    places = np.ascontiguousarray(lines[:, 1:])
    # PLINK recognises genotypes without a space between alleles by the first line.
    joined = len(lines) > 0 and len(data[slice(*lines[0][1:])].split()) == skipped + pairs
    octets = np.frombuffer(data, np.uint8)
    fault, line, call = read_pairs(
        octets, places, skipped, pairs, transposed, joined and pairs > 0, found
    )
    if fault != FINE:
        text = data[slice(*lines[line][1:])].split()[skipped:]
        raise _fault(path, fault, lines[line][0], call, text, (skipped, pairs, joined))
    total, of_founders = np.moveaxis(found.counts, 1, 0)
    rarer_first = total[:, 0] < total[:, 1]
    # With equal counts of founders, the order by all samples stays, as in PLINK.
    equal = of_founders[:, 0] == of_founders[:, 1]
    first_is_a1 = np.where(equal, rarer_first, of_founders[:, 0] < of_founders[:, 1])
    found.rows[first_is_a1] = swapped(found.rows[first_is_a1])
    alleles = found.alleles.copy()
    alleles[first_is_a1] = alleles[first_is_a1, ::-1]
    starts, sizes = alleles[..., 0], alleles[..., 1]
    what = f"{model.VARIANT_ALLELE} of {path}"
    named = xr.Variable(
        (model.VARIANTS, "alleles"), lazy_text(octets, starts, starts + sizes, what)
    )
    return np.where(sizes == 0, "0", named.values), found.rows


def _weights(
    bim: dict[str, Any], fam: dict[str, Variable]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the kind of each variant's chromosome, and the weight of a homozygote in it.

    Founders alone have weight, as in PLINK. Males have one copy of X and Y, and nobody else has Y.
    """
    labels = {model.VARIANT_CONTIG: (model.VARIANTS, bim["contig"])}
    names = {model.CONTIG_ID: ("contigs", bim["contig_id"])}
    kinds = autosomes.kinds(xr.Dataset(labels | names), autosomes=True)
    father, mother, sex = (fam[f"sample_{x}"][1] for x in ("father_id", "mother_id", "sex"))
    founder, male = (father == "0") & (mother == "0"), sex == 1
    weights = np.tile(2 * founder, (4, 1))
    weights[autosomes.X] -= founder & male
    weights[autosomes.Y] = founder & male
    return kinds, weights.astype(np.int64)


def _fault(
    path: Path,
    fault: int,
    number: int,
    call: int,
    fields: list[bytes],
    shape: tuple[int, int, bool],
) -> ValueError:
    """Return the error for a call of a line; ``fields`` are those of all its genotypes."""
    from genobit.io.kernels import ped

    skipped, pairs, joined = shape
    width = 1 if joined else 2
    if fault in {ped.SHORT, ped.LONG}:
        msg = (
            f"{path}, line {number} has {skipped + len(fields):,} fields, expected "
            f"{skipped + width * pairs:,}: {skipped} and {pairs:,} genotypes"
        )
        return ValueError(f"{msg}. Check that both files were written together.")
    what = b" ".join(fields[width * call : width * (call + 1)]).decode(errors="replace")
    place = f"{path}, line {number}, field {skipped + width * call + 1}: the genotype {what!r}"
    reason = {
        ped.HALF: "has one missing allele. Make both 0",
        ped.THIRD: (
            f"has a third allele of variants={call if path.suffix == '.ped' else number - 1}. Make "
            "it missing (0), or keep such variants in a VCF"
        ),
        ped.NOT_TWO: "is not two characters, as on the first line",
    }[fault]
    return ValueError(f"{place} {reason}.")
