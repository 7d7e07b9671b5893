"""Pack genotypes into a packed Dataset (``ds.genobit.pack``).

This file handles labels and layout; `genobit.engine` moves the bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from genobit.data import labels, layouts, model, result_labels
from genobit.data.checks import check_one_of
from genobit.engine.bits.layout import PREFIX, UNWRITTEN, Layout
from genobit.engine.options import get_options
from genobit.engine.progress import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import dask.array as da

POLYPLOID = 0.05
"""Largest share of calls with more than two alleles that become missing."""
POLYPLOID_CALLS = "polyploid_calls"
"""Attribute of planes: number of such calls."""

FILE_PLANES: list[Callable[[xr.DataArray, Layout, int | None], dict[str, da.Array] | None]] = []
"""Functions that pack the file behind unchanged genotypes without their calls.

Readers of .bed, .pgen and VCF add one each. They take genotypes, a dosage layout and the
variants per chunk, and return lazy planes, or None for genotypes from elsewhere.
"""


def pack(
    ds: xr.Dataset,
    *,
    rows: str,
    phased: bool,
    multiallelic: str,
    missing: str,
    chunk: int | None = None,
    haploid: bool = False,
) -> xr.Dataset:
    """Pack the genotypes of a Dataset; the parameters are those of ``ds.genobit.pack``.

    - ``chunk``: number of variants per chunk; the default follows `get_options`.
    - ``haploid``: read the haploid call (a, -2) as the dosage of (a, a) instead of refusing it.
    """
    check_one_of("rows", rows, ("variants", "samples"))
    check_one_of("multiallelic", multiallelic, ("refuse", "drop", "split"))
    check_one_of("missing", missing, ("keep", "refuse"))
    if layouts.layout_of(ds) is not None:
        raise ValueError("the Dataset is packed already; pack the genotypes it was made of")
    if not phased:
        ds = without_polyploid_calls(ds)
    source = model.require_genotypes(ds)
    chosen, numbers, alleles, limits = _biallelic(ds, multiallelic)
    calls = model.require_genotypes(chosen)
    layout = _layout(calls, rows, phased=phased)
    refuse = missing == "refuse" or _none_missing(calls)
    if chunk is None and rows == "variants" and get_options().chunk_rows == "auto":
        from genobit.engine.schedule.costs import chunk_of_variants

        chunk = chunk_of_variants(len(numbers), layout.bits, len(layout.planes) + (not refuse))
    planes = file_planes(source, layout, chunk) if chosen is ds and not refuse else None
    if planes is None:
        along = (numbers, alleles, limits)
        planes = _call_planes(chosen, calls, layout, along, chunk, (refuse, haploid))
    return _packed_dataset(chosen, calls, planes, layout)


def without_polyploid_calls(ds: xr.Dataset) -> xr.Dataset:
    """Return the Dataset with ploidy 2, where calls of more alleles are missing; warn of them.

    Takes a pass over the calls, unless the ploidy is 2 or less. Raises ValueError if more than
    `POLYPLOID` of them have more alleles.
    """
    from genobit.data.selection import names_along
    from genobit.engine.schedule.computing import compute

    if model.CALL_GENOTYPE not in ds or ds.sizes.get(model.PLOIDY, 0) <= 2:
        return ds
    calls = model.require_genotypes(ds)
    if not isinstance(calls.variable._data, np.ndarray):
        calls = calls.chunk()  # a file opened without dask would be read whole
    # -2 fills the calls of lower ploidy.
    more = (calls.isel(ploidy=slice(2, None)) != -2).any(model.PLOIDY)
    sums = compute(more.sum(model.SAMPLES).data, more.sum(model.VARIANTS).data)
    of_variant, of_sample = map(np.asarray, sums)
    count = int(of_variant.sum())
    if count > POLYPLOID * more.size:
        raise ValueError(
            f"{model.CALL_GENOTYPE} has ploidy {calls.sizes[model.PLOIDY]}, a dosage needs 2, and "
            f"{count:,} of {more.size:,} calls have more alleles: select diploid samples or "
            "variants, or analyse haplotypes, which linkage takes with phased=True"
        )
    if count:
        sample = names_along(ds, model.SAMPLES)[int(of_sample.argmax())]
        warn(
            f"{count:,} of {more.size:,} calls have more than two alleles and become missing, "
            f"first at variants={int((of_variant > 0).argmax())}, most in sample {sample!r} "
            f"({of_sample.max():,}): leave such samples or variants out if they are polyploid"
        )
    two = calls.isel(ploidy=slice(2)).where(~more, calls.dtype.type(-1))
    found = ds.isel(ploidy=slice(2)).assign({model.CALL_GENOTYPE: two})
    return found.assign_attrs({POLYPLOID_CALLS: count})


def _layout(calls: xr.DataArray, rows: str, *, phased: bool) -> Layout:
    samples, ploidy = calls.sizes[model.SAMPLES], calls.sizes[model.PLOIDY]
    along = samples if rows == "variants" else calls.sizes[model.VARIANTS]
    if not phased:
        model.require_diploid(model.CALL_GENOTYPE, ploidy)
        return Layout("dosage", rows, along, 1)
    if rows == "samples":
        raise ValueError("haplotypes are packed with rows='variants'; rows='samples' takes dosages")
    return Layout("haplotype", rows, samples * ploidy, ploidy)


def _none_missing(calls: xr.DataArray) -> bool:
    """Return whether genotypes in memory have no missing call; lazy ones are not computed."""
    # The private name: `.data` would read all calls of a file that was opened without dask.
    data = calls.variable._data
    return isinstance(data, np.ndarray) and bool((data >= 0).all())


def _biallelic(
    ds: xr.Dataset, policy: str
) -> tuple[xr.Dataset, NDArray[np.int64], NDArray[np.int8], NDArray[np.int8]]:
    """Return the Dataset with one counted allele per row, and three arrays (rows,).

    The arrays are the number of the row's variant before dropping or splitting, the counted allele,
    and the largest allele it may have.
    """
    n = ds.sizes[model.VARIANTS]
    numbers, ones = np.arange(n), np.ones(n, np.int8)
    alleles = ds.get(model.VARIANT_ALLELE)
    columns = {} if alleles is None else dict(alleles.sizes)
    if columns.pop(model.VARIANTS, None) == n and list(columns.values()) == [2]:
        # No variant has more alleles; counting those of a million takes 0.3 s.
        return ds, numbers, ones, ones
    counts = labels.allele_counts(ds)
    if counts is None:
        if policy != "refuse":
            raise KeyError(
                f"multiallelic={policy!r} needs the variable {model.VARIANT_ALLELE!r}, "
                "which the Dataset lacks"
            )
        return ds, numbers, ones, ones
    if not (counts > 2).any():
        return ds, numbers, ones, ones
    if policy == "refuse":
        model.require_biallelic(counts)
    if policy == "drop":
        kept = np.flatnonzero(counts <= 2)
        if not kept.size:
            msg = f"all {n} variants have more than two alleles: nothing is left to pack"
            raise ValueError(msg)
        return ds.isel(variants=kept), kept, ones[kept], ones[kept]
    copies = np.maximum(counts - 1, 1)
    source = np.repeat(numbers, copies)
    allele = np.arange(source.size) - np.repeat(np.cumsum(copies) - copies, copies) + 1
    split = ds.isel(variants=source)
    names = np.asarray(split[model.VARIANT_ALLELE].transpose(model.VARIANTS, ...).values)
    pair = np.stack([names[:, 0], names[np.arange(source.size), allele]], axis=1)
    split = split.drop_vars(model.VARIANT_ALLELE).assign(
        {
            model.VARIANT_ALLELE: ((model.VARIANTS, "alleles_split"), pair),
            "variant_split_allele": (model.VARIANTS, allele),
        }
    )
    limits = np.maximum(counts - 1, 1)[source]
    return split, source, allele.astype(np.int8), limits.astype(np.int8)


def file_planes(
    calls: xr.DataArray, layout: Layout, chunk: int | None
) -> dict[str, da.Array] | None:
    """Return planes packed from the file of unchanged genotypes, or None for others."""
    if layout.kind == "dosage":
        for planes_of in FILE_PLANES:
            planes = planes_of(calls, layout, chunk)
            if planes is not None:
                return planes
    return None


def _call_planes(
    ds: xr.Dataset,
    calls: xr.DataArray,
    layout: Layout,
    along: tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int8]],
    chunk: int | None,
    rules: tuple[bool, bool],
) -> dict[str, da.Array]:
    from genobit.engine.schedule import packing

    data = calls.chunk().data
    if layout.kind == "haplotype" and layout.ploidy > 1:
        phased = model.phase_of(ds)
        data = packing.require_phased(data, None if phased is None else phased.data, along[0])
    refuse, haploid = rules
    return packing.pack_calls(
        data, layout, *along, chunk=chunk, refuse_missing=refuse, haploid=haploid
    )


def _packed_dataset(
    ds: xr.Dataset, calls: xr.DataArray, planes: dict[str, da.Array], layout: Layout
) -> xr.Dataset:
    variables = {PREFIX + name: plane(words, layout) for name, words in planes.items()}
    chunks: dict[Hashable, Any] = {layout.rows: next(iter(planes.values())).chunks[0]}
    coords = result_labels.beside(model.carried(ds, without=(model.CALL_GENOTYPE,)), chunks)
    attributes = {**ds.attrs, **layout.to_attributes()}
    attributes[model.COUNTED_ALLELE] = calls.attrs.get(
        model.COUNTED_ALLELE, "allele 1 (variant_allele[:, 1])"
    )
    return layouts.mark_bits(xr.Dataset(variables, coords, attributes), layout)


def plane(words: da.Array, layout: Layout) -> xr.Variable:
    """Return a plane of a Dataset; its fill value reveals unwritten chunks of a Zarr store."""
    encoding = {"fill_value": UNWRITTEN}
    return xr.Variable((layout.rows, model.WORDS), words, encoding=encoding)
