"""Packed Datasets: made from genotypes, selected by samples, taken apart into planes.

May import: io, analyses, and what is below. Labels and layout only; the bits move in `lazy` and
`kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from genobit import labels, model
from genobit.options import get_options
from genobit.packing import CALLED, PREFIX, UNWRITTEN, Layout, require_sound

if TYPE_CHECKING:
    import dask.array as da

    from genobit.lazy.pair_sums import SampleChunks

Selection = slice | Sequence[int] | Sequence[bool] | NDArray[Any] | xr.DataArray


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


def isel(ds: xr.Dataset, variants: Selection | None, samples: Selection | None) -> xr.Dataset:
    """Select by position, inside the planes of a packed Dataset; see ``ds.genobit.isel``."""
    layout = model.layout_of(ds)
    for dim, selection in ((model.VARIANTS, variants), (model.SAMPLES, samples)):
        if selection is None:
            continue
        positions = _positions(ds, selection, dim)
        if layout is not None and dim == layout.along:
            ds, layout = _isel_bits(ds, layout, positions)
        else:
            ds = ds.isel({dim: _as_slice(positions)})
    return ds


def by_variants(
    ds: xr.Dataset,
    *,
    phased: bool | None,
    rows_of: Callable[[xr.Dataset, Layout], int] | None = None,
) -> tuple[xr.Dataset, Layout, dict[str, da.Array]]:
    """Take a Dataset apart for an analysis of variants, packing it first where it is not.

    Parameters
    ----------
    ds
        Genotypes or planes.
    phased
        Haplotypes (True), dosages (False), or what the planes hold.
    rows_of
        Rows of a chunk of planes in memory, of the packed Dataset; by default ``chunk_rows``.

    Returns
    -------
        The packed Dataset, its layout, and its planes by name with rows along variants.

    Raises
    ------
    ValueError
        If the planes run the other way, or hold dosages where haplotypes are asked for.
    """
    layout = model.layout_of(ds)
    if layout is None:
        ds = pack(ds, rows="variants", phased=bool(phased), multiallelic="refuse", missing="keep")
        return by_variants(ds, phased=phased, rows_of=rows_of)
    if layout.rows != "variants":
        msg = (
            f"the planes have rows={layout.rows!r}, this analysis needs rows='variants': pack the "
            "genotypes with ds.genobit.pack(rows='variants')"
        )
        raise ValueError(msg)
    if phased and layout.kind == "dosage":
        msg = (
            "phased=True needs haplotypes and the planes hold dosages: pack the genotypes with "
            "ds.genobit.pack(phased=True)"
        )
        raise ValueError(msg)
    rows = None if rows_of is None else rows_of(ds, layout)
    planes = _planes(ds, layout, rows)
    if phased is False and layout.kind == "haplotype":
        return ds, *_dosages(planes, layout)
    return ds, layout, planes


def by_samples(
    ds: xr.Dataset,
    *,
    variants: NDArray[np.bool_] | None = None,
    contigs: bool = False,
    tiled: bool = True,
) -> tuple[xr.Dataset, Layout, SampleChunks]:
    """Take a Dataset apart for an analysis of samples, packing or turning it where it must be.

    Parameters
    ----------
    ds
        Genotypes, or planes in either orientation; haplotypes are added up to dosages.
    variants
        Which variants to use (variants,); None for all.
    contigs
        Cut chunks at the contigs' ends.
    tiled
        Cut samples into tiles, for sums over pairs of samples.

    Returns
    -------
        The packed Dataset of these variants, its layout, and its planes by samples.
    """
    from genobit.lazy import by_samples as turn

    layout = model.layout_of(ds)
    if layout is None:
        # Packed whole, then selected: a .bed that was selected from is not split as it is.
        ds = in_chunks_of_samples(ds)
        return by_samples(ds, variants=variants, contigs=contigs, tiled=tiled)
    if variants is not None:
        ds = isel(ds, variants, None)
        return by_samples(ds, contigs=contigs, tiled=tiled)
    cuts = labels.contig_starts(ds) if contigs else None
    if layout.rows == "samples":
        named = _planes(ds, layout)
        if cuts is None:
            return ds, layout, turn.from_samples(list(named.values()), layout.bits, tiled=tiled)
        samples = ds.sizes[model.SAMPLES]
        planes = [turn.to_variants(plane, layout.bits) for plane in named.values()]
    else:
        ds, dosages, named = by_variants(ds, phased=False)
        samples, planes = dosages.bits, list(named.values())
    return ds, layout, turn.from_variants(planes, samples, cuts, tiled=tiled)


def in_chunks_of_samples(ds: xr.Dataset) -> xr.Dataset:
    """Pack genotypes in the chunks that sums over variants take; a packed Dataset as it is."""
    from genobit.lazy.by_samples import variant_chunk

    if model.layout_of(ds) is not None:
        return ds
    return pack(
        ds,
        rows="variants",
        phased=False,
        multiallelic="refuse",
        missing="keep",
        chunk=variant_chunk(model.require_genotypes(ds).sizes[model.SAMPLES]),
    )


def require_dataset(other: object) -> None:
    """Refuse what is no Dataset.

    Raises
    ------
    TypeError
        For it.
    """
    if not isinstance(other, xr.Dataset):
        msg = f"other= takes a Dataset of genotypes or planes, not {type(other).__name__}"
        raise TypeError(msg)


def check_same_samples(
    left: xr.Dataset, left_layout: Layout, right: xr.Dataset, right_layout: Layout
) -> None:
    """Refuse two packed Datasets that are not of the same samples.

    Raises
    ------
    ValueError
        For other numbers of bits, or other names.
    """
    remedy = "select the same samples in both with .genobit.isel(samples=...)"
    if left_layout != right_layout:
        msg = (
            f"other= is packed as {right_layout.kind}s with {right_layout.bits} bits a row, this "
            f"Dataset as {left_layout.kind}s with {left_layout.bits}; {remedy}"
        )
        raise ValueError(msg)
    ours, theirs = (labels.ids(ds, model.SAMPLES) for ds in (left, right))
    if ours is not None and theirs is not None:
        k = labels.first_difference(ours, theirs)
        if k is not None:
            msg = f"sample_id[{k}] is {ours[k]!r} here and {theirs[k]!r} in other=; {remedy}"
            raise ValueError(msg)


def _names(ds: xr.Dataset, layout: Layout) -> list[str]:
    return [*layout.planes, *([CALLED] if PREFIX + CALLED in ds else [])]


def _dosages(planes: dict[str, da.Array], layout: Layout) -> tuple[Layout, dict[str, da.Array]]:
    from genobit.lazy.packing import as_dosages

    if layout.ploidy != 2:
        msg = f"dosages need ploidy 2, the haplotypes are of ploidy {layout.ploidy}"
        raise ValueError(msg)
    samples = layout.bits // 2
    return Layout("dosage", layout.rows, samples, 1), as_dosages(planes, samples)


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        msg = f"{name}={value!r} is not one of {', '.join(map(repr, choices))}"
        raise ValueError(msg)


def _planes(ds: xr.Dataset, layout: Layout, rows: int | None = None) -> dict[str, da.Array]:
    """The planes by name, checked: those in memory at once, others when they are computed.

    Planes in memory come in chunks of ``rows`` rows, by default of `chunk_rows`.
    """
    import dask.array as da

    from genobit.io._planes import guarded_plane
    from genobit.lazy.blocks import in_chunks
    from genobit.lazy.packing import sound

    planes = {}
    for name in _names(ds, layout):
        data = ds[PREFIX + name].data
        if isinstance(data, da.Array):
            planes[name] = sound(guarded_plane(data), layout, name)
        else:
            words = np.asarray(data)
            require_sound(words, layout, PREFIX + name)
            planes[name] = in_chunks(words, rows or get_options().edge)
    return planes


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
    variables = {PREFIX + name: _plane(plane, layout) for name, plane in planes.items()}
    attributes = {**ds.attrs, **layout.to_attributes()}
    attributes[model.COUNTED_ALLELE] = calls.attrs.get(
        model.COUNTED_ALLELE, "allele 1 (variant_allele[:, 1])"
    )
    return model.mark_bits(xr.Dataset(variables, coords, attributes), layout)


def _plane(words: da.Array, layout: Layout) -> xr.Variable:
    """A plane of a Dataset; in a Zarr store, chunks that were never written can be told."""
    encoding = {"fill_value": UNWRITTEN}
    return xr.Variable((layout.rows, model.WORDS), words, encoding=encoding)


def _positions(ds: xr.Dataset, selection: Selection, dim: str) -> NDArray[np.int64]:
    """Positions along a dimension, ascending where a mask is given."""
    size = ds.sizes[dim]
    if isinstance(selection, slice):
        return np.arange(size)[selection]
    given = labels.selected(ds, selection, dim, f"the mask or selection {dim}=")
    chosen = np.atleast_1d(np.asarray(given))
    if chosen.dtype == bool:
        if chosen.shape != (size,):
            msg = f"the mask for {dim!r} has shape {chosen.shape}, expected ({size},)"
            raise IndexError(msg)
        return np.flatnonzero(chosen)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        msg = f"{dim}= takes a slice, whole numbers or a boolean mask, not {selection!r}"
        raise IndexError(msg)
    positions = chosen.astype(np.int64)
    wrong = np.flatnonzero((positions < -size) | (positions >= size))
    if wrong.size:
        k = int(wrong[0])
        msg = f"{dim}[{k}] = {positions[k]} is outside the {size} {dim}"
        raise IndexError(msg)
    return np.where(positions < 0, positions + size, positions)


def _as_slice(positions: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """A slice where positions follow each other: a view, and no list of positions in tasks."""
    if positions.size and (np.diff(positions) == 1).all():
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


def _isel_bits(
    ds: xr.Dataset, layout: Layout, positions: NDArray[np.int64]
) -> tuple[xr.Dataset, Layout]:
    from genobit.lazy.packing import select_bits

    if not positions.size:
        msg = f"{layout.along}= selects none of the {ds.sizes[layout.along]} {layout.along}"
        raise IndexError(msg)
    bits = (layout.ploidy * positions[:, None] + np.arange(layout.ploidy)).reshape(-1)
    planes = _planes(ds, layout)
    chosen = Layout(layout.kind, layout.rows, bits.size, layout.ploidy)
    rest = ds.drop_vars([*(PREFIX + name for name in planes), model.BIT[layout.along], model.WORD])
    # Without sample_id and the like, nothing but the planes has that dimension.
    rest = rest.isel({layout.along: positions}, missing_dims="ignore")
    selected = {
        PREFIX + name: _plane(select_bits(plane, bits), layout) for name, plane in planes.items()
    }
    out = rest.assign(selected).assign_attrs(chosen.to_attributes())
    return model.mark_bits(out, chosen), chosen
