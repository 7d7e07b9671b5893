"""Make the text of .pvar and .psam files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genobit.data import labels, model
from genobit.data.sexes import sexes
from genobit.io._filters import filter_lines
from genobit.io._grm_files import NO_FAMILY
from genobit.io._plink_text import NO_CATEGORY, SAMPLE_NAMES, is_category
from genobit.io.pgen_files._pvar import NO_ALLELE
from genobit.io.writers import _checks

if TYPE_CHECKING:
    from collections.abc import Iterable

    import xarray as xr
    from numpy.typing import NDArray

_SEXES = np.array(["NA", "1", "2"], object)
_UNNAMED = ("IID", *SAMPLE_NAMES)


def pvar_text(ds: xr.Dataset) -> str:
    """Return the text of the .pvar of a Dataset.

    Raises TypeError for a label of another type, and ValueError for one that the file cannot hold.
    """
    position = _checks.positions(ds, "a .pvar")
    columns: dict[str, Iterable[str]] = {
        "#CHROM": _checks.contigs(ds).of_variants().tolist(),
        "POS": map(str, position.tolist()),
        "ID": _checks.variant_ids(ds).tolist(),
    }
    alleles = _checks.alleles(ds, "a .pvar").tolist()
    columns["REF"] = [row[0] for row in alleles]
    columns["ALT"] = [",".join(filter(None, row[1:])) or NO_ALLELE for row in alleles]
    quality = _checks.numbers(ds, "variant_quality", model.VARIANTS)
    if quality is not None:
        columns["QUAL"] = _checks.quality_texts(quality.astype(np.float32))
    head: list[str] = []
    if "variant_filter" in ds and "filter_id" in ds:
        failed = ds["variant_filter"].transpose(model.VARIANTS, ...).values
        described = _checks.descriptions(ds)
        forbidden = "" if described is None else _checks.ENDS_NAME
        filters = _checks.filters(ds, "a .pvar", forbidden)
        columns["FILTER"] = _checks.filter_texts(filters, failed)
        if described is not None:
            head = filter_lines(filters.tolist(), described.tolist())
    centimorgans = _checks.centimorgans(ds)
    if centimorgans is not None:
        columns["CM"] = map(_checks.number, centimorgans.tolist())
    return "".join(f"{line}\n" for line in head) + _lines(columns)


def psam_text(ds: xr.Dataset) -> str:
    """Return the text of the .psam of a Dataset; raises as `pvar_text`."""
    pairs = _checks.samples(ds)
    columns: dict[str, Iterable[str]] = {}
    if any(family != NO_FAMILY for family, _ in pairs):
        columns["FID"] = [family for family, _ in pairs]
    columns["IID"] = [name for _, name in pairs]
    for column in ("SID", "PAT", "MAT"):
        name = SAMPLE_NAMES[column]
        ids = labels.texts_along(ds, name, model.SAMPLES)
        if ids is not None:
            columns[column] = _checks.words(ids, name, model.SAMPLES, NO_FAMILY).tolist()
    known = sexes(ds)
    if known is not None:
        columns["SEX"] = _SEXES[known].tolist()
    columns |= _phenotypes(ds)
    first = next(iter(columns))
    return _lines({(f"#{name}" if name == first else name): x for name, x in columns.items()})


def _phenotypes(ds: xr.Dataset) -> dict[str, Iterable[str]]:
    known = {model.SAMPLE_ID, *SAMPLE_NAMES.values()} - {SAMPLE_NAMES["PHENO1"]}
    found: dict[str, Iterable[str]] = {}
    for key, variable in ds.variables.items():
        name = str(key)
        if variable.dims != (model.SAMPLES,) or not name.startswith("sample_") or name in known:
            continue
        column = "PHENO1" if name == SAMPLE_NAMES["PHENO1"] else name.removeprefix("sample_")
        if name != SAMPLE_NAMES["PHENO1"] and column in _UNNAMED:
            msg = f"{name} would be the column {column!r} of the .psam, which has a meaning: rename"
            raise ValueError(f"{msg} it, or leave it out with ds.drop_vars({name!r})")
        _checks.require_word(column, "the name of a column", f"ds[{name!r}]")
        found[column] = _phenotype(name, labels.decoded(variable.values, name))
    return found


def _phenotype(name: str, values: NDArray[Any]) -> list[str]:
    """Return a column of a .psam, of numbers or of categories."""
    if labels.is_text(values[~pd.isna(values)]):
        return _categories(name, labels.text(values, name))
    numbers = _checks.as_numbers(name, values, model.SAMPLES)
    _checks.require_phenotypes(name, numbers, None)
    return ["NA" if np.isnan(x) else _checks.number(x) for x in numbers.tolist()]


def _categories(name: str, values: NDArray[np.object_]) -> list[str]:
    """Return text as categories; raise ValueError for what plink2 does not read as one."""
    found = _checks.words(values, name, model.SAMPLES, NO_CATEGORY)
    wrong = next((k for k, x in enumerate(values.tolist()) if x and not is_category(x)), None)
    if wrong is not None:
        raise ValueError(
            f"{name} is {values[wrong]!r} at samples={wrong}, which plink2 reads as a number or as "
            "missing, not as a category: put a letter before it, or '' where it is missing; if all "
            f"are numbers, ds.assign({name}=ds.{name}.astype(float)); or leave them out, "
            f"ds.drop_vars({name!r})"
        )
    return found.tolist()


def _lines(columns: dict[str, Iterable[str]]) -> str:
    rows = zip(*columns.values(), strict=True)
    return "".join("\t".join(row) + "\n" for row in (tuple(columns), *rows))
