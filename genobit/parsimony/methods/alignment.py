"""``ds.genobit.alignment``: haploid calls as an alignment of the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, model, result_labels
from genobit.data.alignment import SITES, TAXA, alignment_attributes, require_names
from genobit.data.analysis import DatasetMethods
from genobit.engine.options import get_options, more_than

if TYPE_CHECKING:
    from collections.abc import Hashable

    from genobit.parsimony.sequences import Entries


class AlignmentMethods(DatasetMethods):
    """Methods of ``ds.genobit`` that convert calls to aligned sequences."""

    def alignment(self) -> xr.DataArray:
        """Convert haploid calls to an alignment, with samples as taxa and variants as sites.

        Returns
        -------
            DataArray (taxa, sites) of text, in the form that `genobit.open_alignment` returns. If
            all called alleles are single bases or ``*``, entries are the bases (kind "dna"); the
            allele ``*`` becomes a gap. Otherwise entries are the numbers of the alleles (kind
            "standard"). Calls below 0 become ``?``. Taxa are named by ``sample_id``. Variables of
            variants and samples are kept.

            If ``call_genotype`` is a dask array, the alignment is lazy, in the same chunks of
            variants. The method reads these calls once, a few chunks at a time, to find the called
            alleles.

        Raises
        ------
        ValueError
            For a ploidy other than 1, for a called allele that ``variant_allele`` lacks, or for two
            samples with the same name.
        KeyError, TypeError
            If ``call_genotype`` is missing, or its dtype is not integer.
        MemoryError
            For calls in memory whose alignment exceeds ``get_options().eager_limit``.

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
        lazy = calls.chunks is not None
        if not lazy:
            _require_room(4 * calls.sizes[model.VARIANTS] * calls.sizes[model.SAMPLES])
        taxa = _names(self._ds)
        require_names(taxa)
        numbers = (calls.data if lazy else np.asarray(calls.values))[:, :, 0].T
        found = _entries(self._ds, numbers)
        attrs = alignment_attributes(found.kind, found.symbols)
        aln = xr.DataArray(found.values, {TAXA: taxa}, (TAXA, SITES), "alignment", attrs)
        return aln.assign_coords(_carried(self._ds))


def _require_room(size: int) -> None:
    if (limit := get_options().eager_limit) < size:
        msg = (
            f"the alignment takes {more_than(size, limit)}: select variants or samples, chunk the "
            "calls, or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)


def _names(ds: xr.Dataset) -> list[str]:
    found = labels.ids(ds, model.SAMPLES)
    numbers = labels.text(np.arange(ds.sizes[model.SAMPLES]))
    return list((numbers if found is None else found).tolist())


def _entries(ds: xr.Dataset, numbers: Any) -> Entries:
    from genobit.parsimony.sequences import bases_of, entries_of

    if model.VARIANT_ALLELE not in ds.variables:
        return entries_of(numbers, None)
    alleles = ds[model.VARIANT_ALLELE].transpose(model.VARIANTS, ...)
    return entries_of(numbers, bases_of(labels.text(alleles.values, model.VARIANT_ALLELE)))


def _carried(ds: xr.Dataset) -> dict[Hashable, Any]:
    dims: dict[tuple[Hashable, ...], str] = {(model.VARIANTS,): SITES, (model.SAMPLES,): TAXA}
    left_out = {model.SAMPLE_ID, *ds.dims}
    names = [k for k, x in ds.variables.items() if x.dims in dims and k not in left_out]
    return {
        name: (dims[variable.dims], variable.data, variable.attrs)
        for name, variable in result_labels.of_result(ds, names).items()
    }
