"""Match the variants, or the samples, of several Datasets by their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genobit.data import labels, model
from genobit.data.contigs import Contigs, contigs_in, translated
from genobit.data.strands import complements

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr
    from numpy.typing import NDArray

NO_ID = ("", ".")
"""Texts that stand for no id."""
_POSITIONS = 2**40
"""More than a position, so that contig and position are one number."""

Places = list["NDArray[np.intp]"]
"""Index into each Dataset for each member of the result, -1 where a Dataset lacks it."""


class _Keys(NamedTuple):
    """Keys of the members of each Dataset, and their texts for messages."""

    dim: str
    name: str
    keys: list[NDArray[Any]]
    texts: list[NDArray[np.object_]]


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


def match_samples(datasets: Sequence[xr.Dataset], join: str) -> tuple[str, Places]:
    """Return the label that matches the samples, and their places; without ids, the order does."""
    found = [labels.ids(ds, model.SAMPLES) for ds in datasets]
    if all(each is None for each in found):
        sizes = [ds.sizes[model.SAMPLES] for ds in datasets]
        k = next((k for k, size in enumerate(sizes) if size != sizes[0]), None)
        if k is not None:
            msg = (
                f"datasets[{k}] has {sizes[k]:,} samples and datasets[0] has {sizes[0]:,}, and "
                f"none has {model.SAMPLE_ID}: assign ids with "
                "ds.assign_coords(sample_id=('samples', names))"
            )
            raise ValueError(msg)
        return "order", [np.arange(sizes[0])] * len(datasets)
    ids = [_known(each, model.SAMPLE_ID, k) for k, each in enumerate(found)]
    return model.SAMPLE_ID, _joined(_Keys(model.SAMPLES, model.SAMPLE_ID, [*ids], ids), join)


def match_variants(
    datasets: Sequence[xr.Dataset], contigs: list[Contigs] | None, join: str, on: str | None
) -> tuple[str, Places]:
    """Return the label that matches the variants, and their places."""
    ids = [labels.ids(ds, model.VARIANTS) for ds in datasets]
    placed = contigs is not None and all(model.VARIANT_POSITION in ds for ds in datasets)
    along = (
        [place_of(ds, of) for ds, of in zip(datasets, contigs or [], strict=True)] if placed else []
    )
    if _equal(ids) and (not placed or _equal(along)) and (placed or ids[0] is not None):
        # Equal lists match as they are, even if a variant repeats.
        name = "contig and position" if ids[0] is None else model.VARIANT_ID
        return name, [np.arange(datasets[0].sizes[model.VARIANTS])] * len(datasets)
    if on is None:
        on = "id" if all(map(usable, ids)) else "position"
    if on == "id":
        known = [_known(each, model.VARIANT_ID, k) for k, each in enumerate(ids)]
        named = _Keys(model.VARIANTS, model.VARIANT_ID, [*known], known)
        name, places = named.name, _joined(named, join)
        if placed and contigs is not None:
            _require_same_place(along, contigs[0], known, places)
    elif placed and contigs is not None:
        keys = _position_keys(datasets, along, contigs)
        name, places = keys.name, _joined(keys, join)
    else:
        msg = (
            "variants are matched by variant_id, if each has its own, or by variant_contig and "
            "variant_position: assign one of them to every Dataset"
        )
        raise KeyError(msg)
    if join == "outer" and placed:
        order = np.argsort(first_known(along, places), kind="stable")
        places = [each[order] for each in places]
    return name, places


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


def _known(ids: NDArray[np.object_] | None, name: str, k: int) -> NDArray[np.object_]:
    if ids is None:
        msg = f"datasets[{k}] has no {name}, which matches the Datasets: assign it"
        raise KeyError(msg)
    return ids


def place_of(ds: xr.Dataset, contigs: Contigs) -> NDArray[np.int64]:
    """Return contig and position of each variant as one number."""
    positions = np.asarray(ds[model.VARIANT_POSITION].values).astype(np.int64)
    return contigs.numbers.astype(np.int64) * _POSITIONS + positions


def _place_texts(places: NDArray[np.int64], contigs: Contigs) -> NDArray[np.object_]:
    names = contigs.names[places // _POSITIONS]
    return np.array([f"{a}:{b}" for a, b in zip(names, places % _POSITIONS, strict=True)], object)


def _equal(sides: Sequence[NDArray[Any] | None]) -> bool:
    """Return whether all Datasets have the same labels in the same order, or none has any."""
    first = sides[0]
    if first is None:
        return all(each is None for each in sides)
    return all(each is not None and np.array_equal(first, each) for each in sides[1:])


def _position_keys(
    datasets: Sequence[xr.Dataset], places: list[NDArray[np.int64]], contigs: list[Contigs]
) -> _Keys:
    """Return contig and position; where a place repeats in a Dataset, with the alleles."""
    repeated = [pd.unique(each[pd.Series(each).duplicated()]) for each in places]
    several = np.unique(np.concatenate(repeated))
    keys: list[NDArray[Any]] = []
    texts = []
    for ds, each, of in zip(datasets, places, contigs, strict=True):
        text = _place_texts(each, of)
        where = np.flatnonzero(np.isin(each, several))
        key = each.astype(object) if several.size else each
        if where.size and model.VARIANT_ALLELE in ds.variables:
            alleles = labels.allele_names(ds.isel(variants=where))
            text[where] = [
                f"{place} {_on_both_strands(row)}"
                for place, row in zip(text[where], alleles.tolist(), strict=True)
            ]
            key[where] = text[where]
        keys.append(key)
        texts.append(text)
    return _Keys(model.VARIANTS, "contig and position", keys, texts)


def _on_both_strands(alleles: list[str]) -> str:
    """Return a text of alleles that does not depend on their order and strand."""
    named = sorted(allele for allele in alleles if allele)
    other = complements(named)
    return "/".join(named if other is None else min(named, sorted(other)))


def _joined(found: _Keys, join: str) -> Places:
    """Return the places of the members that all Datasets have, or any of them."""
    indexes = [pd.Index(keys) for keys in found.keys]
    for k, index in enumerate(indexes):
        again = np.flatnonzero(index.duplicated())
        if again.size:
            key = found.keys[k][again[0]]
            first = found.keys[k].tolist().index(key)
            text = found.texts[k][again[0]]
            remedy = "match by on='position'" if found.name == model.VARIANT_ID else "keep one"
            msg = (
                f"{found.name} of datasets[{k}] is {text!r} at {found.dim}={first} and at "
                f"{found.dim}={again[0]}: {remedy}"
            )
            raise ValueError(msg)
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
        msg = f"no {found.name} is in all Datasets: {_others(found, 1)}"
        raise ValueError(msg)
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
        msg = (
            f"{lacking.size:,} of {len(indexes[k]):,} {found.dim} of datasets[{k}] are not in "
            f"datasets[{other}] by {found.name}, first {found.dim}={i} ({found.texts[k][i]!r}): "
            f"{remedy}"
        )
        raise ValueError(msg)


def _others(found: _Keys, other: int) -> str:
    """Return a remedy for Datasets of which no member is in both."""
    first = ", ".join(repr(text) for text in found.texts[other][:3])
    remedy = f"datasets[{other}] has {first}"
    if found.name == model.VARIANT_ID:
        remedy += "; on='position' matches by contig and position"
    elif found.dim == model.SAMPLES:
        remedy += "; other samples are joined along dim='samples'"
    return remedy


def _require_same_place(
    along: list[NDArray[np.int64]],
    contigs: Contigs,
    ids: list[NDArray[np.object_]],
    places: Places,
) -> None:
    """Raise ValueError if one id has two places: the files are of two builds."""
    for k in range(1, len(along)):
        known = np.max([each >= 0 for each in places[:k]], axis=0)
        both = np.flatnonzero(known & (places[k] >= 0))
        here = first_known(along[:k], places[:k])[both]
        there = along[k][places[k][both]]
        wrong = np.flatnonzero(here != there)
        if wrong.size:
            i = int(wrong[0])
            ours, theirs = (_place_texts(side[i : i + 1], contigs)[0] for side in (here, there))
            msg = (
                f"{wrong.size:,} of {both.size:,} shared variants have another place in "
                f"datasets[{k}], first {ids[k][places[k][both[i]]]!r} at {theirs} instead of "
                f"{ours}: bring all to one reference genome, or leave these variants out"
            )
            raise ValueError(msg)
