"""Parts that the writers share: checks of variables and of labels that programs misread."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, model
from genobit.data.checks import first_true
from genobit.data.contigs import Contigs, chromosome, known_contigs
from genobit.io._grm_files import FAMILY, NO_FAMILY, id_pairs
from genobit.io.pgen_files._pvar import NO_ALLELE

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINES = 2**16
"""Labels that are checked, or lines that are written, at once."""
_MOST_POSITION = 2**31 - 2
_NO_ALLELE_OF_PLINK_1 = "0"
_UNNAMED = "0"
"""Code of PLINK for an individual id that is missing."""
_COMMENT = "#"
"""PLINK skips a line that begins with it."""
_BETWEEN_FILTERS = ";"
ENDS_NAME = ',<>"'
"""Characters that end a name in the header of a VCF."""
DESCRIPTION = "filter_description"
_QUOTABLE = re.compile(r'(?:[^"\\\r\n]|\\.)*')
"""Text that may stand between quotation marks in the header of a VCF."""
_REQUIRED = {
    model.VARIANT_POSITION: (model.VARIANTS, "[{least}] * ds.sizes['variants']"),
    model.VARIANT_CONTIG: (model.VARIANTS, "['1'] * ds.sizes['variants']"),
    model.VARIANT_ALLELE: ((model.VARIANTS, "alleles"), "[['.', '.']] * ds.sizes['variants']"),
    model.SAMPLE_ID: (model.SAMPLES, "[f's{k}' for k in range(ds.sizes['samples'])]"),
}
"""Variables that each format needs: their dimensions, and values for data without labels."""


def require_dataset(ds: object, function: str) -> xr.Dataset:
    """Return a Dataset with its labels in plain form.

    Raises TypeError for anything else, and ValueError for labels along other dimensions.
    """
    if not isinstance(ds, xr.Dataset):
        raise TypeError(
            f"{function} takes a Dataset of genotypes with their labels, not {type(ds).__name__}: "
            "give ds, not ds.call_genotype"
        )
    model.require_label_dims(ds)
    return labels.plain(ds)


def require_labels(ds: xr.Dataset, files: str, least: int = 0) -> None:
    """Raise KeyError for the first variable that ``files`` need and the Dataset lacks.

    ``least`` is the first position that the files take.
    """
    for name, (dims, example) in _REQUIRED.items():
        along = (dims,) if isinstance(dims, str) else ()
        if name not in ds.variables or (along and ds[name].dims != along):
            msg = f"the Dataset has no variable {name!r} along {dims!r}, and {files} needs it. "
            index = labels.values_along(ds, model.VARIANTS, model.VARIANTS)
            if name == model.VARIANT_POSITION and index is not None and index.dtype.kind in "iu":
                msg += f"If the index has it: ds.assign({name}=({dims!r}, ds.{dims}.values)). "
            values = example.replace("{least}", str(least))
            msg += f"If nothing is known: ds.assign({name}=({dims!r}, {values}))"
            raise KeyError(msg)


def positions(ds: xr.Dataset, files: str, least: int = 0) -> NDArray[Any]:
    """Return the positions; raise TypeError or ValueError for those that a file does not hold."""
    name = model.VARIANT_POSITION
    found = np.asarray(ds[name].values)
    if found.dtype.kind not in "iu":
        raise TypeError(
            f"{name} is {found.dtype}, and {files} takes whole numbers: "
            f"ds.assign({name}=ds.{name}.astype('int64'))"
        )
    if (k := first_true((found < least) | (found > _MOST_POSITION))) >= 0:
        msg = (
            f"{name} is {found[k]} at variants={k}, and {files} takes positions from {least} to "
            f"{_MOST_POSITION}. Leave such variants out: "
            f"ds.isel(variants=(ds.{name} >= {least}) & (ds.{name} <= {_MOST_POSITION}))"
        )
        if found[k] == 0:
            msg += f". If positions count from 0: ds.assign({name}=ds.{name} + 1)"
        raise ValueError(msg)
    return found


def contigs(ds: xr.Dataset, forbidden: str = "") -> Contigs:
    """Return the contig of each variant; raise ValueError for a name that programs do not read.

    ``forbidden`` are characters that no name may have; then names without variants count too.
    Without them, PLINK reads the file, and two names of one chromosome are refused.
    """
    numbers = ds[model.VARIANT_CONTIG]
    if model.CONTIG_ID not in ds and numbers.dtype.kind in "iuf" and bool((numbers == 0).any()):
        name = model.VARIANT_CONTIG
        raise ValueError(
            f"{name} has 0 without a name in {model.CONTIG_ID}, and PLINK reads 0 as no known "
            f"place: name the contigs, such as ds.assign({name}=ds.{name} + 1)"
        )
    found = known_contigs(ds)
    twins: dict[str, str] = {}
    for k in range(found.names.size) if forbidden else found.used():
        name, place = found.names[k], f"contigs={k}"
        require_word(name, model.CONTIG_ID, place)
        _require_no_comment(name, model.CONTIG_ID, place)
        if not set(forbidden).isdisjoint(name):
            msg = f"{model.CONTIG_ID} is {name!r} at {place}: it has one of {forbidden}; rename it"
            raise ValueError(msg)
        twin = twins.setdefault(chromosome(name), name)
        if twin != name and not forbidden:
            raise ValueError(
                f"the contigs {twin!r} and {name!r} are one chromosome to PLINK: write one of "
                f"them, ds.genobit.sel(variants={twin!r}), or rename one"
            )
    return found


def alleles(ds: xr.Dataset, files: str) -> NDArray[np.object_]:
    """Return the alleles (variants, alleles): "" after the last, "." for the 0 of PLINK 1.

    Raises ValueError for a variant without alleles, and for an allele with white space or a comma.
    """
    found, counts = labels.allele_names(ds), labels.known_allele_counts(ds)
    there = np.arange(found.shape[1]) < counts[:, None]
    texts = found[there].tolist()
    joined = " ".join(texts)
    if "," in joined or joined.split() != texts or not counts.all():
        for k, (row, count) in enumerate(zip(found.tolist(), counts, strict=True)):
            if not count or any("," in x or x.split() != [x] for x in row[:count]):
                raise wrong_allele(row, k, files)
    found[~there] = ""
    found[found == _NO_ALLELE_OF_PLINK_1] = NO_ALLELE
    return found


def variant_ids(ds: xr.Dataset) -> NDArray[np.object_]:
    """Return the ids of the variants, "." for none; refuse white space."""
    ids = labels.texts_along(ds, model.VARIANT_ID, model.VARIANTS)
    if ids is None:
        ids = np.full(ds.sizes[model.VARIANTS], "", object)
    return words(ids, model.VARIANT_ID, model.VARIANTS, ".")


def wrong_allele(alleles: list[str], k: int, files: str) -> ValueError:
    """Return the error for a variant with an allele that a file cannot hold."""
    return ValueError(
        f"{model.VARIANT_ALLELE}[{k}] is {alleles}: an allele of {files} is text without white "
        "space and commas, and the first allele is there; rename it"
    )


def filters(ds: xr.Dataset, files: str, forbidden: str = "") -> NDArray[np.object_]:
    """Return the names of the filters of ``variant_filter``; ``forbidden`` are more characters.

    Raises KeyError without names, and TypeError if the filters are not booleans. Raises ValueError
    for a name with a semicolon, which separates names, or with white space.
    """
    if "filter_id" not in ds:
        raise KeyError(
            "variant_filter needs the names of its filters, filter_id along 'filters', which the "
            "Dataset lacks: assign it, or leave the filters out, ds.drop_vars('variant_filter')"
        )
    ids = labels.text(ds["filter_id"].values, "filter_id")
    # Integers would choose filters by number.
    if ds["variant_filter"].dtype != bool:
        raise TypeError(
            f"variant_filter is {ds['variant_filter'].dtype}, and {files} takes booleans: "
            "ds.assign(variant_filter=ds.variant_filter == 1)"
        )
    for k, name in enumerate(ids.tolist()):
        if not set(_BETWEEN_FILTERS + forbidden).isdisjoint(name):
            msg = (
                f"filter_id is {name!r} at filters={k}: it has one of {_BETWEEN_FILTERS}{forbidden}"
            )
            raise ValueError(f"{msg}; rename it")
    return words(ids, "filter_id", "filters", "")


def descriptions(ds: xr.Dataset) -> NDArray[np.object_] | None:
    """Return the descriptions of filters, None without them.

    Raises ValueError for one that ends its quotation marks or its line in a header.
    """
    found = labels.texts_along(ds, DESCRIPTION, "filters")
    for k, text in enumerate(() if found is None else found.tolist()):
        if not _QUOTABLE.fullmatch(text):
            raise ValueError(
                f"{DESCRIPTION} is {text!r} at filters={k}: a line of a header holds no line "
                "break, and no quotation mark or last backslash without a backslash before it; "
                "rewrite it"
            )
    return found


def filter_texts(names: NDArray[np.object_], failed: NDArray[np.bool_]) -> list[str]:
    """Return the column FILTER of variants: failed (variants, filters), names (filters,)."""
    return [_BETWEEN_FILTERS.join(names[row]) or "." for row in failed]


def quality_texts(quality: NDArray[np.float32]) -> list[str]:
    """Return the column QUAL of variants, "." for NaN."""
    return ["." if np.isnan(x) else _shortest(x) for x in quality]


def _shortest(x: np.float32) -> str:
    """Return a number as bcftools prints it, with more digits if it has more."""
    short = f"{x:g}"
    # numpy prints large whole numbers in one way or another, by release.
    return short if np.float32(short) == x else str(x).removesuffix(".0")


def samples(ds: xr.Dataset) -> list[tuple[str, str]]:
    """Return family and individual id of each sample.

    Raises ValueError for ids with white space, for the same ids twice, and for ids that PLINK reads
    as none or as a comment.
    """
    names = labels.text(ds[model.SAMPLE_ID].values, model.SAMPLE_ID)
    families = labels.texts_along(ds, FAMILY, model.SAMPLES)
    if families is not None:
        families[families == ""] = NO_FAMILY
    pairs = id_pairs(names, families, ds[model.SAMPLE_ID].attrs)
    for k, (family, name) in enumerate(pairs):
        place = f"samples={k}"
        _require_no_comment(family, FAMILY, place)
        # A .fam has the family first, but plink2 makes of it a .psam that begins with the id.
        _require_no_comment(name, model.SAMPLE_ID, place)
        if name == _UNNAMED:
            msg = f"{model.SAMPLE_ID} is '0' at {place}, which PLINK reads as no id: rename it"
            raise ValueError(msg)
    return pairs


def individuals(ds: xr.Dataset) -> NDArray[np.object_]:
    """Return the ids of the samples; raise ValueError for white space, and for an id twice."""
    found = labels.text(ds[model.SAMPLE_ID].values, model.SAMPLE_ID)
    id_pairs(found, None, {})
    return found


def numbers(ds: xr.Dataset, name: str, dim: str) -> NDArray[np.float64] | None:
    """Return a variable along ``dim``, None without it; raise TypeError if it is not of numbers."""
    given = labels.values_along(ds, name, dim)
    return None if given is None else as_numbers(name, labels.decoded(given, name), dim)


def as_numbers(name: str, given: NDArray[Any], dim: str) -> NDArray[np.float64]:
    """Return the values of a variable as numbers; TypeError with the first that is none."""
    given = as_classes(given) if dim == model.SAMPLES else given
    # numpy would make numbers of dates.
    values = given.tolist() if given.dtype.kind in "OSUTmMc" else []
    dates = given.dtype.kind in "mMc"
    k = next((k for k, value in enumerate(values) if dates or not _is_number(value)), None)
    if k is None:
        return given.astype(np.float64)
    remedy = "give numbers, and NaN where they are missing"
    if dim == model.SAMPLES:
        categories = "" if dates else "write categories with to_pgen, or as 1 and 2, or "
        remedy += f"; {categories}leave them out, ds.drop_vars({name!r})"
    msg = f"{name} is {values[k]!r} at {dim}={k}, and PLINK and VCF take numbers: {remedy}"
    raise TypeError(msg)


def centimorgans(ds: xr.Dataset) -> NDArray[np.float64] | None:
    """Return genetic positions, 0 for NaN, None without them; raise ValueError for infinity."""
    name = model.VARIANT_GENETIC_POSITION
    found = numbers(ds, name, model.VARIANTS)
    if found is None:
        return None
    if (k := first_true(np.isinf(found))) >= 0:
        raise ValueError(
            f"{name} is {found[k]} at variants={k}, and PLINK takes finite numbers: give NaN where "
            f"it is not known, ds.assign({name}=ds.{name}.where(abs(ds.{name}) < float('inf')))"
        )
    return np.nan_to_num(found, nan=0)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None
    return True


def as_classes(values: NDArray[Any]) -> NDArray[Any]:
    """Return booleans as the classes of PLINK, 1 for false and 2 for true; others as they are."""
    return np.where(values, 2.0, 1.0) if values.dtype.kind == "b" else values


def require_phenotypes(name: str, values: NDArray[np.float64], digits: int | None) -> None:
    """Raise ValueError for a number that PLINK reads as missing, or not at all, as it is written.

    ``digits`` are the significant digits that are written; None writes all.
    """
    written = values
    if digits is not None:
        written = np.array([float(f"{x:.{digits}g}") for x in values.tolist()], np.float64)
    classes = np.isin(written[~np.isnan(written)], (0, 1, 2)).all()
    for wrong, reason, remedy in (
        (
            np.isinf(written),
            "which plink2 does not read",
            f"give NaN, ds.assign({name}=ds.{name}.where(abs(ds.{name}) < float('inf')))",
        ),
        (
            classes & (written == 0),
            "and PLINK reads 0 as missing where all values are 0, 1 or 2",
            f"give controls 1 and cases 2, ds.assign({name}=ds.{name} + 1)",
        ),
        (
            written == -9,
            "which PLINK reads as missing",
            "shift or scale the trait, or give NaN where it is missing",
        ),
    ):
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            place, more = f"{name} is {number(values[k])} at samples={k}", ""
            if written[k] != values[k]:
                place += f", with {digits} digits {number(written[k])}"
                more = "write more digits=, or "
            msg = f"{place}, {reason}: {more}{remedy}, or leave it out with ds.drop_vars({name!r})"
            raise ValueError(msg)


def put(data: Any, path: str, at: int) -> int:
    """Write bytes at a place of an existing file; return where they end.

    A cluster that lost a worker may write them again.
    """
    with Path(path).open("r+b") as file:
        file.seek(at)
        return at + file.write(memoryview(data))


def number(value: float) -> str:
    """Return the shortest text that reads back as the number."""
    return repr(float(value)).removesuffix(".0")


def words(values: NDArray[np.object_], name: str, dim: str, missing: str) -> NDArray[np.object_]:
    """Return text with its empty places filled; refuse white space, at which PLINK splits."""
    filled = np.where(values == "", missing, values)
    for start in range(0, filled.size, LINES):
        texts = filled[start : start + LINES].tolist()
        # Split all at once: a Python call for each text takes longer.
        if " ".join(texts).split() != texts:
            for k, text in enumerate(texts, start):
                require_word(text, name, f"{dim}={k}")
    return filled


def require_word(text: str, name: str, place: str) -> None:
    """Raise ValueError for text that is empty or holds white space."""
    if text.split() != [text]:
        raise ValueError(
            f"{name} is {text!r} at {place}: PLINK and VCF are split at white space, so the text "
            "must be there and hold none; rename it"
        )


def _require_no_comment(text: str, name: str, place: str) -> None:
    if text.startswith(_COMMENT):
        msg = f"{name} is {text!r} at {place}: programs skip lines that begin with '#'; rename it"
        raise ValueError(msg)
