"""Write the .bim and .fam of a PLINK 1 fileset, in the text of plink2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data import labels, model
from genobit.data.sexes import sexes
from genobit.io.writers import _checks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr
    from numpy.typing import NDArray

_UNKNOWN = "."
"""Text of VCF and plink2 for an allele that is not known."""
_NOBODY = "0"
PHENOTYPE = "sample_phenotype"
_MISSING_PHENOTYPE = "-9"
_CENTIMORGAN_DIGITS, _PHENOTYPE_DIGITS = 8, 6
"""Significant digits that plink2 writes."""


def bim_columns(ds: xr.Dataset, digits: int | None) -> Columns:
    """Return the columns of a .bim: contig, id, cM, position, A1, A2; ``digits`` are those of cM.

    Raises TypeError for positions that are not whole numbers, and ValueError for text with white
    space, for more than two alleles, or for what PLINK would not read.
    """
    positions = _checks.positions(ds, "a .bim")
    a2, a1 = (
        _checks.words(column, model.VARIANT_ALLELE, model.VARIANTS, _UNKNOWN)
        for column in _alleles(ds)
    )
    centimorgans = _checks.centimorgans(ds)
    return Columns(
        (
            _checks.contigs(ds).of_variants(),
            _checks.variant_ids(ds),
            np.zeros(positions.size) if centimorgans is None else centimorgans,
            positions,
            a1,
            a2,
        ),
        digits or _CENTIMORGAN_DIGITS,
    )


def fam_columns(ds: xr.Dataset, digits: int | None) -> Columns:
    """Return the columns of a .fam: family, id, father, mother, sex, phenotype.

    ``digits`` are those of the phenotype. Raises ValueError for ids that the file cannot hold, for
    an unknown sex, or for a phenotype that PLINK would read as another.
    """
    pairs = _checks.samples(ds)
    nobody = np.full(len(pairs), _NOBODY, object)
    parents = []
    for name in ("sample_father_id", "sample_mother_id"):
        ids = labels.texts_along(ds, name, model.SAMPLES)
        parents.append(nobody if ids is None else _checks.words(ids, name, model.SAMPLES, _NOBODY))
    known = sexes(ds)
    digits = digits or _PHENOTYPE_DIGITS
    phenotypes = _checks.numbers(ds, PHENOTYPE, model.SAMPLES)
    if phenotypes is None:
        phenotypes = np.full(len(pairs), np.nan)
    _checks.require_phenotypes(PHENOTYPE, phenotypes, digits)
    columns = (
        *np.array(pairs, object).T,
        *parents,
        nobody if known is None else known,
        phenotypes,
    )
    return Columns(columns, digits)


class Columns(NamedTuple):
    """Columns of a text file, and the significant digits of those of float64."""

    arrays: tuple[NDArray[Any], ...]
    digits: int

    def lines(self) -> Iterator[str]:
        """Yield the lines, many at a time: text takes more memory than the columns."""
        for start in range(0, self.arrays[0].size, _checks.LINES):
            blocks = [self._texts(array[start : start + _checks.LINES]) for array in self.arrays]
            yield "".join(["\t".join(row) + "\n" for row in zip(*blocks, strict=True)])

    def _texts(self, block: NDArray[Any]) -> list[str]:
        if block.dtype.kind != "f":
            return list(map(str, block.tolist()))
        numbers = (f"{x:.{self.digits}g}" for x in block.tolist())
        return [_MISSING_PHENOTYPE if text == "nan" else text for text in numbers]


def _alleles(ds: xr.Dataset) -> NDArray[np.object_]:
    """Return the names of the alleles (2, variants): not counted, counted.

    Raises ValueError for more than two alleles, and for a comma, which plink2 refuses.
    """
    counts = labels.known_allele_counts(ds)
    model.require_biallelic(counts)
    found = labels.allele_names(ds)
    pairs = np.full((2, found.shape[0]), "", object)
    pairs[: min(found.shape[1], 2)] = found.T[:2]
    if "," in "".join(pairs.ravel().tolist()):
        k = next(k for k, pair in enumerate(pairs.T.tolist()) if "," in "".join(pair))
        raise _checks.wrong_allele(found[k].tolist(), k, "a .bim")
    return pairs
