"""Find the positions of variants and samples by id, region, contig, position or mask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import aligning, labels, model
from genobit.data.checks import first_true
from genobit.data.contigs import contig_named, contigs_in
from genobit.data.regions import known_contig, parse_region
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.data.regions import Region

Selection: TypeAlias = (
    str
    | slice
    | Sequence[str]
    | Sequence[int]
    | Sequence[bool]
    | np.ndarray[Any, Any]
    | pd.Index
    | pd.Series
    | xr.DataArray
)
"""Ids, regions or contigs as text, positions, a slice of positions, or a mask."""

_SHOWN = 3


def positions(ds: xr.Dataset, selection: Selection, dim: str) -> NDArray[np.int64]:
    """Return positions along a dimension: ascending for a mask or region, else as requested."""
    size = ds.sizes[dim]
    if isinstance(selection, slice):
        return np.arange(size)[_checked_slice(selection, dim)]
    _require_one_kind(selection, dim)
    given = aligning.selected(ds, selection, dim, f"the mask or selection {dim}=")
    chosen = np.atleast_1d(np.asarray(given))
    if chosen.dtype == bool:
        if chosen.shape != (size,):
            raise IndexError(f"the mask for {dim!r} has shape {chosen.shape}, expected ({size},)")
        return np.flatnonzero(chosen)
    if chosen.ndim == 1 and chosen.size and is_names(chosen):
        return of_names(ds, labels.text(chosen, f"{dim}="), dim)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        regions = ", regions" if dim == model.VARIANTS else ""
        raise IndexError(
            f"{dim}= takes ids{regions}, a slice, whole numbers or a boolean mask, not "
            f"{selection!r}"
        )
    found = chosen.astype(np.int64)
    if (k := first_true((found < -size) | (found >= size))) >= 0:
        raise IndexError(f"{dim}[{k}] = {found[k]} is outside the {size} {dim}")
    return np.where(found < 0, found + size, found)


def members(matrix: xr.DataArray, chosen: Any, dim: str, name: str) -> list[int]:
    """Return the indices in a matrix of pairs of variants or samples, given by name or index.

    ``name`` is the argument in errors. Raises KeyError for an unknown id, and IndexError for an
    index out of range.
    """
    along = f"{dim}_1"
    if is_names(chosen):
        side = {
            str(label).removesuffix("_1"): (dim, values.values)
            for label, values in matrix.coords.items()
            if values.dims == (along,)
        }
        with named_after(name, dim):
            return positions(xr.Dataset(side, attrs=matrix.attrs), chosen, dim).tolist()
    n = matrix.sizes[along]
    indices = [int(k) for k in np.atleast_1d(np.asarray(chosen))]
    for k in indices:
        if not -n <= k < n:
            raise IndexError(
                f"{name} is {k}, and the result has the {n:,} {dim} 0 to {n - 1:,} along "
                f"{along!r}: give the id or the index of one of them"
            )
    return indices


@contextmanager
def named_after(name: str, dim: str) -> Iterator[None]:
    """Let errors of `positions` name the argument that a caller gave."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError) as error:
        told = str(error.args[0]) if error.args else ""
        error.args = (told.replace(f"{dim}=", f"{name}=").replace(f"{dim}[", f"{name}["),)
        raise


def _require_one_kind(given: Any, dim: str) -> None:
    """Raise IndexError for names beside positions."""
    if not isinstance(given, list | tuple):
        return
    names = [k for k, x in enumerate(given) if isinstance(x, str | bytes)]
    others = [k for k, x in enumerate(given) if isinstance(x, int | float | np.number)]
    if names and others:
        raise IndexError(
            f"{dim}= mixes names and positions, {given[names[0]]!r} at [{names[0]}] and "
            f"{given[others[0]]!r} at [{others[0]}]: give only names, or only positions"
        )


def is_names(given: Any) -> bool:
    """Return whether a value is text, or a list or array of nothing but text or bytes."""
    if isinstance(given, str | bytes):
        return True
    if not isinstance(given, Sequence | np.ndarray | pd.Index | pd.Series | xr.DataArray):
        return False
    values = np.asarray(given)
    return bool(values.size) and labels.is_text(labels.decoded(values))


def of_names(ds: xr.Dataset, names: NDArray[np.object_], dim: str) -> NDArray[np.int64]:
    """Return the positions of ids, and for variants also of regions and contigs, in their order.

    Variants of overlapping regions come once. Raises KeyError for an unknown name, and ValueError
    for a repeated id, for a malformed region, and for a region without variants.
    """
    place = of_ids(ds, names, dim)
    lacking = np.flatnonzero(place < 0)
    if not lacking.size:
        return place
    if dim != model.VARIANTS:
        raise unknown(ds, names[lacking[0]], dim)
    genome = Genome(ds)
    parts = {}
    for k in lacking.tolist():
        parts[k] = genome.variants(names[k])
        if parts[k] is None:
            raise unknown(ds, names[k], dim, genome.contigs)
    seen = np.zeros(ds.sizes[dim], bool)
    seen[place[place >= 0]] = True
    found = []
    for k, own in enumerate(place.tolist()):
        part = parts.get(k)
        if part is not None:
            part = part[~seen[part]]
            seen[part] = True
        found.append(np.array([own]) if part is None else part)
    return np.concatenate(found)


class Genome:
    """Contigs and positions of the variants of a Dataset, to find regions."""

    def __init__(self, ds: xr.Dataset) -> None:
        found = contigs_in(ds)
        self._contig = None if found is None else found.numbers
        self.contigs: list[str] = [] if found is None else found.names.tolist()
        self._position = labels.values_along(ds, model.VARIANT_POSITION, model.VARIANTS)

    def variants(self, name: str) -> NDArray[np.int64] | None:
        """Return the variants of a region or contig, or of a position such as `2:136608646`.

        Returns None for any other text. Raises ValueError for a malformed region, and
        for one without variants.
        """
        if contig_named(name, self.contigs) is None:
            contig, _, place = (part.strip() for part in name.rpartition(":"))
            if contig_named(contig, self.contigs) is None:
                return None
            if (digits := place.replace(",", "")).isdecimal():
                return self._at(f"{contig}:{digits}-{digits}", name)
        region = parse_region(name, self.contigs)
        found = self.inside(region)
        if not found.size:
            raise ValueError(f"variants={name!r}: the Dataset has no variant in {region}")
        return found

    def inside(self, region: Region) -> NDArray[np.int64]:
        """Return the variants of a region, in the order of the Dataset."""
        there = self._contig == self.contigs.index(known_contig(region.contig, self.contigs))
        if region.start > 1 or region.end is not None:
            there &= self._positions() >= region.start
        if region.end is not None:
            there &= self._positions() <= region.end
        return np.flatnonzero(there)

    def _at(self, region: str, name: str) -> NDArray[np.int64] | None:
        """Return the only variant at a position, or None."""
        there = self.inside(parse_region(region, self.contigs))
        if there.size > 1:
            raise ValueError(
                f"{name!r} is the position of {there.size} variants, variants={_listed(there)}: "
                f"select all by the region {region!r}, or one by its index"
            )
        return there if there.size else None

    def _positions(self) -> NDArray[Any]:
        if self._position is None:
            raise KeyError(
                f"a region needs {model.VARIANT_POSITION} along {model.VARIANTS!r}, which the "
                "Dataset lacks: assign it, or name a contig"
            )
        return self._position


def of_ids(ds: xr.Dataset, names: NDArray[np.object_], dim: str) -> NDArray[np.int64]:
    """Return the position of each id, or -1. Raises ValueError for a repeated id."""
    ids = labels.ids(ds, dim)
    if ids is None:
        return np.full(names.size, -1, np.int64)
    wanted = pd.Index(names, dtype=object).unique()
    which = wanted.get_indexer(pd.Index(ids, dtype=object))
    there = np.flatnonzero(which >= 0)
    if (k := first_true(np.bincount(which[there], minlength=wanted.size) > 1)) >= 0:
        raise _repeated(labels.ID_OF.get(dim, dim), wanted[k], np.flatnonzero(which == k))
    place = np.full(wanted.size, -1, np.int64)
    place[which[there]] = there
    return place[wanted.get_indexer(pd.Index(names, dtype=object))]


def _repeated(variable: str, name: str, places: NDArray[np.int64]) -> ValueError:
    return ValueError(
        f"{name!r} names {places.size} members in {variable}, at index {_listed(places)}: select "
        "by index, or give unique identifiers"
    )


def _listed(places: NDArray[np.int64]) -> str:
    return ", ".join(map(str, places[:5])) + (", ..." if places.size > 5 else "")


def unknown(ds: xr.Dataset, name: str, dim: str, contigs: Sequence[str] = ()) -> KeyError:
    """Return the error for a name that is no id, region or contig, with the closest names."""
    variable, ids = labels.ID_OF.get(dim, dim), labels.ids(ds, dim)
    what = f"{dim}={name!r} is not in {variable}"
    if ids is None:
        what = f"{dim}={name!r}: the Dataset has no {variable} to find it in"
    if contigs:
        what += f", and no region of the contigs {', '.join(contigs[:8])}"
        what += ", ..." if len(contigs) > 8 else ""
    holders = _holders(ds, name, dim)
    if holders:
        return KeyError(f"{what}; {holders[0]} has it: {dim}=ds.{holders[0]} == {name!r}")
    known = [*contigs, *([] if ids is None else ids)]
    meant = did_you_mean(name, known)
    if meant == "." and known:
        first = known if ids is None else ids.tolist()
        meant = f"; the first names are {', '.join(map(repr, first[:_SHOWN]))}."
    return KeyError(what + meant)


def _holders(ds: xr.Dataset, name: str, dim: str) -> list[str]:
    """Return the labels of samples, such as their population, that have a text as a value."""
    if dim != model.SAMPLES:
        return []
    return [
        str(label)
        for label, variable in ds.variables.items()
        if variable.dims == (dim,)
        and labels.is_text(labels.decoded(variable.values))
        and (labels.text(variable.values) == name).any()
    ]


def _checked_slice(selection: slice, dim: str) -> slice:
    for end in (selection.start, selection.stop):
        if isinstance(end, str):
            msg = f"{dim}= takes slices of positions, not of labels such as {end!r}: give a region"
            raise IndexError(msg)
    return selection
