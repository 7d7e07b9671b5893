"""Alignments (taxa, sites): check their labels and decide the coding of their entries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from genobit.data import characters, labels, model
from genobit.data.characters import sets_in
from genobit.data.coded_text import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.data.characters import Coding

TAXA, SITES = "taxa", "sites"
_MISSING = {
    "missing": "a missing character and a gap may be any state",
    "state": "a missing character may be any state, a gap is one more state",
}


class Alignment(NamedTuple):
    """An alignment with checked labels, and the coding of its entries."""

    values: NDArray[Any] | da.Array
    """(taxa, sites); a lazy array has chunks of all taxa."""
    coding: Coding
    taxa: list[str]
    coords: dict[Any, xr.DataArray]
    """Coordinates along the sites."""
    attrs: dict[str, Any]
    """Attributes of results that describe the characters."""


def alignment_of(array: xr.DataArray, gap: str) -> Alignment:
    """Check an alignment (taxa, sites) and decide the coding of its entries.

    A lazy alignment is read chunk by chunk if the coding depends on the symbols that occur. Raises
    ValueError for other dimensions, a repeated name, or more than 64 states. An alignment in memory
    also raises for an unknown symbol, if its symbols are read.
    """
    from genobit.engine.schedule.passes import whole_columns

    if set(array.dims) != {TAXA, SITES}:
        dims = ", ".join(repr(str(dim)) for dim in array.dims) or "none"
        remedy = "rename them with .rename(), select or stack others"
        if model.VARIANTS in array.dims:
            remedy = (
                "analyses of genotypes take a Dataset with call_genotype (variants, samples, "
                "ploidy); rank correlation takes dosages as they are, .genobit.kendall()"
            )
        elif array.dtype.kind in "biuf":
            remedy += "; for measurements call .genobit.kendall(dim=...)"
        raise ValueError(
            f"an alignment has the dimensions {TAXA!r} and {SITES!r}, this DataArray has {dims}: "
            f"{remedy}"
        )
    array = array.transpose(TAXA, SITES)
    names = array.coords[TAXA].values if TAXA in array.coords else np.arange(array.sizes[TAXA])
    taxa = labels.text(names, TAXA).tolist()
    require_names(taxa)
    kind, states = array.attrs.get("kind"), states_of(array.attrs)
    values = array.values if array.chunks is None else whole_columns(array.data)
    listed = states if kind in {None, "standard"} else None
    coding = decided(values, kind, listed, gap, taxa)
    coords = {
        name: xr.DataArray(labels.as_objects(value.variable, str(name)))
        for name, value in array.coords.items()
        if value.dims == (SITES,)
    }
    attrs = {"gap": gap, "missing": _MISSING[gap], "states": in_one_text(coding.symbols)}
    return Alignment(values, coding, taxa, coords, attrs)


def require_names(taxa: Sequence[str]) -> None:
    """Raise ValueError for the first name that occurs twice."""
    first, again = labels.first_repeat(taxa)
    if again:
        msg = f"taxa {first} and {again} are both named {taxa[again]!r}: rename one of them"
        raise ValueError(msg)


def decided(
    values: NDArray[Any] | da.Array,
    kind: str | None,
    states: Sequence[Any] | None,
    gap: str,
    taxa: Sequence[str],
) -> Coding:
    """Return the coding of an alignment, the same for any chunking.

    A lazy alignment is read if the coding depends on the symbols that occur. ``kind``, ``states``,
    ``gap`` and ``taxa`` are those of `genobit.data.characters.state_sets`. Raises ValueError for an
    unknown kind or more than 64 states.

    Examples
    --------
    >>> import dask.array as da
    >>> text = da.from_array(np.array([list("AC1")]), chunks=1)
    >>> decided(text, None, None, "missing", ["a"])
    Coding(kind='standard', symbols=('1', 'A', 'C'), gap='missing', sets=None)
    """
    from genobit.engine.schedule.passes import by_sites

    characters.check_alignment(values, kind, gap)
    seen = characters.SymbolCounts({}, None)
    if not characters.coding_is_known(values.dtype, kind, states):
        if not isinstance(values, np.ndarray):
            parts = by_sites(partial(characters.symbol_counts, taxa=taxa), values)
            seen = characters.merge_counts(part for _, part in parts)
        else:
            seen = characters.symbol_counts(values, taxa=taxa)
    coding = characters.coding_of(values.dtype, seen, kind, states, gap)
    characters.require_few_states(coding, seen, _parts(values), taxa)
    return coding


def _parts(values: NDArray[Any] | da.Array) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield first site and entries of each part, one in memory at a time."""
    from genobit.engine.schedule.passes import one_by_one

    if isinstance(values, np.ndarray):
        yield 0, values
    else:
        yield from one_by_one(values)


def sets_by_sites(
    values: NDArray[Any] | da.Array, coding: Coding, taxa: Sequence[str]
) -> Iterator[NDArray[np.unsignedinteger]]:
    """Yield the state sets of an alignment in memory, or of each chunk in turn."""
    from genobit.engine.schedule.passes import FEW, by_sites

    values, coding = coded(values, coding)
    if isinstance(values, np.ndarray):
        yield sets_in(values, coding, taxa)
        return
    for _, sets in by_sites(partial(_sets, coding=coding, taxa=taxa), values, group=FEW):
        yield sets


def _sets(values: NDArray[Any], first: int, *, coding: Coding, taxa: Sequence[str]) -> NDArray[Any]:
    return sets_in(values, coding, taxa, first)


def alignment_attributes(kind: str, symbols: Sequence[str]) -> dict[str, Any]:
    """Return the attributes of an alignment of this kind."""
    attrs: dict[str, Any] = {"long_name": "alignment", "kind": kind}
    if kind == "standard":
        attrs["states"] = in_one_text(symbols)
    return attrs


def in_one_text(states: Sequence[str]) -> str:
    """Return states as one text, which netCDF keeps; `states_of` reads it.

    Examples
    --------
    >>> in_one_text(["A", "C"]), in_one_text(["0", "10"]), in_one_text(["10"])
    ('AC', '0 10', '10 ')
    """
    if all(len(state) == 1 for state in states):
        return "".join(states)
    # A blank says that the states are words.
    return " ".join([*states, ""] if len(states) == 1 else states)


def states_of(attrs: Mapping[Any, Any]) -> list[str] | None:
    """Return the states that attributes list in order: as one text, which netCDF keeps, or a list.

    Examples
    --------
    >>> states_of({"states": "0 1 10"}), states_of({"states": ["A", "B"]}), states_of({})
    (['0', '1', '10'], ['A', 'B'], None)
    """
    given = attrs.get("states")
    if isinstance(given, str) and " " in given:
        given = given.split()
    return None if given is None else [str(state) for state in given]
