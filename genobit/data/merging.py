"""Labels of Datasets that are joined along one dimension and matched along the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import columns, labels, model
from genobit.data.matching import (
    NO_ID,
    Matched,
    first_known,
    is_placed,
    on_both_strands,
    places_of,
)
from genobit.data.strands import align_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.data.contigs import Contigs
    from genobit.data.strands import Cohorts

_FILTERS, _FILTER_ID, _FILTER_TEXT = "filters", "filter_id", "filter_description"
_OWN = {
    model.CALL_GENOTYPE, model.VARIANT_ID, model.VARIANT_CONTIG, model.CONTIG_ID,
    model.VARIANT_ALLELE, model.SAMPLE_ID, model.VARIANTS, model.SAMPLES,
}  # fmt: skip
"""Variables with a rule of their own."""
_PLACES = (model.VARIANT_POSITION, model.VARIANT_GENETIC_POSITION)
"""Small labels that are computed if they are lazy; a field of a file takes a pass over it."""
_OF_ALLELES = {
    "call_dosage", "call_DS", "call_HDS", "call_genotype_probability", "call_GP", "call_GL",
    "call_PL", "call_AD", "variant_AF", "variant_AC", "variant_MAF", "variant_allele_frequency",
    "variant_allele_count",
}  # fmt: skip
"""Fields of VCF and sgkit whose values depend on the order of the alleles."""
_MISSING = {"b": False, "i": -1, "f": np.nan, "O": "."}
"""Missing values of fields of variants by type, as VCF Zarr has them."""


class Merged:
    """Datasets joined along ``dim``; ``matched`` are the members of the other dimension."""

    def __init__(
        self,
        parts: Sequence[xr.Dataset],
        dim: str,
        matched: Matched,
        contigs: list[Contigs] | None,
    ) -> None:
        self.parts, self.dim = _with_same_filters(parts), dim
        self.matched, self.places = matched, matched.places
        self.across = model.VARIANTS if dim == model.SAMPLES else model.SAMPLES
        self.contigs = contigs
        self.cohorts: Cohorts | None = None
        self.variables: dict[str, xr.Variable] = {}
        self.left_out: dict[str, str] = {}
        """Reason for each variable that is left out."""
        self.counts: dict[str, int] = {}

    def align(self, conflicts: str, ambiguous: str) -> None:
        """Bring the alleles of all cohorts to the order and strand of the first."""
        name = model.VARIANT_ALLELE
        having = [name in part.variables for part in self.parts]
        if not any(having):
            return
        if not all(having):
            msg = f"datasets[{having.index(False)}] has no {name}, others have: assign it"
            raise KeyError(msg)
        names = [labels.allele_names(part) for part in self.parts]
        found = align_all(names, self.places)
        if conflicts == "refuse":
            self._require_fit(found, names)
        drop = found.conflicting > 0
        if ambiguous == "drop":
            drop |= found.ambiguous > 0
        kept = np.flatnonzero(~drop)
        if not kept.size:
            msg = f"the alleles of all {drop.size:,} variants conflict or are ambiguous"
            raise ValueError(msg)
        self.places = [place[kept] for place in self.places]
        self.cohorts = found.isel(kept)
        self.variables[name] = xr.Variable((model.VARIANTS, "alleles"), self.cohorts.alleles)
        self.counts = {
            "variants_exchanged": int(self.cohorts.exchanged.sum()),
            "variants_flipped": int(self.cohorts.flipped.sum()),
            "variants_ambiguous": int(self.cohorts.ambiguous.sum()),
            "variants_dropped": int(drop.sum()),
        }
        for name in {str(name) for part in self.parts for name in part.variables}:
            if self.counts["variants_exchanged"] and self._counts_alleles(name):
                self.left_out[name] = "it counts exchanged alleles"

    def _counts_alleles(self, name: str) -> bool:
        """Return whether values depend on the order of the alleles."""
        if name in _OF_ALLELES:
            return True
        dims = {d for part in self.parts if name in part.variables for d in part[name].dims}
        return "alleles" in dims and name != model.VARIANT_ALLELE

    def _require_fit(self, found: Cohorts, names: list[NDArray[np.object_]]) -> None:
        """Raise ValueError for the first variant whose alleles conflict."""
        wrong = np.flatnonzero(found.conflicting)
        if not wrong.size:
            return
        places = [place[wrong[0]] for place in self.places]
        shown = " and ".join(
            f"{'/'.join(filter(None, names[k][place]))} at variants={place} of datasets[{k}]"
            for k, place in enumerate(places)
            if place >= 0
        )
        msg = (
            f"{model.VARIANT_ALLELE}: the alleles of {wrong.size:,} of {found.conflicting.size:,} "
            f"variants fit on no strand, first {shown}. Leave them out with conflicts='drop'"
        )
        every = [x for k, p in enumerate(places) if p >= 0 for x in names[k][p] if x]
        if len({*map(str.upper, every)}) < len({*every}):
            msg += ", or write all in upper case"
        raise ValueError(msg)

    def add_labels(self) -> None:
        """Join all variables that are not along variants and samples."""
        self._add_samples()
        self._add_variants()
        for name in dict.fromkeys(str(name) for part in self.parts for name in part.variables):
            if name in _OWN or name in self.variables or name in self.left_out:
                continue
            given = [part.variables.get(name) for part in self.parts]
            known = [each for each in given if each is not None]
            if len({each.dims for each in known}) > 1:
                self.left_out[name] = "dimensions differ"
            elif {self.dim, self.across} <= {*known[0].dims}:
                continue
            elif self._fits(name, known):
                rule = self._stack if self.dim in known[0].dims else self._share
                rule(name, given)

    def _fits(self, name: str, known: Sequence[xr.Variable]) -> bool:
        """Return whether other dimensions and types are equal; leave the variable out if not."""
        sizes = {d: n for each in self.variables.values() for d, n in each.sizes.items()}
        widened = self.dim in known[0].dims and known[0].ndim == 2
        for each in known:
            for d, n in each.sizes.items():
                of_others = d not in (self.dim, self.across) and not widened
                if of_others and sizes.setdefault(d, n) != n:
                    self.left_out[name] = f"sizes of {d} differ"
                    return False
        if model.CONTIGS in known[0].dims and self.contigs is not None:
            theirs = [labels.texts_along(x, model.CONTIG_ID, model.CONTIGS) for x in self.parts]
            if any(x is None or x.tolist() != self.contigs[0].names.tolist() for x in theirs):
                self.left_out[name] = "contigs differ"
                return False
        if len({_kind(each, name) for each in known} - {""}) > 1:
            self.left_out[name] = "types differ"
            return False
        return True

    def _stack(self, name: str, given: Sequence[xr.Variable | None]) -> None:
        """Keep a variable along the joined dimension, missing where a Dataset lacks it."""
        known = [each for each in given if each is not None]
        dims, attrs = (self.dim, *(d for d in known[0].dims if d != self.dim)), known[0].attrs
        known = [each.transpose(*dims) for each in known]
        dtype = np.dtype(object) if known[0].dtype.kind in "SUT" else known[0].dtype
        missing = _MISSING.get(dtype.kind) if self.dim == model.VARIANTS else None
        if name == model.VARIANT_POSITION and len(known) < len(given):
            self.left_out[name] = "some Datasets lack it"
            return
        width = max(each.shape[1:] for each in known)
        if missing is not None:
            rows = iter(known)
            arrays = [
                _padded(None if each is None else next(rows), part, width, dtype, missing)
                for each, part in zip(given, self.parts, strict=True)
            ]
            lazy = any(each.chunks is not None for each in known)
            found = (da if lazy else np).concatenate(arrays)
            self.variables[name] = xr.Variable(dims, found, attrs, fastpath=True)
            return
        if len({each.shape[1:] for each in known}) > 1:
            self.left_out[name] = "sizes differ"
            return
        places, start = [], 0
        for part, each in zip(self.parts, given, strict=True):
            size = part.sizes[self.dim]
            places.append(np.full(size, -1) if each is None else np.arange(size) + start)
            start += 0 if each is None else size
        values = [_values(each, name) for each in known]
        found = columns.taken(np.concatenate(values), np.concatenate(places), name)
        # xarray would make NaN of None.
        self.variables[name] = xr.Variable(dims, found, attrs, fastpath=True)

    def _share(self, name: str, given: Sequence[xr.Variable | None]) -> None:
        """Keep a variable that is equal in all Datasets that have it, else leave it out."""
        known = [each for each in given if each is not None]
        first = known[0]
        if self.across not in first.dims:
            if all(first.equals(each) for each in known[1:]):
                self.variables[name] = first
            else:
                self.left_out[name] = "differs"
            return
        if name not in _PLACES and any(each.chunks is not None for each in known):
            self.left_out[name] = "not computed yet"
            return
        axis = first.get_axis_num(self.across)
        values = [np.moveaxis(_values(each, name), axis, 0) for each in known]
        places = [p for p, each in zip(self.places, given, strict=True) if each is not None]
        found = first_known(values, places)
        for each, place in zip(values[1:], places[1:], strict=True):
            if not _same(found[place >= 0], each[place[place >= 0]]):
                self.left_out[name] = "differs"
                return
        rows = np.where(np.max(places, axis=0) < 0, -1, np.arange(len(found)))
        found = np.moveaxis(columns.taken(found, rows, name), 0, axis)
        self.variables[name] = xr.Variable(first.dims, found, first.attrs, fastpath=True)

    def _add_samples(self) -> None:
        """Join the ids of the samples."""
        ids = [labels.ids(part, model.SAMPLES) for part in self.parts]
        if all(each is None for each in ids):
            return
        name = model.SAMPLE_ID
        if self.dim == model.VARIANTS:
            found, attrs = first_known([x for x in ids if x is not None], self.places), {}
            if all(name in x.variables and labels.JOINED.items() <= x[name].attrs.items()
                   for x in self.parts):  # fmt: skip
                attrs = dict(labels.JOINED)
        else:
            found, attrs = _sample_ids(self.parts, ids)
        self.variables[name] = xr.Variable(model.SAMPLES, found, attrs)

    def _add_variants(self) -> None:
        """Join ids, contigs and alleles of the variants."""
        along = self.dim == model.VARIANTS
        ids = [labels.ids(part, model.VARIANTS) for part in self.parts]
        if along and self.contigs is not None:
            _require_no_variant_twice(self.parts, self.contigs)
        if any(each is not None for each in ids):
            known = [
                np.full(part.sizes[model.VARIANTS], ".", object) if each is None else each
                for part, each in zip(self.parts, ids, strict=True)
            ]
            found = np.concatenate(known) if along else _first_named(known, self.places)
            self.variables[model.VARIANT_ID] = xr.Variable(model.VARIANTS, found)
        if self.contigs is not None:
            numbers = [each.numbers for each in self.contigs]
            found = np.concatenate(numbers) if along else first_known(numbers, self.places)
            self.variables[model.VARIANT_CONTIG] = xr.Variable(
                model.VARIANTS, found.astype(np.int32)
            )
            self.variables[model.CONTIG_ID] = xr.Variable(model.CONTIGS, self.contigs[0].names)
        elif any(model.VARIANT_CONTIG in part.variables for part in self.parts):
            self.left_out[model.VARIANT_CONTIG] = "some Datasets lack it"
        if along:
            self._stack_alleles()

    def _stack_alleles(self) -> None:
        name = model.VARIANT_ALLELE
        having = [name in part.variables for part in self.parts]
        if not all(having):
            if any(having):
                self.left_out[name] = "some Datasets lack it"
            return
        names = [labels.allele_names(part) for part in self.parts]
        width = max(each.shape[1] for each in names)
        rows = [
            np.pad(each, ((0, 0), (0, width - each.shape[1])), constant_values="") for each in names
        ]
        self.variables[name] = xr.Variable((model.VARIANTS, "alleles"), np.concatenate(rows))


def _kind(variable: xr.Variable, name: str) -> str:
    """Return the kind of values: "number", "text", "time", or "" if all are missing."""
    kind = variable.dtype.kind
    if kind in "mM":
        return "time"
    if kind not in "OSUT":
        return "number"
    if variable.chunks is not None:
        return "text"
    found = _values(variable, name)
    known = found[~np.asarray(pd.isna(found))]
    return "" if not known.size else "text" if labels.is_text(known) else "other"


def _padded(
    variable: xr.Variable | None,
    part: xr.Dataset,
    width: tuple[int, ...],
    dtype: np.dtype[Any],
    missing: Any,
) -> Any:
    """Return values of variants with as many columns as all files have; missing without any."""
    if variable is None:
        return np.full((part.sizes[model.VARIANTS], *width), missing, dtype)
    values = variable.data if variable.chunks is not None else _values(variable, "")
    lacking = [(0, 0), *((0, w - n) for w, n in zip(width, values.shape[1:], strict=True))]
    if not any(b for _, b in lacking):
        return values
    fill = {"i": -2, "O": ""}.get(dtype.kind, missing)
    pad: Any = da.pad if variable.chunks is not None else np.pad
    return pad(values, lacking, constant_values=fill)


def _values(variable: xr.Variable, name: str) -> NDArray[Any]:
    """Return values; text of any type becomes objects of str."""
    found = labels.decoded(variable.values, name)
    return found.astype(object) if found.dtype.kind in "UT" else found


def _same(ours: NDArray[Any], theirs: NDArray[Any]) -> bool:
    equal = np.asarray(ours == theirs) | (np.asarray(pd.isna(ours)) & np.asarray(pd.isna(theirs)))
    return bool(equal.all())


def _first_named(
    ids: Sequence[NDArray[np.object_]], places: list[NDArray[np.intp]]
) -> NDArray[np.object_]:
    """Return the first id of each variant that is a name."""
    named = [
        np.where((place >= 0) & ~np.isin(each[place], NO_ID), place, -1)
        for each, place in zip(ids, places, strict=True)
    ]
    found = first_known(ids, named)
    found[np.max(named, axis=0) < 0] = "."
    return found


def _sample_ids(
    parts: Sequence[xr.Dataset], ids: Sequence[NDArray[np.object_] | None]
) -> tuple[NDArray[np.object_], dict[str, str]]:
    """Return individual ids, or FAMILY_INDIVIDUAL if they repeat, and attributes."""
    names = []
    for k, each in enumerate(ids):
        if each is None:
            msg = (
                f"datasets[{k}] has no {model.SAMPLE_ID}, others have: assign ids with "
                "ds.assign_coords(sample_id=('samples', names))"
            )
            raise KeyError(msg)
        names.append(each)
    families = [labels.texts_along(part, labels.FAMILY, model.SAMPLES) for part in parts]
    known = [each for each in families if each is not None]
    full = np.concatenate(names)
    if len(known) == len(parts):
        names = [
            labels.individuals(family, each, part[model.SAMPLE_ID].attrs)
            for family, each, part in zip(known, names, parts, strict=True)
        ]
        full = np.concatenate(known) + "_" + np.concatenate(names)
    single = np.concatenate(names)
    if not pd.Index(single).has_duplicates:
        return single, {}
    again = np.flatnonzero(pd.Index(full).duplicated())
    if again.size:
        second = int(again[0])
        first = full.tolist().index(full[second])
        ends = np.cumsum([part.sizes[model.SAMPLES] for part in parts])
        where = [
            f"samples={i - int(np.r_[0, ends][k])} of datasets[{k}]"
            for i in (first, second)
            for k in [int(np.searchsorted(ends, i, side="right"))]
        ]
        msg = (
            f"{model.SAMPLE_ID} {full[second]!r} is at {where[0]} and at {where[1]}: leave it out "
            "of one with ds.genobit.isel(samples=...), or give it another id"
        )
        raise ValueError(msg)
    return full, dict(labels.JOINED)


def _require_no_variant_twice(parts: Sequence[xr.Dataset], contigs: list[Contigs]) -> None:
    """Raise ValueError for a variant with the same place, id and alleles in two Datasets."""
    along = places_of(parts, contigs)
    if along is None:
        return
    owners = [pd.Series(k, pd.unique(each)) for k, each in enumerate(along)]
    counts = pd.concat(owners).index.value_counts()
    several = counts.index[counts > 1]
    tables = []
    for k, (part, places) in enumerate(zip(parts, along, strict=True)):
        row = np.flatnonzero(np.isin(places, several) & is_placed(places, contigs[0]))
        some = part.isel(variants=row)
        ids = labels.ids(some, model.VARIANTS)
        table = pd.DataFrame({"owner": k, "row": row, "place": places[row], "name": "."})
        if ids is not None:
            table["name"] = np.where(np.isin(ids, NO_ID), ".", ids)
        if model.VARIANT_ALLELE in part.variables:
            table["alleles"] = [on_both_strands(x) for x in labels.allele_names(some).tolist()]
        tables.append(table)
    key = ["place", "name", *({"alleles"} & set(tables[0]))]
    found = pd.concat(tables).drop_duplicates([*key, "owner"])
    again = found[found.duplicated(key)]
    if len(again):
        two = again.iloc[0]
        one = found.merge(again.iloc[:1][key], on=key).iloc[0]
        msg = (
            f"variant {two['name']!r} at variants={two.row} of datasets[{two.owner}] is also in "
            f"datasets[{one.owner}], at variants={one.row}: select variants that do not overlap"
        )
        raise ValueError(msg)


def _with_same_filters(parts: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Return the Datasets with the filters of all of them; one without has failed none."""
    having = [part for part in parts if _FILTER_ID in part.variables]
    every: dict[str, str] = {}
    for part in having:
        ids = labels.text(part[_FILTER_ID].values, _FILTER_ID).tolist()
        texts = labels.texts_along(part, _FILTER_TEXT, _FILTERS)
        for name, text in zip(ids, [""] * len(ids) if texts is None else texts, strict=True):
            every[name] = every.get(name) or text
    found = []
    for part in parts:
        new: dict[str, Any] = {}
        ids = labels.texts_along(part, _FILTER_ID, _FILTERS)
        if every and (ids is None or ids.tolist() != list(every)):
            places = pd.Index([] if ids is None else ids, dtype=object).get_indexer(list(every))
            passed = np.zeros((part.sizes[model.VARIANTS], len(every)), bool)
            if ids is not None and "variant_filter" in part:
                old = part["variant_filter"].transpose(model.VARIANTS, _FILTERS).values
                passed[:, places >= 0] = old[:, places[places >= 0]]
            new = {
                _FILTER_ID: (_FILTERS, np.array(list(every), object)),
                _FILTER_TEXT: (_FILTERS, np.array(list(every.values()), object)),
                "variant_filter": ((model.VARIANTS, _FILTERS), passed),
            }
        found.append(part.drop_dims(_FILTERS).assign(new) if new and ids is not None
                     else part.assign(new))  # fmt: skip
    return found
