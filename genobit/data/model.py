"""Names of dimensions and variables, and checks of a Dataset's structure.

The names are those of sgkit and VCF Zarr.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Mapping, Sequence

    from numpy.typing import NDArray

VARIANTS, SAMPLES, PLOIDY, WORDS = "variants", "samples", "ploidy", "words"
CONTIGS = "contigs"
POPULATIONS = "populations"
RULES = "rules"
CALL_GENOTYPE = "call_genotype"
CALL_GENOTYPE_PHASED = "call_genotype_phased"
VARIANT_ALLELE = "variant_allele"
VARIANT_CONTIG = "variant_contig"
VARIANT_POSITION = "variant_position"
VARIANT_GENETIC_POSITION = "variant_genetic_position"
VARIANT_ID = "variant_id"
SAMPLE_ID = "sample_id"
CONTIG_ID = "contig_id"
COUNTED_ALLELE = "counted_allele"
VARIANTS_COMPARED = "variants_compared"
"""Coordinate of a matrix of samples: number of variants compared for each pair."""
BIT = {SAMPLES: "sample_bit", VARIANTS: "variant_bit"}
"""Coordinate along the packed axis: first bit of each sample or variant."""
WORD = "word"
"""Coordinate along the words: their numbers."""

NOT_CONSOLIDATED = (
    "On a server that lists no folders, a store is read by its consolidated metadata: run "
    "zarr.consolidate_metadata(PATH) where the store is. genobit.to_zarr writes them"
)
"""Reason why a Dataset opened from a Zarr store may have no variables."""

MOST_ALLELES = 2**26
"""Most alleles per variant (samples x ploidy). Covariances stay exact: n times a sum of n
products is at most 2**52, which float64 holds."""

_GENOTYPE_DIMS = (VARIANTS, SAMPLES, PLOIDY)
_DIM_OF_LABEL = {
    CONTIG_ID: CONTIGS,
    VARIANT_ID: VARIANTS,
    VARIANT_CONTIG: VARIANTS,
    VARIANT_POSITION: VARIANTS,
    VARIANT_GENETIC_POSITION: VARIANTS,
    SAMPLE_ID: SAMPLES,
    "sample_family_id": SAMPLES,
    "sample_sex": SAMPLES,
}


def require_label_dims(ds: xr.Dataset) -> None:
    """Raise ValueError for a label along other dimensions than its own, as xr.concat makes them.

    Labels of results, such as (rank, order), are accepted.
    """
    for name, dim in _DIM_OF_LABEL.items():
        dims = ds.variables[name].dims if name in ds.variables else (dim,)
        strange = [str(other) for other in dims if other != dim]
        if dims == (dim,) or (name != CONTIG_ID and not {VARIANTS, SAMPLES, CONTIGS} & {*dims}):
            continue
        remedy = f"assign one value for each of the {dim}, or drop it, ds.drop_vars({name!r})"
        if len(dims) == 1 and dim not in ds.sizes and strange[0] not in _GENOTYPE_DIMS:
            remedy = f"name the dimension, ds.rename({strange[0]}={dim!r})"
        if dim in dims:
            remedy = (
                f"xr.concat repeats labels along {strange[0]!r}; "
                f"genobit.concat(datasets, {strange[0]!r}) joins Datasets by their labels"
            )
        raise ValueError(f"{name} has dimensions {dims}, expected ({dim!r},): {remedy}")


_NO_TEXT = (
    "text has to become indices of alleles, 0 for the reference: write it as a .vcf, .ped or .tped "
    "file and open that with genobit.open_vcf or genobit.open_plink"
)


def require_genotypes(ds: xr.Dataset) -> xr.DataArray:
    """Return ``call_genotype``, integers with dimensions (variants, samples, ploidy).

    Raises KeyError without ``call_genotype`` and TypeError for a dtype that is not an integer.
    Raises ValueError for other dimensions, for an empty one or one of unknown size, and for too
    many samples.
    """
    if CALL_GENOTYPE not in ds:
        found = ", ".join(map(str, ds.data_vars)) or "none"
        raise KeyError(
            f"the Dataset has no variable {CALL_GENOTYPE!r} (variables: {found}): open it with "
            "genobit.open_plink, open_pgen, open_bgen, open_vcf, open_vcf_zarr or open_tskit, or "
            "rename your genotypes" + _other_than_calls(ds)
        )
    calls = ds[CALL_GENOTYPE]
    if set(calls.dims) != set(_GENOTYPE_DIMS):
        msg = f"{CALL_GENOTYPE} has dimensions {calls.dims}, expected {_GENOTYPE_DIMS}: "
        raise ValueError(msg + _remedy_for_dims(calls))
    calls = calls.transpose(*_GENOTYPE_DIMS)
    if calls.dtype.kind not in "iu":
        remedy = "fill NaN with -1 and convert it with .astype('int8')"
        if calls.dtype.kind in "OSUT":
            remedy = _NO_TEXT
        raise TypeError(
            f"{CALL_GENOTYPE} has dtype {calls.dtype}, expected int8 with -1 for missing: {remedy}"
        )
    for dim in _GENOTYPE_DIMS:
        if np.isnan(calls.sizes[dim]):
            raise ValueError(
                f"{CALL_GENOTYPE} is of unknown size along {dim!r}: call compute_chunk_sizes() on "
                "its dask array first"
            )
        if calls.sizes[dim] == 0:
            msg = f"{CALL_GENOTYPE} is empty along {dim!r}: a selection or filter kept none of them"
            raise ValueError(msg)
    _, samples, ploidy = calls.shape
    check_alleles(CALL_GENOTYPE, samples, ploidy)
    return calls


def _remedy_for_dims(calls: xr.DataArray) -> str:
    """Return what to do with calls of other dimensions."""
    lacking = [dim for dim in (VARIANTS, SAMPLES) if dim not in calls.dims]
    if lacking and {*calls.dims} < {*_GENOTYPE_DIMS}:
        return f"keep {lacking[0]!r} by a list, such as ds.isel({lacking[0]}=[0])"
    if calls.dims != (VARIANTS, SAMPLES):
        return "rename them"
    if calls.dtype.kind in "OSUT":
        return _NO_TEXT
    return (
        "make two alleles of dosages 0, 1 and 2 with d = ds.call_genotype; "
        "ds.assign(call_genotype=xr.concat([d > 1, d > 0], 'ploidy').where(d >= 0, -1)"
        ".astype('int8')), or, for haploid calls, ds.assign(call_genotype=d.expand_dims("
        "'ploidy', -1))"
    )


def phase_of(ds: xr.Dataset) -> xr.DataArray | None:
    """Return which calls are phased (variants, samples); None says that none is.

    Raises TypeError if the phase is not boolean: NaN and the text "False" would be true.
    """
    if CALL_GENOTYPE_PHASED not in ds:
        return None
    if ds[CALL_GENOTYPE_PHASED].dtype == bool:
        return ds[CALL_GENOTYPE_PHASED].transpose(VARIANTS, SAMPLES)
    name, found = CALL_GENOTYPE_PHASED, ds[CALL_GENOTYPE_PHASED].dtype
    remedy = f"ds.assign({name}=ds.{name} == 1)"
    if found.kind not in "iuf":
        remedy = f"true where the phase is known, such as ds.assign({name}=ds.{name} == 'True')"
    raise TypeError(f"{name} is {found}, expected booleans: {remedy}")


def require_diploid(name: str, ploidy: int) -> None:
    """Raise ValueError for calls that have no dosage, because their ploidy is not 2."""
    if ploidy == 2:
        return
    remedy = "analyse haplotypes, which linkage takes with phased=True"
    if ploidy == 1:
        remedy = f"count each allele twice, ds.isel(ploidy=[0, 0]) of the genotypes, or {remedy}"
    raise ValueError(f"{name} has ploidy {ploidy}, a dosage needs 2: {remedy}")


def _other_than_calls(ds: xr.Dataset) -> str:
    """Return advice for a Dataset that has something else than genotypes, or ""."""
    for soft in ("call_dosage", "call_genotype_probability"):
        if soft in ds.variables:
            return f". {soft} is not used: give the most likely genotypes as {CALL_GENOTYPE}"
    for name, variable in ds.data_vars.items():
        if variable.ndim == 2 and variable.dtype.kind in "biuf":
            dims = " or ".join(repr(str(dim)) for dim in variable.dims)
            return (
                f". For rank correlation of measurements call ds[{name!r}].genobit.kendall(dim=...)"
                f", where dim is that of the observations, {dims}"
            )
    return ""


def check_alleles(name: str, samples: int, ploidy: int) -> None:
    """Raise ValueError for more alleles per variant than sums are exact for."""
    if samples * ploidy > MOST_ALLELES:
        raise ValueError(
            f"{name} has {samples:,} samples of ploidy {ploidy}, more alleles per variant than "
            f"the {MOST_ALLELES:,} for which sums are exact: select samples"
        )


def labelled(
    data: Any,
    coords: Mapping[Any, Any],
    dims: Sequence[str],
    name: str,
    attrs: Mapping[str, Any],
) -> xr.DataArray:
    """Return a DataArray with its labels, assigned afterwards: the constructor would copy each."""
    return xr.DataArray(data, dims=dims, name=name, attrs=dict(attrs)).assign_coords(coords)


def counted_allele(ds: xr.Dataset) -> str:
    """Return the name of the allele that dosages and frequencies count."""
    return str(ds.attrs.get(COUNTED_ALLELE, "allele 1"))


def carried(ds: xr.Dataset, *, without: tuple[Hashable, ...]) -> dict[Hashable, xr.Variable]:
    """Return the variables that describe variants, samples, alleles and contigs.

    Variables along both variants and samples (single calls) and those in ``without`` are left out.
    """
    return {
        name: variable
        for name, variable in ds.variables.items()
        if name not in without and not {VARIANTS, SAMPLES} <= set(variable.dims)
    }


def values(ds: xr.Dataset, name: str, *, needed_for: str) -> NDArray[Any]:
    """Return a small per-variant variable as numpy; raise KeyError if the Dataset lacks it."""
    if name not in ds:
        msg = f"{needed_for} needs the variable {name!r} ({VARIANTS}), which the Dataset lacks"
        if name == VARIANT_POSITION:
            msg += f": assign the base pairs, ds.assign({name}=({VARIANTS!r}, positions))"
        if name == VARIANT_GENETIC_POSITION:
            msg += (
                ": take it from a genetic map, ds.genobit.genetic_map('map.txt'), or give a "
                "distance in base pairs, such as '1Mb'"
            )
        raise KeyError(msg)
    return np.asarray(ds[name].values)


def with_prefix(name: str, dim: str, known: Container[Hashable]) -> str | None:
    """Return the known name that a user gave, with or without the prefix of its dimension.

    >>> with_prefix("case", "samples", ["sample_id", "sample_case"])
    'sample_case'
    """
    names = (name, f"{dim.removesuffix('s')}_{name}")
    return next((each for each in names if each in known), None)


def named(ds: xr.Dataset, name: str, dim: str) -> xr.DataArray:
    """Return a variable that a user named, with or without the prefix of its dimension.

    Raises KeyError if the Dataset lacks it; the message lists the variables along ``dim``.
    """
    found = with_prefix(name, dim, ds.variables)
    if found is not None:
        return ds[found]
    along = [str(k) for k, v in ds.variables.items() if v.dims == (dim,)]
    # The positions of bits are not data, so do not list them.
    along = [k for k in along if k not in BIT.values()]
    known = ", ".join(along) or "none"
    raise KeyError(
        f"the Dataset has no variable {name!r} along {dim!r} only; such variables: {known}"
        f"{did_you_mean(name, along)} Join a table with ds.genobit.join(table), or give an array"
    )


def require_biallelic(counts: NDArray[np.int64]) -> None:
    """Raise ValueError for variants with more than two alleles; it names the first."""
    wrong = np.flatnonzero(counts > 2)
    if wrong.size:
        first = int(wrong[0])
        raise ValueError(
            f"{wrong.size} of {counts.size} variants have more than two alleles, first at "
            f"variants={first} ({counts[first]} alleles): pack with multiallelic='drop' to leave "
            "them out, or multiallelic='split' for one row an alternative allele"
        )
