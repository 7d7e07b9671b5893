"""``ds.genobit.alignment``: haploid calls as aligned sequences of the samples.

A part of the accessor, and like it labels in, labels out. May import: io and what is below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit import model
from genobit.alphabets import GAP, MISSING
from genobit.io.alignment import SITES, TAXA, labelled_alignment
from genobit.options import get_options, more_than

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

_BASES = ("A", "C", "G", "T", "N")
#: The allele of VCF that stands for a deletion which reaches over the site.
_DELETED = "*"


class SequenceMethods:
    """Methods of ``ds.genobit`` that make aligned sequences of calls."""

    _ds: xr.Dataset

    def alignment(self) -> xr.DataArray:
        """Haploid calls as an alignment, samples as taxa and variants as sites.

        Returns
        -------
            DataArray (taxa, sites) of text as of `genobit.open_alignment`, in memory: the bases of
            the alleles (kind "dna") where all that are called are single bases, ``*`` as a gap;
            otherwise the numbers of the alleles (kind "standard"). Calls below 0 are ``?``. The
            taxa are named by ``sample_id``; variables of variants and samples are carried along.

        Raises
        ------
        ValueError
            For another ploidy than 1, an allele that ``variant_allele`` does not have, or two
            samples of one name.
        KeyError, TypeError
            If there is no ``call_genotype``, or not of integers.
        MemoryError
            For an alignment past ``get_options().eager_limit``.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0], [1], [-1]], [[2], [0], [0]]], "int8")
        >>> ds = xr.Dataset(
        ...     {
        ...         "call_genotype": (("variants", "samples", "ploidy"), calls),
        ...         "variant_allele": (("variants", "alleles"), [["A", "C", ""], ["G", "T", "A"]]),
        ...         "sample_id": ("samples", ["x", "y", "z"]),
        ...     }
        ... )
        >>> ds.genobit.alignment().values
        array([['A', 'A'],
               ['C', 'G'],
               ['?', 'G']], dtype='<U1')
        """
        calls = model.require_genotypes(self._ds)
        ploidy = calls.sizes[model.PLOIDY]
        if ploidy != 1:
            msg = (
                f"{model.CALL_GENOTYPE} has ploidy {ploidy}, an alignment is of haploid calls: "
                "take one haplotype of each sample with ds.isel(ploidy=[0])"
            )
            raise ValueError(msg)
        size = 4 * calls.sizes[model.VARIANTS] * calls.sizes[model.SAMPLES]
        if (limit := get_options().eager_limit) < size:
            msg = (
                f"the alignment takes {more_than(size, limit)}: select variants or samples, or "
                "raise gb.set_options(eager_limit=...)"
            )
            raise MemoryError(msg)
        numbers = np.asarray(calls.values)[:, :, 0]
        taxa = _names(self._ds)
        values = _bases(self._ds, numbers)
        kind = "standard" if values is None else "dna"
        if values is None:
            values = np.where(numbers < 0, MISSING, np.maximum(numbers, 0).astype(str))
        aln = labelled_alignment(np.ascontiguousarray(values.T), taxa, kind)
        return aln.assign_coords(_carried(self._ds))


def _names(ds: xr.Dataset) -> list[str]:
    if model.SAMPLE_ID in ds.variables:
        return [str(name) for name in ds[model.SAMPLE_ID].values]
    return [str(number) for number in range(ds.sizes[model.SAMPLES])]


def _bases(ds: xr.Dataset, numbers: NDArray[Any]) -> NDArray[np.str_] | None:
    """The base of every call (variants, samples); none where some allele is not a single one."""
    if model.VARIANT_ALLELE not in ds.variables:
        return None
    alleles = np.asarray(ds[model.VARIANT_ALLELE].values).astype(object)
    beyond = np.argwhere(numbers >= alleles.shape[1])
    if len(beyond):
        variant, sample = (int(index) for index in beyond[0])
        msg = (
            f"{model.CALL_GENOTYPE}: variant {variant}, sample {sample} has allele "
            f"{int(numbers[variant, sample])}, {model.VARIANT_ALLELE} has {alleles.shape[1]}: mend "
            f"one of them, or leave {model.VARIANT_ALLELE} out for an alignment of allele numbers"
        )
        raise ValueError(msg)
    known = {**{base: base for base in _BASES}, _DELETED: GAP}
    # Anything else becomes empty, and may be there as long as no call has it.
    table = np.array([[known.get(str(a).upper(), "") for a in row] for row in alleles], "U1")
    bases = np.take_along_axis(table, np.maximum(numbers, 0).astype(np.intp), axis=1)
    bases[numbers < 0] = MISSING
    return None if (bases == "").any() else bases


def _carried(ds: xr.Dataset) -> dict[Hashable, Any]:
    dims = {(model.VARIANTS,): SITES, (model.SAMPLES,): TAXA}
    return {
        name: (dims[variable.dims], model.as_objects(variable).data, variable.attrs)
        for name, variable in ds.variables.items()
        if variable.dims in dims and name not in {model.SAMPLE_ID, *ds.dims}
    }
