"""Labels of Datasets that are joined along one dimension and matched along the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import columns, labels, model
from genobit.data.matching import NO_ID, Matched, first_known
from genobit.data.strands import align_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.data.contigs import Contigs
    from genobit.data.strands import Cohorts

_OWN = {
    model.CALL_GENOTYPE, model.VARIANT_CONTIG, model.CONTIG_ID, model.SAMPLE_ID, model.VARIANTS,
    model.SAMPLES,
}  # fmt: skip
"""Variables with a rule of their own."""
_OF_ALL = {model.VARIANT_ALLELE, model.VARIANT_CONTIG, model.VARIANT_POSITION}
"""Labels that no variant may lack."""
_COMPUTED = {model.VARIANT_ID, model.VARIANT_GENETIC_POSITION, *_OF_ALL}
"""Labels that are computed if they are lazy; a field of a file takes a pass over it."""
_OF_ALLELES = {
    "call_dosage", "call_DS", "call_HDS", "call_genotype_probability", "call_GP", "call_GL",
    "call_PL", "call_AD", "variant_AF", "variant_AC", "variant_MAF", "variant_allele_frequency",
    "variant_allele_count",
}  # fmt: skip
"""Fields of VCF and sgkit whose values depend on the order of the alleles."""
MISSING = {"b": False, "i": -1, "f": np.nan, "O": "."}
"""Missing values of fields by type, as VCF Zarr has them."""
_MISSING_LABEL = {"M": np.datetime64("NaT"), "m": np.timedelta64("NaT"), "O": None}
"""Missing values of labels of samples by type; NaN for numbers, as of a joined table."""
_UNUSED = {"i": -2, "O": ""}
"""Values behind the last of a variant by type, as VCF Zarr has them."""


class Merged:
    """Datasets joined along ``dim``; ``matched`` are the members of the other dimension."""

    def __init__(
        self,
        parts: Sequence[xr.Dataset],
        dim: str,
        matched: Matched,
        contigs: list[Contigs] | None,
    ) -> None:
        self.parts, self.dim = parts, dim
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
            raise KeyError(f"datasets[{having.index(False)}] has no {name}, others have: assign it")
        names = [labels.allele_names(part) for part in self.parts]
        found = align_all(names, self.places)
        if conflicts == "refuse":
            self._require_fit(found, names)
        drop = found.conflicting > 0
        if ambiguous == "drop":
            drop |= found.ambiguous > 0
        kept = np.flatnonzero(~drop)
        if not kept.size:
            raise ValueError(f"the alleles of all {drop.size:,} variants conflict or are ambiguous")
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
        self._add_contigs()
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
        if name in _OF_ALL and len(known) < len(given):
            self.left_out[name] = "some Datasets lack it"
            return
        dims, attrs = (self.dim, *(d for d in known[0].dims if d != self.dim)), known[0].attrs
        values = [None if x is None else _values(x.transpose(*dims), name) for x in given]
        arrays = [x for x in values if x is not None]
        width, kind = max(x.shape[1:] for x in arrays), arrays[0].dtype.kind
        fills = {**_MISSING_LABEL, **(MISSING if self.dim == model.VARIANTS else {})}
        missing, dtype = fills.get(kind, np.nan), arrays[0].dtype if kind in fills else np.float64
        if kind in "biu" and kind not in fills and len(known) < len(given):
            # Refuse integers that float64 cannot hold.
            values = [None if x is None else columns.floats(x, name) for x in values]
        found = [
            np.full((part.sizes[self.dim], *width), missing, dtype)
            if x is None
            else _padded(x, width, _UNUSED.get(kind, missing))
            for x, part in zip(values, self.parts, strict=True)
        ]
        lazy = any(isinstance(x, da.Array) for x in found)
        # xarray would make NaN of None.
        data = (da if lazy else np).concatenate(found)
        self.variables[name] = xr.Variable(dims, data, attrs, fastpath=True)

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
        if name not in _COMPUTED and any(each.chunks is not None for each in known):
            self.left_out[name] = "not computed yet"
            return
        dims = (self.across, *(d for d in first.dims if d != self.across))
        values = [np.asarray(_values(each.transpose(*dims), name)) for each in known]
        places = [p for p, each in zip(self.places, given, strict=True) if each is not None]
        if name == model.VARIANT_ID:
            # The first id that is a name.
            pairs = zip(values, places, strict=True)
            places = [np.where(np.isin(x[place], NO_ID), -1, place) for x, place in pairs]
        found = first_known(values, places)
        for each, place in zip(values[1:], places[1:], strict=True):
            if name != model.VARIANT_ID and not _same(found[place >= 0], each[place[place >= 0]]):
                self.left_out[name] = "differs"
                return
        rows = np.where(np.max(places, axis=0) < 0, -1, np.arange(len(found)))
        data = columns.taken(found, rows, name)
        if name == model.VARIANT_ID:
            data[rows < 0] = NO_ID[1]
        self.variables[name] = xr.Variable(dims, data, first.attrs, fastpath=True)

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

    def _add_contigs(self) -> None:
        """Join the contigs of the variants."""
        if self.contigs is None:
            if any(model.VARIANT_CONTIG in part.variables for part in self.parts):
                self.left_out[model.VARIANT_CONTIG] = "some Datasets lack it"
            return
        numbers = [each.numbers for each in self.contigs]
        along = self.dim == model.VARIANTS
        found = np.concatenate(numbers) if along else first_known(numbers, self.places)
        self.variables |= {
            model.VARIANT_CONTIG: xr.Variable(model.VARIANTS, found.astype(np.int32)),
            model.CONTIG_ID: xr.Variable(model.CONTIGS, self.contigs[0].names),
        }


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


def _padded(values: Any, width: tuple[int, ...], fill: Any) -> Any:
    """Return values with as many columns as the Dataset that has most."""
    lacking = [(0, 0), *((0, w - n) for w, n in zip(width, values.shape[1:], strict=True))]
    if not any(after for _, after in lacking):
        return values
    pad: Any = da.pad if isinstance(values, da.Array) else np.pad
    return pad(values, lacking, constant_values=fill)


def _values(variable: xr.Variable, name: str) -> Any:
    """Return values, lazy ones as they are; text of any type becomes objects of str."""
    if variable.chunks is not None and name not in _COMPUTED:
        return variable.data
    found = labels.decoded(variable.values, name)
    return found.astype(object) if found.dtype.kind in "UT" else found


def _same(ours: NDArray[Any], theirs: NDArray[Any]) -> bool:
    equal = np.asarray(ours == theirs) | (np.asarray(pd.isna(ours)) & np.asarray(pd.isna(theirs)))
    return bool(equal.all())


def _sample_ids(
    parts: Sequence[xr.Dataset], ids: Sequence[NDArray[np.object_] | None]
) -> tuple[NDArray[np.object_], dict[str, str]]:
    """Return individual ids, or FAMILY_INDIVIDUAL if they repeat, and attributes."""
    names = []
    for k, each in enumerate(ids):
        if each is None:
            raise KeyError(
                f"datasets[{k}] has no {model.SAMPLE_ID}, others have: assign ids with "
                "ds.assign_coords(sample_id=('samples', names))"
            )
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
    first, second = labels.first_repeat(full)
    if second:
        ends = np.cumsum([part.sizes[model.SAMPLES] for part in parts])
        where = [
            f"samples={i - int(np.r_[0, ends][k])} of datasets[{k}]"
            for i in (first, second)
            for k in [int(np.searchsorted(ends, i, side="right"))]
        ]
        raise ValueError(
            f"{model.SAMPLE_ID} {full[second]!r} is at {where[0]} and at {where[1]}: leave it out "
            "of one with ds.genobit.isel(samples=...), or give it another id"
        )
    return full, dict(labels.JOINED)
