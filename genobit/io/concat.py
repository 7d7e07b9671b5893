"""Join Datasets of genotypes along samples or variants: `genobit.concat`."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import dask.array as da
import numpy as np
import xarray as xr

from genobit.data import labels, model, packer
from genobit.data.checks import check_one_of
from genobit.data.matching import (
    match_samples,
    match_variants,
    require_distinct,
    united_contigs,
)
from genobit.data.merging import MISSING, Merged
from genobit.engine.bits.layout import Layout
from genobit.engine.own_words import own_words
from genobit.engine.schedule import planes as lazy
from genobit.engine.schedule.packing import joined_planes
from genobit.io._chunks import variant_chunks
from genobit.io._filters import with_same_filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genobit.engine.schedule.packing import DaskPlanes

_ALLELE_1 = "allele 1 (variant_allele[:, 1])"
_COUNTED = tuple(f"variants_{x}" for x in ("exchanged", "flipped", "ambiguous", "dropped"))
_LISTED = 4
"""Most Datasets whose sizes a report lists."""


@own_words
def concat(
    datasets: Sequence[xr.Dataset],
    dim: Literal["samples", "variants"] = "samples",
    *,
    join: Literal["exact", "inner", "outer"] = "exact",
    on: Literal["id", "position"] | None = None,
    conflicts: Literal["refuse", "drop"] = "refuse",
    ambiguous: Literal["keep", "drop"] = "keep",
) -> xr.Dataset:
    """Join Datasets of genotypes along samples (cohorts) or variants (chromosomes).

    Variants and samples are matched by their labels. Alleles of a cohort are brought to the order
    and the strand of the first Dataset that has the variant. Calls stay lazy.

    Parameters
    ----------
    datasets
        Datasets of genotypes, such as those of `open_plink` and `open_vcf`.
    dim
        "samples" joins cohorts: their variants are matched. "variants" joins chromosomes, in the
        order of the Datasets: their samples are matched by `sample_id`.
    join
        How to treat variants (or samples) that are not in every Dataset. "exact" raises an error.
        "inner" keeps the members that all Datasets have. "outer" keeps all of them, and makes
        missing calls. The order is that of the first Dataset; variants of "outer" are sorted by
        contig, in order of appearance, and by position.
    on
        How variants are matched: by "id", or by "position" and contig. At a position with several
        variants, alleles are matched too. The default is "id" if each variant has an id of its own.
    conflicts
        Rule for variants whose alleles fit on no strand, such as G/A and G/T: raise an error, or
        "drop" them.
    ambiguous
        Rule for variants whose alleles fit on both strands: A/T and C/G. "keep" takes them to be on
        the same strand, as PLINK does.

    Returns
    -------
        Dataset with lazy `call_genotype` (variants, samples, ploidy), and with labels.

        ``attrs["concat"]`` has a line that counts members and changed alleles, and names variables
        that were left out. The logger "genobit" logs it: as a warning if variants are ambiguous or
        variables are left out. ``attrs`` has the counts as `variants_exchanged`,
        `variants_flipped`, `variants_ambiguous` and `variants_dropped`, summed over the Datasets.

        Contigs get common names: "chr1" and "1" are one contig. If individual ids repeat and
        families tell them apart, `sample_id` is FAMILY_INDIVIDUAL, as in `open_plink`. Labels of
        the joined dimension that a Dataset lacks are missing. Other variables are kept if they are
        equal in all Datasets that have them. Fields of calls such as `call_DP` are kept if all
        Datasets have them.

    Raises
    ------
    KeyError
        If a Dataset lacks calls or the labels that match the Datasets.
    ValueError
        If a Dataset is packed. If an id repeats, or has two positions. With join="exact", if a
        variant or sample is not in all Datasets. If a sample is in two Datasets, or a variant along
        "variants". If alleles conflict.
    TypeError
        If ``datasets`` is not a list of Datasets.

    Notes
    -----
    Single bases that do not fit are compared as complements: A and T, C and G. The alleles of two
    cohorts fit if those of one contain all of the other's, or if both together have two. This is
    the rule of plink 1.9 ``--bmerge`` with ``--flip`` for the variants that it refuses. Neither a
    strand nor a build is guessed from frequencies. Upper and lower case differ. With cohorts of one
    allele, the order of the Datasets may decide whether three fit.

    A variant without a known place (chromosome 0, position 0) matches by id only.

    Examples
    --------
    >>> import genobit as gb, numpy as np, xarray as xr
    >>> def cohort(calls, alleles, names):
    ...     return xr.Dataset(
    ...         {
    ...             "call_genotype": (("variants", "samples", "ploidy"), np.array(calls, "int8")),
    ...             "variant_id": ("variants", ["rs1", "rs2"]),
    ...             "variant_allele": (("variants", "alleles"), alleles),
    ...             "sample_id": ("samples", names),
    ...         }
    ...     )
    >>> a = cohort([[[0, 1]], [[0, 0]]], [["G", "A"], ["C", "A"]], ["a"])
    >>> b = cohort([[[1, 1]], [[0, 1]]], [["A", "G"], ["G", "T"]], ["b"])
    >>> both = gb.concat([a, b])
    >>> both.call_genotype.values.tolist()
    [[[0, 1], [0, 0]], [[0, 0], [0, 1]]]
    >>> both.attrs["variants_exchanged"], both.attrs["variants_flipped"]
    (1, 1)
    """
    check_one_of("dim", dim, (model.SAMPLES, model.VARIANTS))
    check_one_of("join", join, ("exact", "inner", "outer"))
    check_one_of("conflicts", conflicts, ("refuse", "drop"))
    check_one_of("ambiguous", ambiguous, ("keep", "drop"))
    if on is not None:
        check_one_of("on", on, ("id", "position"))
    given = list(_checked(datasets))
    parts = with_same_filters([labels.plain(part) for part in given])
    contigs = united_contigs(parts)
    if dim == model.VARIANTS:
        matched = match_samples(parts, join)
        require_distinct(parts, contigs)
    else:
        matched = match_variants(parts, contigs, join, on)
    merged = Merged(parts, dim, matched, contigs)
    if dim == model.SAMPLES:
        merged.align(conflicts, ambiguous)
    merged.add_labels()
    _add_calls(merged, given)
    return _dataset(merged, given)


def _checked(datasets: Any) -> list[xr.Dataset]:
    """Return a list of Datasets of genotypes; an error names the wrong one."""
    whole = isinstance(datasets, Mapping | xr.DataArray | str)
    if whole or not isinstance(datasets, Iterable):
        raise TypeError("concat takes a list of Datasets, such as concat([a, b])")
    given = list(datasets)
    if not given:
        raise ValueError("concat takes a list of Datasets, and it is empty")
    for k, ds in enumerate(given):
        if not isinstance(ds, xr.Dataset):
            raise TypeError(
                f"datasets[{k}] is of type {type(ds).__name__}, expected a Dataset of genotypes: "
                "open a file with genobit.open_plink or another reader"
            )
        if Layout.from_attributes(ds.attrs) is not None:
            raise ValueError(f"datasets[{k}] is packed: join the genotypes, then pack the result")
        try:
            model.require_label_dims(ds)
            model.require_genotypes(ds)
        except (KeyError, TypeError, ValueError) as error:
            raise type(error)(f"datasets[{k}]: {error.args[0]}") from error
    return given


def _add_calls(merged: Merged, given: list[xr.Dataset]) -> None:
    """Join the variables along variants and samples."""
    calls = [model.require_genotypes(ds) for ds in given]
    ploidy = max(each.sizes[model.PLOIDY] for each in calls)
    arrays = []
    for k, each in enumerate(calls):
        data = _taken(merged, each, k, -1)
        if merged.cohorts is not None:
            data = lazy.recoded(data, merged.cohorts.codes[k])
        lacking = ploidy - data.shape[2]
        if lacking:
            data = da.pad(data, ((0, 0), (0, 0), (0, lacking)), constant_values=-2)
        arrays.append(data)
    dtype = np.result_type(*arrays)
    counted = {each.attrs.get(model.COUNTED_ALLELE, _ALLELE_1) for each in calls}
    attrs = {model.COUNTED_ALLELE: counted.pop() if len(counted) == 1 else _ALLELE_1}
    # A file that no label has changed is packed without its calls.
    whole = all(a is each.data for a, each in zip(arrays, calls, strict=True))
    dims = (model.VARIANTS, model.SAMPLES, model.PLOIDY)
    data = _side_by_side(merged, [x.astype(dtype) for x in arrays], calls if whole else None)
    merged.variables[model.CALL_GENOTYPE] = xr.Variable(dims, data, attrs)
    for name in dict.fromkeys(str(name) for ds in given for name in ds.variables):
        if name not in merged.left_out:
            _add_field(merged, name, [ds.get(name) for ds in given])


def _add_field(merged: Merged, name: str, given: list[xr.DataArray | None]) -> None:
    """Join a field of calls that all Datasets have, such as `call_DP`."""
    both = {model.VARIANTS, model.SAMPLES}
    known = [each for each in given if each is not None]
    if name == model.CALL_GENOTYPE or not both <= {*known[0].dims}:
        return
    if name == model.CALL_GENOTYPE_PHASED and len(known) < len(given):
        known = [
            xr.zeros_like(ds[model.CALL_GENOTYPE].isel(ploidy=0, drop=True), bool)
            if each is None
            else each
            for ds, each in zip(merged.parts, given, strict=True)
        ]
    known = [each.astype(object) if each.dtype.kind in "UT" else each for each in known]
    if len(known) < len(given):
        merged.left_out[name] = "some Datasets lack it"
    elif any({*each.dims} != both for each in known):
        merged.left_out[name] = "it has more dimensions"
    elif len({each.dtype for each in known}) > 1:
        merged.left_out[name] = "types differ"
    elif known[0].dtype.kind not in MISSING:
        merged.left_out[name] = "its type has no missing value"
    else:
        missing = MISSING[known[0].dtype.kind]
        arrays = [
            _taken(merged, each.transpose(model.VARIANTS, model.SAMPLES), k, missing)
            for k, each in enumerate(known)
        ]
        data = _side_by_side(merged, arrays, None)
        dims = (model.VARIANTS, model.SAMPLES)
        merged.variables[name] = xr.Variable(dims, data, known[0].attrs)


def _taken(merged: Merged, values: xr.DataArray, k: int, missing: Any) -> da.Array:
    """Return the values of Dataset k for the matched members, in chunks of all samples."""
    axis = values.get_axis_num(merged.across)
    return lazy.taken(values.chunk().data, merged.places[k], axis, missing)


def _side_by_side(
    merged: Merged, arrays: list[da.Array], parts: list[xr.DataArray] | None
) -> da.Array:
    """Return arrays joined along the dimension; cohorts get the same chunks of variants."""
    if merged.dim == model.VARIANTS:
        return lazy.joined_rows(arrays, parts)
    row = sum(int(np.prod(array.shape[1:])) * array.dtype.itemsize for array in arrays)
    chunks = variant_chunks("auto", arrays[0].shape[0], row)
    return da.concatenate([array.rechunk({0: chunks}) for array in arrays], axis=1)


def _dataset(merged: Merged, given: list[xr.Dataset]) -> xr.Dataset:
    """Return the joined Dataset; its report is logged."""
    line = _report(merged)
    doubtful = merged.counts.get("variants_ambiguous", 0) or merged.left_out or merged.matched.note
    logging.getLogger("genobit").log(logging.WARNING if doubtful else logging.INFO, line)
    coords = [name for name in merged.variables if any(name in ds.coords for ds in given)]
    kept = xr.merge(
        [xr.Dataset(attrs=part.attrs) for part in merged.parts], combine_attrs="drop_conflicts"
    )
    # Chromosomes of cohorts that were joined before.
    counts = {
        name: sum(int(part.attrs.get(name, 0)) for part in merged.parts)
        for name in _COUNTED
        if any(name in part.attrs for part in merged.parts)
    }
    attrs = {**kept.attrs, **counts, "concat": line, **merged.counts}
    calls = merged.variables.pop(model.CALL_GENOTYPE)
    variables = {model.CALL_GENOTYPE: calls, **merged.variables}
    joined = xr.Dataset(variables, attrs=attrs).set_coords(coords)
    # Ids that were an index are one again.
    indexed = {
        dim: joined[name].variable
        for dim, name in ((model.VARIANTS, model.VARIANT_ID), (model.SAMPLES, model.SAMPLE_ID))
        if name in joined and all(dim in ds.indexes for ds in given)
    }
    return joined.assign_coords(indexed)


def _report(merged: Merged) -> str:
    """Return a line that counts members and changed alleles, and names what is left out."""
    each = [part.sizes[merged.dim] for part in merged.parts]
    sizes = " + ".join(f"{size:,}" for size in each)
    if len(each) > _LISTED:
        sizes = f"{sum(each):,}, from {len(each)} Datasets,"
    shared = merged.places[0].size
    line = f"{sizes} {merged.dim}; {shared:,} {merged.across} by {merged.matched.by}"
    if merged.matched.note:
        line += f", {merged.matched.note}"
    if merged.cohorts is not None:
        counts = merged.counts
        line += (
            f"; alleles exchanged in {counts['variants_exchanged']:,}, strand flipped in "
            f"{counts['variants_flipped']:,}, ambiguous in {counts['variants_ambiguous']:,} (both "
            f"strands fit, such as A/T; taken as they are), {counts['variants_dropped']:,} dropped"
        )
    elif merged.dim == model.SAMPLES:
        line += "; alleles are not compared, because no Dataset has variant_allele"
    if merged.left_out:
        names = ", ".join(f"{name} ({why})" for name, why in merged.left_out.items())
        line += f"; left out: {names}"
    return line


def _planes(calls: xr.DataArray, layout: Layout, chunk: int | None) -> DaskPlanes | None:
    """Return the planes of the files that are joined along variants; see `packer.FILE_PLANES`."""
    parts = lazy.parts_of(calls.data) if isinstance(calls.data, da.Array) else None
    if parts is None or layout.rows != model.VARIANTS:
        return None
    planes = [packer.file_planes(part, layout, chunk) for part in parts]
    return None if None in planes else joined_planes([x for x in planes if x is not None])


packer.FILE_PLANES.append(_planes)
