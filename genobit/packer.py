"""``ds.genobit.pack``: a packed Dataset made of genotypes.

May import: `io` and the layers below it. It moves no bits: `lazy` and `kernels` do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from genobit import labels, model
from genobit.packing import PREFIX, UNWRITTEN, Layout

if TYPE_CHECKING:
    import dask.array as da


def pack(
    ds: xr.Dataset,
    *,
    rows: str,
    phased: bool,
    multiallelic: str,
    missing: str,
    chunk: int | None = None,
) -> xr.Dataset:
    """Pack the genotypes of a Dataset; the parameters are those of ``ds.genobit.pack``.

    ``chunk`` is the number of variants in a chunk, by default what `get_options` says.
    """
    from genobit.lazy.costs import chunk_of_variants

    _one_of("rows", rows, ("variants", "samples"))
    _one_of("multiallelic", multiallelic, ("refuse", "drop", "split"))
    _one_of("missing", missing, ("keep", "refuse"))
    if model.layout_of(ds) is not None:
        msg = "the Dataset is packed already; pack the genotypes it was made of"
        raise ValueError(msg)
    source = model.require_genotypes(ds)
    chosen, numbers, alleles, limits = _biallelic(ds, multiallelic)
    calls = model.require_genotypes(chosen)
    layout = _layout(calls, rows, phased=phased)
    refuse = missing == "refuse" or _none_missing(calls)
    if chunk is None and rows == "variants":
        chunk = chunk_of_variants(len(numbers), layout.bits, len(layout.planes) + (not refuse))
    planes = _bed_planes(source, layout, chunk) if chosen is ds and not refuse else None
    if planes is None:
        along = (numbers, alleles, limits)
        planes = _call_planes(chosen, calls, layout, along, chunk, refuse_missing=refuse)
    return _packed_dataset(chosen, calls, planes, layout)


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        msg = f"{name}={value!r} is not one of {', '.join(map(repr, choices))}"
        raise ValueError(msg)


def _layout(calls: xr.DataArray, rows: str, *, phased: bool) -> Layout:
    samples, ploidy = calls.sizes[model.SAMPLES], calls.sizes[model.PLOIDY]
    along = samples if rows == "variants" else calls.sizes[model.VARIANTS]
    if not phased:
        if ploidy != 2:
            msg = (
                f"{model.CALL_GENOTYPE} has ploidy {ploidy}, a dosage needs 2: pack haplotypes "
                "with phased=True"
            )
            raise ValueError(msg)
        return Layout("dosage", rows, along, 1)
    if rows == "samples":
        msg = "haplotypes are packed with rows='variants'; rows='samples' takes dosages"
        raise ValueError(msg)
    if "plink_bed" in calls.attrs:
        msg = (
            "phased=True needs phased genotypes, and a PLINK 1 .bed keeps no phase: pack dosages "
            "(phased=False), or open the phased VCF"
        )
        raise ValueError(msg)
    return Layout("haplotype", rows, samples * ploidy, ploidy)


def _none_missing(calls: xr.DataArray) -> bool:
    """Whether genotypes in memory miss no call; lazy ones are not computed to find out."""
    data = calls.variable._data
    return isinstance(data, np.ndarray) and bool((data >= 0).all())


def _biallelic(
    ds: xr.Dataset, policy: str
) -> tuple[xr.Dataset, NDArray[np.int64], NDArray[np.int8], NDArray[np.int8]]:
    """The Dataset with one allele to count a row, and of each row three things.

    The number of its variant before dropping or splitting, that allele, and the largest it may
    have.
    """
    n = ds.sizes[model.VARIANTS]
    numbers, ones = np.arange(n), np.ones(n, np.int8)
    if "plink_bed" in ds[model.CALL_GENOTYPE].attrs:
        # Two alleles are all that the file can hold; looking takes 0.2 s of a million.
        return ds, numbers, ones, ones
    counts = labels.allele_counts(ds)
    if counts is None:
        if policy != "refuse":
            msg = (
                f"multiallelic={policy!r} needs the variable {model.VARIANT_ALLELE!r}, "
                "which the Dataset lacks"
            )
            raise KeyError(msg)
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


def _bed_planes(
    calls: xr.DataArray, layout: Layout, chunk: int | None
) -> dict[str, da.Array] | None:
    """Planes split from the rows of the .bed file that the genotypes are, untouched.

    None for any other.
    """
    from genobit.io.plink import bed_source
    from genobit.lazy.packing import pack_bed, row_chunk

    bed = bed_source(calls)
    if bed is None or layout.kind != "dosage":
        return None
    raw = bed.raw_array(row_chunk(bed.bytes_per_row, chunk))
    return pack_bed(raw, bed.n_samples, layout)


def _call_planes(
    ds: xr.Dataset,
    calls: xr.DataArray,
    layout: Layout,
    along: tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int8]],
    chunk: int | None,
    *,
    refuse_missing: bool,
) -> dict[str, da.Array]:
    from genobit.lazy import packing

    data = calls.chunk().data
    if layout.kind == "haplotype" and model.CALL_GENOTYPE_PHASED in ds and layout.ploidy > 1:
        phased = ds[model.CALL_GENOTYPE_PHASED].transpose(model.VARIANTS, model.SAMPLES)
        data = packing.require_phased(data, phased.chunk().data, along[0])
    return packing.pack_calls(data, layout, *along, chunk=chunk, refuse_missing=refuse_missing)


def _packed_dataset(
    ds: xr.Dataset, calls: xr.DataArray, planes: dict[str, da.Array], layout: Layout
) -> xr.Dataset:
    coords = {
        name: labels.as_objects(variable, str(name))
        for name, variable in model.carried(ds, without=(model.CALL_GENOTYPE,)).items()
    }
    variables = {PREFIX + name: plane(words, layout) for name, words in planes.items()}
    attributes = {**ds.attrs, **layout.to_attributes()}
    attributes[model.COUNTED_ALLELE] = calls.attrs.get(
        model.COUNTED_ALLELE, "allele 1 (variant_allele[:, 1])"
    )
    return model.mark_bits(xr.Dataset(variables, coords, attributes), layout)


def plane(words: da.Array, layout: Layout) -> xr.Variable:
    """Return a plane of a Dataset; in a Zarr store, chunks that were never written can be told."""
    encoding = {"fill_value": UNWRITTEN}
    return xr.Variable((layout.rows, model.WORDS), words, encoding=encoding)
