"""Match the variants, or the samples, of several Datasets by their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genobit.data import labels, model
from genobit.data.checks import first_true
from genobit.data.contigs import UNPLACED, Contigs, contigs_in, translated
from genobit.data.strands import complements

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import xarray as xr
    from numpy.typing import NDArray

NO_ID = ("", ".")
"""Texts that stand for no id."""
_POSITIONS = 2**40
"""More than a position, so that contig and position are one number."""

Places = list["NDArray[np.intp]"]
"""Index into each Dataset for each member of the result, -1 where a Dataset lacks it."""


class Matched(NamedTuple):
    """How the members of several Datasets match."""

    by: str
    """The label that matches them."""
    places: Places
    note: str = ""
    """Doubtful matches, for the report."""


class _Keys(NamedTuple):
    """Keys of the members of each Dataset, and the text of a member for messages."""

    dim: str
    name: str
    keys: list[NDArray[Any]]
    text: Callable[[int, int], str]


def united_contigs(datasets: Sequence[xr.Dataset]) -> list[Contigs] | None:
    """Return the contigs of each Dataset, with the same names; None if one has no contigs.

    Names are in order of appearance. Names that mean one chromosome become the first of them.
    """
    names: list[str] = []
    found = []
    for ds in datasets:
        contigs = contigs_in(ds)
        if contigs is None:
            return None
        theirs = contigs.names.tolist()
        ours = translated(theirs, names) if names else {}
        known = [ours.get(name, name) for name in theirs]
        names += [name for name in dict.fromkeys(known) if name not in names]
        found.append(np.array([names.index(name) for name in known], np.intp)[contigs.numbers])
    # Only contigs that have variants.
    used = np.isin(np.arange(len(names)), np.concatenate(found))
    every = np.array(names, object)[used]
    return [Contigs((np.cumsum(used) - 1)[numbers], every) for numbers in found]


def match_samples(datasets: Sequence[xr.Dataset], join: str) -> Matched:
    """Return the samples of several Datasets by their ids. Without ids, they match by order."""
    found = [labels.ids(ds, model.SAMPLES) for ds in datasets]
    if all(each is None for each in found):
        sizes = [ds.sizes[model.SAMPLES] for ds in datasets]
        k = next((k for k, size in enumerate(sizes) if size != sizes[0]), None)
        if k is not None:
            raise ValueError(
                f"datasets[{k}] has {sizes[k]:,} samples and datasets[0] has {sizes[0]:,}, and "
                f"none has {model.SAMPLE_ID}: assign ids with "
                "ds.assign_coords(sample_id=('samples', names))"
            )
        return Matched("order", [np.arange(sizes[0])] * len(datasets))
    keys = _id_keys(found, model.SAMPLES, model.SAMPLE_ID)
    return Matched(keys.name, _joined(keys, join))


def match_variants(
    datasets: Sequence[xr.Dataset], contigs: list[Contigs] | None, join: str, on: str | None
) -> Matched:
    """Return the variants of several Datasets by id, or by contig and position."""
    ids = [labels.ids(ds, model.VARIANTS) for ds in datasets]
    along = places_of(datasets, contigs)
    by_id = on == "id" or (on is None and all(map(usable, ids)))
    if by_id:
        keys = _id_keys(ids, model.VARIANTS, model.VARIANT_ID)
    elif along is not None and contigs is not None:
        keys = _position_keys(datasets, along, contigs)
    else:
        raise KeyError(
            "variants are matched by variant_id, if each has its own, or by variant_contig and "
            "variant_position: assign one of them to every Dataset"
        )
    if on is None and not by_id and along is not None and contigs is not None:
        _require_one_place(ids, along, contigs[0])
    same = _equal(ids) if by_id else _equal(along or []) and (on == "position" or _equal(ids))
    if same and _one_variant_a_key(datasets, ids[0] if by_id else along[0] if along else None):
        places = [np.arange(datasets[0].sizes[model.VARIANTS])] * len(datasets)
    else:
        places = _joined(keys, join)
    if by_id and along is not None and contigs is not None:
        _require_one_place(ids, along, contigs[0])
    if join == "outer" and along is not None:
        order = np.argsort(first_known(along, places), kind="stable")
        places = [each[order] for each in places]
    return Matched(keys.name, places, "" if by_id else _other_ids(ids, places))


def _id_keys(ids: Sequence[NDArray[np.object_] | None], dim: str, name: str) -> _Keys:
    """Return ids as keys; raise KeyError if a Dataset has none."""
    known = []
    for k, each in enumerate(ids):
        if each is None:
            raise KeyError(f"datasets[{k}] has no {name}, which matches the Datasets: assign it")
        known.append(each)
    return _Keys(dim, name, [*known], lambda k, i: str(known[k][i]))


def _one_variant_a_key(datasets: Sequence[xr.Dataset], keys: NDArray[Any] | None) -> bool:
    """Return whether equal lists match row by row: repeated keys need the same alleles."""
    again = np.flatnonzero(pd.Series(keys).duplicated(keep=False))
    if not again.size:
        return True
    if not all(model.VARIANT_ALLELE in ds.variables for ds in datasets):
        return False
    rows = [labels.allele_names(ds.isel(variants=again)) for ds in datasets]
    return all(np.array_equal(rows[0], each) for each in rows[1:])


def _other_ids(ids: Sequence[NDArray[np.object_] | None], places: Places) -> str:
    """Return a note that counts matched variants with two ids, or ""."""
    count = 0
    for k, each in enumerate(ids[1:], start=1):
        if ids[0] is not None and each is not None:
            both = (places[0] >= 0) & (places[k] >= 0)
            pairs = ids[0][places[0][both]], each[places[k][both]]
            named = ~(np.isin(pairs[0], NO_ID) | np.isin(pairs[1], NO_ID))
            count += int((named & (pairs[0] != pairs[1])).sum())
    return f"{count:,} of them have other ids" if count else ""


def first_known(values: Sequence[NDArray[Any]], places: Places) -> NDArray[Any]:
    """Return the value of each member in the first Dataset that has it."""
    out: NDArray[Any] = values[0][places[0]]
    known = places[0] >= 0
    for found, there in zip(values[1:], places[1:], strict=True):
        new = ~known & (there >= 0)
        if new.any():
            out = out.astype(np.result_type(out, found), copy=False)
            out[new] = found[there[new]]
            known |= new
    return out


def usable(ids: NDArray[np.object_] | None) -> bool:
    """Return whether every member has an id of its own."""
    if ids is None:
        return False
    index = pd.Index(ids, dtype=object)
    return not (index.has_duplicates or index.isin(NO_ID).any())


def places_of(
    datasets: Sequence[xr.Dataset], contigs: list[Contigs] | None
) -> list[NDArray[np.int64]] | None:
    """Return contig and position of each variant as one number; None if a Dataset lacks them."""
    if contigs is None or not all(model.VARIANT_POSITION in ds for ds in datasets):
        return None
    found = []
    for k, (ds, of) in enumerate(zip(datasets, contigs, strict=True)):
        positions = np.asarray(ds[model.VARIANT_POSITION].values)
        if positions.dtype.kind == "f" and (i := first_true(~np.isfinite(positions))) >= 0:
            raise ValueError(
                f"{model.VARIANT_POSITION} of datasets[{k}] is {positions[i]} at variants={i}: "
                "leave the variant out, or give its position"
            )
        found.append(of.numbers.astype(np.int64) * _POSITIONS + positions.astype(np.int64))
    return found


def _place_text(place: int, contigs: Contigs) -> str:
    return f"{contigs.names[place // _POSITIONS]}:{place % _POSITIONS}"


def _equal(sides: Sequence[NDArray[Any] | None]) -> bool:
    """Return whether all Datasets have the same labels in the same order, or none has any."""
    first = sides[0]
    if first is None:
        return all(each is None for each in sides)
    return all(each is not None and np.array_equal(first, each) for each in sides[1:])


def _position_keys(
    datasets: Sequence[xr.Dataset], places: list[NDArray[np.int64]], contigs: list[Contigs]
) -> _Keys:
    """Return contig and position; where a place repeats in a Dataset, with the alleles.

    A variant without a known place has a key of its own, so it matches none.
    """
    repeated = [pd.unique(each[pd.Series(each).duplicated()]) for each in places]
    several = np.unique(np.concatenate(repeated))
    keys: list[NDArray[Any]] = []
    for k, (ds, each) in enumerate(zip(datasets, places, strict=True)):
        key = each.astype(object) if several.size else each
        where = np.flatnonzero(np.isin(each, several))
        if where.size and model.VARIANT_ALLELE in ds.variables:
            alleles = labels.allele_names(ds.isel(variants=where)).tolist()
            key[where] = [
                f"{place} {on_both_strands(row)}"
                for place, row in zip(each[where], alleles, strict=True)
            ]
        lost = np.flatnonzero(~is_placed(each, contigs[0]))
        if lost.size:
            key = key.astype(object)
            key[lost] = [f"{k} {i}" for i in lost]
        keys.append(key)
    if any(key.dtype == object for key in keys):
        keys = [key.astype(object) for key in keys]

    def text(k: int, i: int) -> str:
        place = _place_text(int(places[k][i]), contigs[k])
        if model.VARIANT_ALLELE not in datasets[k].variables:
            return place
        alleles = labels.allele_names(datasets[k].isel(variants=[i]))[0]
        return f"{place} {'/'.join(filter(None, alleles))}"

    return _Keys(model.VARIANTS, "contig and position", keys, text)


def is_placed(places: NDArray[np.int64], contigs: Contigs) -> NDArray[np.bool_]:
    """Return which variants have a known place: not chromosome 0, nor position 0."""
    unknown = contigs.names == UNPLACED
    return (places % _POSITIONS > 0) & ~unknown[places // _POSITIONS]


def on_both_strands(alleles: list[str]) -> str:
    """Return a text of alleles that does not depend on their order and strand."""
    named = sorted(allele for allele in alleles if allele)
    other = complements(named)
    return "/".join(named if other is None else min(named, sorted(other)))


def _joined(found: _Keys, join: str) -> Places:
    """Return the places of the members that all Datasets have, or any of them."""
    # pandas would make text of Arrow of objects, which takes longer.
    indexes = [pd.Index(keys, dtype=keys.dtype) for keys in found.keys]
    for k, index in enumerate(indexes):
        first, again = labels.first_repeat(index)
        if again:
            text = found.text(k, again)
            remedy = "match by on='position'" if found.name == model.VARIANT_ID else "keep one"
            raise ValueError(
                f"{found.name} of datasets[{k}] is {text!r} at {found.dim}={first} and at "
                f"{found.dim}={again}: {remedy}"
            )
    if join == "exact":
        for k in range(1, len(indexes)):
            _require_all(found, indexes, 0, k)
            _require_all(found, indexes, k, 0)
    wanted = indexes[0]
    for index in indexes[1:]:
        if join == "inner":
            wanted = wanted[wanted.isin(index)]
        elif join == "outer":
            wanted = wanted.append(index[~index.isin(wanted)])
    if not len(wanted):
        raise ValueError(f"no {found.name} is in all Datasets: {_others(found, 1)}")
    return [index.get_indexer(wanted) for index in indexes]


def _require_all(found: _Keys, indexes: list[pd.Index], k: int, other: int) -> None:
    """Raise ValueError if a Dataset lacks a member that another one has."""
    lacking = np.flatnonzero(~indexes[k].isin(indexes[other]))
    if lacking.size:
        i = int(lacking[0])
        remedy = (
            f"join='inner' keeps the {found.dim} that all Datasets have, and join='outer' keeps "
            "all and makes calls missing"
        )
        if lacking.size == len(indexes[k]):
            remedy = _others(found, other)
        raise ValueError(
            f"{lacking.size:,} of {len(indexes[k]):,} {found.dim} of datasets[{k}] are not in "
            f"datasets[{other}] by {found.name}, first {found.dim}={i} ({found.text(k, i)!r}): "
            f"{remedy}"
        )


def _others(found: _Keys, other: int) -> str:
    """Return a remedy for Datasets of which no member is in both."""
    first = ", ".join(repr(found.text(other, i)) for i in range(min(3, found.keys[other].size)))
    remedy = f"datasets[{other}] has {first}"
    if found.name == model.VARIANT_ID:
        remedy += "; on='position' matches by contig and position"
    elif found.dim == model.SAMPLES:
        remedy += "; other samples are joined along dim='samples'"
    return remedy


def _require_one_place(
    ids: Sequence[NDArray[np.object_] | None], along: list[NDArray[np.int64]], contigs: Contigs
) -> None:
    """Raise ValueError if one id has two places: the files are of two builds."""
    known = pd.Series(dtype=np.int64)
    for k, (names, places) in enumerate(zip(ids, along, strict=True)):
        if names is None:
            continue
        mine = pd.Series(places, pd.Index(names, dtype=object))
        mine = mine[~(mine.index.duplicated(keep=False) | mine.index.isin(NO_ID))]
        both = mine[mine.index.isin(known.index)]
        before = known.reindex(both.index).to_numpy()
        wrong = np.flatnonzero(both.to_numpy() != before)
        if wrong.size:
            i = int(wrong[0])
            raise ValueError(
                f"{wrong.size:,} of {len(both):,} shared variants have another place in "
                f"datasets[{k}], first {both.index[i]!r} at {_place_text(both.iloc[i], contigs)} "
                f"instead of {_place_text(int(before[i]), contigs)}: bring all to one reference "
                "genome, or leave these variants out"
            )
        known = pd.concat([known, mine[~mine.index.isin(known.index)]]) if len(known) else mine


def require_distinct(datasets: Sequence[xr.Dataset], contigs: list[Contigs] | None) -> None:
    """Raise ValueError for a variant with the same place, id and alleles in two Datasets."""
    along = places_of(datasets, contigs)
    if along is None or contigs is None:
        return
    owners = [pd.Series(k, pd.unique(each)) for k, each in enumerate(along)]
    counts = pd.concat(owners).index.value_counts()
    several = counts.index[counts > 1]
    tables = []
    for k, (ds, places) in enumerate(zip(datasets, along, strict=True)):
        row = np.flatnonzero(np.isin(places, several) & is_placed(places, contigs[0]))
        some = ds.isel(variants=row)
        ids = labels.ids(some, model.VARIANTS)
        table = pd.DataFrame({"owner": k, "row": row, "place": places[row], "name": "."})
        if ids is not None:
            table["name"] = np.where(np.isin(ids, NO_ID), ".", ids)
        if model.VARIANT_ALLELE in ds.variables:
            table["alleles"] = [on_both_strands(x) for x in labels.allele_names(some).tolist()]
        tables.append(table)
    key = ["place", "name", *({"alleles"} & set(tables[0]))]
    found = pd.concat(tables).drop_duplicates([*key, "owner"])
    again = found[found.duplicated(key)]
    if len(again):
        two = again.iloc[0]
        one = found.merge(again.iloc[:1][key], on=key).iloc[0]
        raise ValueError(
            f"variant {two['name']!r} at variants={two.row} of datasets[{two.owner}] is also in "
            f"datasets[{one.owner}], at variants={one.row}: select variants that do not overlap"
        )
