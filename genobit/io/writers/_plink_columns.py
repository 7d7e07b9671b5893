"""Write the .bim and .fam of a PLINK 1 fileset, in the text of plink2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data import labels, model
from genobit.data.sexes import sexes
from genobit.io._grm_files import FAMILY, id_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr
    from numpy.typing import NDArray

_UNKNOWN = "."
"""Text of VCF and plink2 for an id or an allele that is not known."""
_NOBODY = "0"
PHENOTYPE = "sample_phenotype"
_MISSING_PHENOTYPE = "-9"
_CENTIMORGAN_DIGITS, _PHENOTYPE_DIGITS = 8, 6
"""Significant digits that plink2 writes."""
_LINES = 2**16


def bim_columns(ds: xr.Dataset, digits: int | None) -> Columns:
    """Return the columns of a .bim: contig, id, cM, position, A1, A2; ``digits`` are those of cM.

    Raises KeyError for a variable that is not there, TypeError for positions that are not whole
    numbers, and ValueError for text with white space or for more than two alleles.
    """
    positions = _required(ds, model.VARIANT_POSITION, "0")
    if positions.dtype.kind not in "iu":
        msg = (
            f"{model.VARIANT_POSITION} is {positions.dtype}, and a .bim takes whole numbers: "
            f"ds.assign({model.VARIANT_POSITION}=ds.{model.VARIANT_POSITION}.astype('int64'))"
        )
        raise TypeError(msg)
    _required(ds, model.VARIANT_CONTIG, "'1'")
    contigs = labels.known_contigs(ds)
    for k in np.unique(contigs.numbers):
        _require_word(contigs.names[k], model.CONTIG_ID, f"contigs={k}")
    ids = labels.texts_along(ds, model.VARIANT_ID, model.VARIANTS)
    if ids is None:
        ids = np.full(positions.size, _UNKNOWN, object)
    a2, a1 = (_filled(column, model.VARIANT_ALLELE, model.VARIANTS) for column in _alleles(ds))
    known = labels.values_along(ds, model.VARIANT_GENETIC_POSITION, model.VARIANTS)
    centimorgans = np.zeros(positions.size) if known is None else known.astype(np.float64)
    return Columns(
        (
            contigs.of_variants(),
            _filled(ids, model.VARIANT_ID, model.VARIANTS),
            np.nan_to_num(centimorgans, nan=0),
            positions,
            a1,
            a2,
        ),
        digits or _CENTIMORGAN_DIGITS,
    )


def fam_columns(ds: xr.Dataset, digits: int | None) -> Columns:
    """Return the columns of a .fam: family, id, father, mother, sex, phenotype.

    ``digits`` are those of the phenotype. Raises KeyError without sample ids, and ValueError for
    ids that the file cannot hold, for an unknown sex, or for a phenotype that PLINK would read as
    another.
    """
    individuals = labels.text(_required(ds, model.SAMPLE_ID, "names"), model.SAMPLE_ID)
    families = labels.texts_along(ds, FAMILY, model.SAMPLES)
    if families is not None:
        families[families == ""] = _NOBODY
    pairs = id_pairs(individuals.tolist(), None if families is None else families.tolist())
    nobody = np.full(len(pairs), _NOBODY, object)
    parents = []
    for name in ("sample_father_id", "sample_mother_id"):
        ids = labels.texts_along(ds, name, model.SAMPLES)
        parents.append(nobody if ids is None else _filled(ids, name, model.SAMPLES, _NOBODY))
    known = sexes(ds)
    columns = (
        *np.array(pairs, object).T,
        *parents,
        nobody if known is None else known,
        _phenotypes(ds, len(pairs)),
    )
    return Columns(columns, digits or _PHENOTYPE_DIGITS)


class Columns(NamedTuple):
    """Columns of a text file, and the significant digits of those of float64."""

    arrays: tuple[NDArray[Any], ...]
    digits: int

    def lines(self) -> Iterator[str]:
        """Yield the lines, many at a time: text takes more memory than the columns."""
        for start in range(0, self.arrays[0].size, _LINES):
            blocks = [self._texts(array[start : start + _LINES]) for array in self.arrays]
            yield "".join(["\t".join(row) + "\n" for row in zip(*blocks, strict=True)])

    def _texts(self, block: NDArray[Any]) -> list[str]:
        if block.dtype.kind != "f":
            return list(map(str, block.tolist()))
        numbers = (f"{x:.{self.digits}g}" for x in block.tolist())
        return [_MISSING_PHENOTYPE if text == "nan" else text for text in numbers]


def _required(ds: xr.Dataset, name: str, example: str) -> NDArray[Any]:
    """Return a label along its dimension; raise KeyError with the way to assign it."""
    dim = model.SAMPLES if name == model.SAMPLE_ID else model.VARIANTS
    values = labels.values_along(ds, name, dim)
    if values is None:
        msg = (
            f"the Dataset has no variable {name!r} along {dim!r}, and a PLINK fileset needs it: "
            f"ds.assign({name}=({dim!r}, {example}))"
        )
        raise KeyError(msg)
    return values


def _alleles(ds: xr.Dataset) -> NDArray[np.object_]:
    """Return the names of the alleles (2, variants): not counted, counted."""
    counts = labels.allele_counts(ds)
    if counts is None:
        msg = (
            f"the Dataset has no variable {model.VARIANT_ALLELE!r}, and a .bim names both alleles: "
            f"ds.assign({model.VARIANT_ALLELE}=(('variants', 'alleles'), pairs))"
        )
        raise KeyError(msg)
    model.require_biallelic(counts)
    found = labels.text(ds[model.VARIANT_ALLELE].transpose(model.VARIANTS, ...).values)
    pairs = np.full((2, found.shape[0]), "", object)
    pairs[: min(found.shape[1], 2)] = found.T[:2]
    return pairs


def _filled(
    values: NDArray[np.object_], name: str, dim: str, missing: str = _UNKNOWN
) -> NDArray[np.object_]:
    """Return text with its empty places filled; refuse white space, at which PLINK splits."""
    filled = np.where(values == "", missing, values)
    for start in range(0, filled.size, _LINES):
        texts = filled[start : start + _LINES].tolist()
        # Split all at once: a Python call for each text takes longer.
        if " ".join(texts).split() != texts:
            for k, text in enumerate(texts, start):
                _require_word(text, name, f"{dim}={k}")
    return filled


def _require_word(text: str, name: str, place: str) -> None:
    if text.split() != [text]:
        msg = (
            f"{name} is {text!r} at {place}: PLINK splits its files at white space, so the text "
            "must hold none; rename it"
        )
        raise ValueError(msg)


def _phenotypes(ds: xr.Dataset, samples: int) -> NDArray[np.float64]:
    """Return phenotypes, NaN for missing; refuse codes that PLINK reads as missing."""
    given = labels.values_along(ds, PHENOTYPE, model.SAMPLES)
    if given is None:
        return np.full(samples, np.nan)
    try:
        values = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        msg = (
            f"{PHENOTYPE} is {given.dtype}, such as {str(given[:1])[:40]}: a .fam takes numbers; "
            "write categories as 1 and 2, missing as NaN"
        )
        raise TypeError(msg) from error
    known = values[~np.isnan(values)]
    if np.isin(known, (0, 1, 2)).all() and (known == 0).any():
        k = int(np.flatnonzero(values == 0)[0])
        msg = (
            f"{PHENOTYPE} is 0 at samples={k}, and PLINK reads 0 as missing where all values are "
            f"0, 1 or 2: give controls 1 and cases 2, ds.assign({PHENOTYPE}=ds.{PHENOTYPE} + 1)"
        )
        raise ValueError(msg)
    if (known == -9).any():
        k = int(np.flatnonzero(values == -9)[0])
        msg = (
            f"{PHENOTYPE} is -9 at samples={k}, which PLINK reads as missing: shift or scale the "
            "trait, or give NaN where it is missing"
        )
        raise ValueError(msg)
    return values
