"""Make the text of .pvar and .psam files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import labels, model
from genobit.data.sexes import sexes
from genobit.io._grm_files import NO_FAMILY, id_pairs
from genobit.io.pgen_files._psam import COLUMNS
from genobit.io.pgen_files._pvar import NO_ALLELE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import xarray as xr
    from numpy.typing import NDArray

_NO_ALLELE_OF_PLINK_1 = "0"
_MOST_POSITION = 2**31 - 2
_SEXES = np.array(["NA", "1", "2"], object)
_UNNAMED = ("IID", "SID", *COLUMNS)


def pvar_text(ds: xr.Dataset) -> str:
    """Return the text of the .pvar of a Dataset.

    Raises KeyError for a missing variable, and ValueError for a label that the file cannot hold.
    """
    contigs = labels.contigs(ds)
    if contigs is None:
        raise _lacks(model.VARIANT_CONTIG, "CHROM")
    if model.VARIANT_POSITION not in ds:
        raise _lacks(model.VARIANT_POSITION, "POS")
    n = ds.sizes[model.VARIANTS]
    position = np.asarray(ds[model.VARIANT_POSITION].values)
    wrong = np.flatnonzero((position < 0) | (position > _MOST_POSITION))
    if wrong.size:
        msg = (
            f"variant_position[{wrong[0]}] is {position[wrong[0]]}: PLINK takes positions from 0 "
            f"to {_MOST_POSITION}"
        )
        raise ValueError(msg)
    ids = _texts(ds, model.VARIANT_ID) if model.VARIANT_ID in ds else ["."] * n
    columns: dict[str, Iterable[str]] = {
        "#CHROM": _tokens(contigs.of_variants().tolist(), "the contig of variants"),
        "POS": map(str, position.tolist()),
        "ID": _tokens([name or "." for name in ids], model.VARIANT_ID),
    }
    columns["REF"], columns["ALT"] = _alleles(ds)
    if "variant_quality" in ds:
        quality = ds["variant_quality"].values.astype(np.float32)
        columns["QUAL"] = ["." if np.isnan(value) else str(value) for value in quality]
    if "variant_filter" in ds and "filter_id" in ds:
        columns["FILTER"] = _filters(ds)
    if model.VARIANT_GENETIC_POSITION in ds:
        columns["CM"] = map(_number, ds[model.VARIANT_GENETIC_POSITION].values.tolist())
    return _lines(columns)


def _alleles(ds: xr.Dataset) -> tuple[list[str], list[str]]:
    rows = labels.text(ds[model.VARIANT_ALLELE].transpose(model.VARIANTS, ...)).tolist()
    counts = labels.allele_counts(ds)
    ref, alt = [], []
    for k, (row, count) in enumerate(zip(rows, [] if counts is None else counts, strict=True)):
        names = [NO_ALLELE if name == _NO_ALLELE_OF_PLINK_1 else name for name in row[:count]]
        if not names or any(not name or "," in name or name.split() != [name] for name in names):
            msg = (
                f"variant_allele[{k}] is {row}: an allele of a .pvar is text without white space "
                "and commas, and REF is there"
            )
            raise ValueError(msg)
        ref.append(names[0])
        alt.append(",".join(names[1:]) or NO_ALLELE)
    return ref, alt


def _filters(ds: xr.Dataset) -> list[str]:
    names = _tokens(_texts(ds, "filter_id"), "filter_id")
    passed = ds["variant_filter"].transpose(model.VARIANTS, ...).values
    return [";".join(np.array(names, object)[row]) or "." for row in passed]


def psam_text(ds: xr.Dataset) -> str:
    """Return the text of the .psam of a Dataset; raises as `pvar_text`."""
    if model.SAMPLE_ID not in ds:
        raise _lacks(model.SAMPLE_ID, "IID")
    families = None
    if COLUMNS["FID"] in ds:
        families = [name or NO_FAMILY for name in _texts(ds, COLUMNS["FID"])]
    pairs = id_pairs(_texts(ds, model.SAMPLE_ID), families)
    columns: dict[str, Iterable[str]] = {}
    if any(family != NO_FAMILY for family, _ in pairs):
        columns["FID"] = [family for family, _ in pairs]
    columns["IID"] = [name for _, name in pairs]
    _tokens(next(iter(columns.values())), "the first id of samples")
    for column in ("PAT", "MAT"):
        name = COLUMNS[column]
        if name in ds:
            columns[column] = _tokens([x or NO_FAMILY for x in _texts(ds, name)], name)
    known = sexes(ds)
    if known is not None:
        columns["SEX"] = _SEXES[known].tolist()
    columns |= _phenotypes(ds)
    first = next(iter(columns))
    return _lines({(f"#{name}" if name == first else name): x for name, x in columns.items()})


def _phenotypes(ds: xr.Dataset) -> dict[str, Iterable[str]]:
    known = {model.SAMPLE_ID, *COLUMNS.values()} - {COLUMNS["PHENO1"]}
    found: dict[str, Iterable[str]] = {}
    for key, variable in ds.variables.items():
        name = str(key)
        numbers = isinstance(variable.dtype, np.dtype) and variable.dtype.kind in "biuf"
        if variable.dims != (model.SAMPLES,) or not name.startswith("sample_") or not numbers:
            continue
        if name in known:
            continue
        column = "PHENO1" if name == COLUMNS["PHENO1"] else name.removeprefix("sample_")
        if name != COLUMNS["PHENO1"] and column in _UNNAMED:
            msg = f"{name} would be the column {column!r} of the .psam, which has a meaning: rename"
            raise ValueError(f"{msg} it, or leave it out with ds.drop_vars({name!r})")
        _tokens([column], "a variable along samples")
        found[column] = _phenotype(name, np.asarray(variable.values))
    return found


def _phenotype(name: str, values: NDArray[Any]) -> list[str]:
    """Return a column of a .psam; ValueError for a number that PLINK reads as missing."""
    if values.dtype.kind == "b":
        return np.where(values, "2", "1").tolist()
    numbers = values.astype(np.float64)
    known = numbers[~np.isnan(numbers)]
    classes = np.isin(known, (0, 1, 2)).all()
    wrong = np.flatnonzero((numbers == -9) | ((numbers == 0) & classes))
    if wrong.size:
        k = int(wrong[0])
        msg = f"{name}[{k}] is {values[k]}, which PLINK reads as missing"
        if values[k] == 0:
            msg += f" in a column of 0, 1 and 2: make two classes boolean, ds.{name} == 1"
        else:
            msg += ": make it NaN"
        raise ValueError(f"{msg}, or leave it out with ds.drop_vars({name!r})")
    return ["NA" if np.isnan(x) else _number(x) for x in numbers.tolist()]


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")


def _texts(ds: xr.Dataset, name: str) -> list[str]:
    return labels.text(ds[name].values, name).tolist()


def _tokens(texts: Iterable[str], name: str) -> Sequence[str]:
    """Return texts; ValueError for one that is empty, has white space or begins with "#"."""
    found = list(texts)
    for k, text in enumerate(found):
        if text.startswith("#") or text.split() != [text]:
            msg = (
                f"{name} [{k}] is {text!r}: a column of a .pvar or .psam holds text without white "
                "space that does not begin with '#'"
            )
            raise ValueError(msg)
    return found


def _lines(columns: dict[str, Iterable[str]]) -> str:
    rows = zip(*columns.values(), strict=True)
    return "".join("\t".join(row) + "\n" for row in (tuple(columns), *rows))


def _lacks(variable: str, column: str) -> KeyError:
    return KeyError(f"the Dataset has no variable {variable!r}, which becomes the column {column}")
