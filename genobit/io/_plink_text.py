"""Read .bim and .fam files; errors name the first bad line."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, model, sexes
from genobit.data.checks import first_true
from genobit.engine.files import require_file
from genobit.io._plain_tables import FEW, NAMES, REAL, WHOLE
from genobit.io._text_tables import Table, real_numbers, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Variable = tuple[str, NDArray[Any], dict[str, str]]

BIM_COLUMNS = ("chromosome", "variant id", "cM", "bp", "A1", "A2")
FAM_COLUMNS = ("family id", "sample id", "father id", "mother id", "sex", "phenotype")

_BIM_COST = 6
"""Bytes of memory per byte of a typical .bim."""
KINDS = dict(zip(BIM_COLUMNS, (FEW, NAMES, REAL, WHOLE, FEW, FEW), strict=True))
NUMBERS = {"bp": whole_numbers, "cM": real_numbers}
SAMPLE_NAMES = {
    "FID": "sample_family_id",
    "SID": "sample_SID",
    "PAT": "sample_father_id",
    "MAT": "sample_mother_id",
    "SEX": "sample_sex",
    "PHENO1": "sample_phenotype",
}
"""Variable of each known column of a .psam; another column NAME is ``sample_NAME``."""
_PSAM_COLUMNS = ("FID", "IID", "PAT", "MAT", "SEX", "PHENO1")
"""Names of `FAM_COLUMNS` in a .psam."""
_FILESET = "a PLINK 1 fileset is a .bed, a .bim and a .fam of one name"

_MISSING = ("na", "nan", "-9", ".")
"""Missing phenotypes, in any case."""
_NUMERIC = re.compile(r"[-+]?\.?[0-9]")
"""Begin of text that plink2 takes for a number, and refuses if more follows."""
NO_CATEGORY = "NONE"
"""Missing in a column of categories, where "none" is one, as in plink2."""


def read_bim(path: Path) -> dict[str, Any]:
    """Return the columns of a .bim file by name, as `variant_columns` with the alleles.

    `alleles`: (variants, 2), A2 then A1. Raises FileNotFoundError for a missing file, and
    ValueError with the number of the first malformed line.
    """
    require_file(path, _FILESET)
    columns = Table(path, BIM_COLUMNS, NUMBERS, _BIM_COST).of_kinds(KINDS)
    (a2, of_a2), (a1, of_a1) = columns["A2"], columns["A1"]
    # Equal alleles share one str object.
    alleles = np.concatenate([of_a2, of_a1])[np.stack([a2, a1 + of_a2.size], axis=1)]
    return variant_columns(columns) | {"alleles": alleles}


def variant_columns(
    columns: dict[str, Any], names: Sequence[str] = BIM_COLUMNS[:4]
) -> dict[str, Any]:
    """Return the columns of variants by name, given the names of contig, id, cM and position.

    `contig`: int32 index into `contig_id`, in order of first appearance; `position`: int64;
    `centimorgan`: float64. `contig_id` are str objects; `id` may be lazy text.
    """
    chromosome, variant_id, centimorgan, position = names
    contig, contig_id = columns[chromosome]
    return {
        "contig": contig.astype(np.int32),
        "contig_id": np.asarray(contig_id, object),
        "id": columns[variant_id],
        "centimorgan": columns.get(centimorgan, np.zeros(contig.size)),
        "position": columns[position],
    }


def variant_variables(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the variables along variants of `variant_columns` with alleles."""
    return {
        model.VARIANT_CONTIG: (model.VARIANTS, columns["contig"]),
        model.VARIANT_POSITION: (model.VARIANTS, columns["position"]),
        model.VARIANT_ID: _texts((model.VARIANTS,), columns["id"]),
        model.VARIANT_ALLELE: _texts((model.VARIANTS, "alleles"), columns["alleles"]),
        model.CONTIG_ID: (model.CONTIGS, columns["contig_id"]),
        **_genetic_positions(columns["centimorgan"]),
    }


def _texts(dims: tuple[str, ...], values: np.ndarray) -> xr.Variable:
    """Return a Variable of objects unchanged; xarray would convert them twice, 0.1 us each."""
    return xr.Variable(dims, values, fastpath=True)


def read_fam(path: Path) -> dict[str, Variable]:
    """Return the variables along samples of a .fam file.

    Raises FileNotFoundError for a missing file, and ValueError for a malformed line or for two
    lines with the same family and sample id.
    """
    require_file(path, _FILESET)
    return fam_variables(path, Table(path, FAM_COLUMNS))


def fam_variables(path: Path, table: Table) -> dict[str, Variable]:
    """Return what `read_fam` does from a table."""
    columns = dict(zip(_PSAM_COLUMNS, table.read().values(), strict=True))
    return sample_variables(path, columns, code=", header=None)[5]")


def sample_variables(
    path: Path, columns: dict[str, NDArray[Any]], first: int = 1, code: str = ""
) -> dict[str, Variable]:
    """Return the variables along samples of columns of text, which have their names in a .psam.

    ``first`` is the number of the line of the first sample, and ``code`` reads a column of
    phenotypes after ``pd.read_csv(file, sep``. Parents are "0" for none, as in the file.
    """
    individual = columns["IID"]
    family = columns.get("FID", np.full(individual.size, "0", object))
    ids = sample_ids(path, family, individual, first)
    found: dict[str, Variable] = {model.SAMPLE_ID: (model.SAMPLES, *ids)}
    for column, text in columns.items():
        name = SAMPLE_NAMES.get(column, f"sample_{column}")
        if column != "IID" and name in found:
            raise ValueError(
                f"{path}, line {first - 1}: the column {column!r} would be the variable "
                f"{name!r}, which is there already; rename it."
            )
        if column == "SEX":
            found[name] = model.SAMPLES, sexes.from_codes(text), {}
        elif column in {"FID", "PAT", "MAT", "SID"}:
            found[name] = model.SAMPLES, text, {}
        elif column != "IID":
            read = f"pd.read_csv({path.name!r}, sep=r'\\s+'{code or f')[{column!r}]'}"
            found[name] = model.SAMPLES, *phenotype_variable(text, name, path.suffix, read)
    return found


def _genetic_positions(centimorgan: np.ndarray) -> dict[str, Any]:
    """Return `variant_genetic_position`, NaN for negative ones; empty if none is known."""
    if not (centimorgan > 0).any():
        return {}
    known = np.where(centimorgan < 0, np.nan, centimorgan)
    return {model.VARIANT_GENETIC_POSITION: (model.VARIANTS, known, {"units": "centimorgan"})}


def without_skipped(ds: xr.Dataset) -> xr.Dataset:
    """Leave out variants with a negative position: PLINK's mark for those that it must skip."""
    skipped = ds[model.VARIANT_POSITION].values < 0
    if not skipped.any():
        return ds
    k = int(skipped.argmax())
    note = (
        f"{int(skipped.sum())} of {skipped.size} variants of {ds.attrs['source']} have a negative "
        f"position, PLINK's mark for variants to skip, and are left out: the first is "
        f"{ds[model.VARIANT_ID][k].item()!r} in line {k + 1} of the variants"
    )
    logging.getLogger("genobit").warning(note)
    left = ds.isel({model.VARIANTS: ~skipped})
    left[model.VARIANT_POSITION].attrs["note"] = note
    return left


def phenotype_variable(
    text: np.ndarray, name: str, suffix: str, column: str
) -> tuple[np.ndarray, dict[str, str]]:
    """Return a phenotype and its attributes: float64, or categories if a value is text.

    Missing is NaN, or "" among categories. Attributes say what may be a mistake. ``name`` is the
    name of the variable, ``suffix`` that of the file, and ``column`` the code that reads its text.
    """
    missing = np.array([value.casefold() in _MISSING for value in text], bool)
    try:
        values, zero = _phenotypes(np.where(missing, "nan", text))
    except ValueError:
        missing |= text == NO_CATEGORY
        return np.where(missing, "", text), _note_on_text(text, missing, name, suffix)
    return values, _note_on_zeros(values, zero, name, suffix, column)


def _note_on_text(text: np.ndarray, missing: np.ndarray, name: str, suffix: str) -> dict[str, str]:
    """Return attributes that warn about numbers among categories, as plink2 refuses them."""
    number = np.array([_is_number(value) for value in text], bool) & ~missing
    if not number.any():
        return {}
    k, other = int(number.argmax()), int((~number & ~missing).argmax())
    note = (
        f"the {suffix} has text and numbers as phenotypes, {text[other]!r} at samples={other} and "
        f"{text[k]!r} at samples={k}: all are categories. If they are a trait: "
        f"ds.assign({name}=('samples', pd.to_numeric(ds.{name}, errors='coerce')))"
    )
    return {"note": note}


def is_category(value: str) -> bool:
    """Return whether plink2 reads text as a category: not as a number, nor as missing."""
    special = value == NO_CATEGORY or value.casefold() in _MISSING
    return not (special or _is_number(value) or _NUMERIC.match(value))


def _is_number(value: str) -> bool:
    try:
        real_numbers(np.array([value], object))
    except ValueError:
        return False
    return True


def _note_on_zeros(
    values: np.ndarray, zero: np.ndarray, name: str, suffix: str, column: str
) -> dict[str, str]:
    """Return attributes that warn about phenotypes coded 0 and 1; ``zero``: 0 read as missing."""
    known = values[~np.isnan(values)]
    if not zero.any() or not known.size or (known == 2).any():
        return {}
    if int(zero.sum()) + known.size == values.size:
        remedy = f"ds.assign({name}=ds.{name}.fillna(0))"
    else:
        remedy = f"read it with {column}, set -9 to NaN and assign its values as {name}"
    note = (
        f"the {suffix} codes phenotypes as 0 and 1, never 2, and PLINK reads 0 as missing (its "
        f"classes are 1 and 2). If 0 is a class of its own: {remedy}"
    )
    return {"note": note}


def _phenotypes(text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return phenotypes as float64 with PLINK's missing codes as NaN, and where that code was 0.

    PLINK takes a column of only 0, 1, 2 and -9 for case/control, and then 0 is missing
    (https://www.cog-genomics.org/plink/1.9/input#pheno_encoding). In a quantitative trait 0 is a
    value. Raises ValueError for text that is not a number.
    """
    values = real_numbers(text)
    values[values == -9] = np.nan
    classes = np.isin(values[~np.isnan(values)], (0.0, 1.0, 2.0)).all()
    zero = (values == 0) & classes
    values[zero] = np.nan
    return values, zero


def sample_ids(
    path: Path, family: np.ndarray, individual: np.ndarray, first: int = 1
) -> tuple[np.ndarray, dict[str, str]]:
    """Return the individual ids if they are unique, else FAMILY_INDIVIDUAL, with attributes.

    ``first`` is the number of the first sample's line in the file.
    """
    import pandas as pd

    if not pd.Index(individual).has_duplicates:
        return individual, {}
    joined: np.ndarray = family + "_" + individual
    pairs = pd.MultiIndex.from_arrays([family, individual])
    repeated = pairs.duplicated() | pd.Index(joined).duplicated()
    if (index := first_true(repeated)) >= 0:
        # In numpy, a text that ends in NUL does not equal itself.
        earlier = joined.tolist().index(joined[index])
        raise ValueError(
            f"{path}, line {index + first}: sample {family[index]} {individual[index]} "
            f"(samples index {index}) is already on line {earlier + first}. Sample ids must "
            "be unique: remove or rename one of the two (plink --update-ids)."
        )
    return joined, dict(labels.JOINED)
