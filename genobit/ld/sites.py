"""Linkage disequilibrium between the sites of an alignment, of two or more states.

A taxon is valid at a site if it has one state there. Gaps, missing characters and ambiguity codes
are not valid. Each pair uses the taxa valid at both sites, c_ij = c_i & c_j.

For two sites with two states each, r, r2, D and D' are computed as for haplotypes
(`genobit.ld.matrix`): each taxon is a haplotype. For any number of states (finite sites: A, C, G
and T may all occur),

    T_ij = (v_i - 1)(v_j - 1) v_ij / (v_i v_j) * sum of r2_st over the states s of i and t of j

Here v_ij is the number of taxa valid at both sites. These taxa have v_i states at i and v_j states
at j. r2_st is the r2 between having state s at i and having state t at j (Zaykin, Pudovkin and
Weir, Genetics 180:533, 2008; by popcounts Alachiotis, Popovici and Low 2016). For unlinked sites T
follows approximately chi2 with (v_i - 1)(v_j - 1) degrees of freedom. With two states at both sites
T is v_ij r2.
"""

from __future__ import annotations

from functools import partial
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.data.characters import sets_in
from genobit.data.coded_text import coded, in_sites
from genobit.engine.bits.layout import CALLED, Layout, words_for
from genobit.engine.options import get_options
from genobit.engine.schedule import tiles
from genobit.engine.schedule.graphs import named_layer
from genobit.engine.schedule.passes import by_sites
from genobit.engine.spelling import did_you_mean
from genobit.ld import matrix as ld

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.data.characters import Coding
    from genobit.engine.schedule.written_once import Place

T = "T"
_BLOCK = 2**24
"""Least bytes of planes that are packed at a time: numpy then asks for large pages."""
_WIDE = 2**14
"""Sites that are read at a time from memory: longer parts of rows are read faster."""
LONG_NAMES = {name: ld.LONG_NAMES[name] for name in ("r", "r2", "D", "dprime")} | {
    T: "linkage of sites of several states T"
}


class Sites(NamedTuple):
    """Sites as bit planes over the taxa."""

    planes: dict[str, da.Array]
    """One plane for each state for T, else the planes of haplotypes; each (sites, words)."""
    states: NDArray[np.int64]
    """Number of states of each site, (sites,)."""
    counted: NDArray[np.int64] | None
    """Counted state of each site, -1 where no taxon is valid; None for T."""
    taxa: int


def sites_of(
    values: NDArray[Any] | da.Array, coding: Coding, taxa: Sequence[str], statistic: str
) -> Sites:
    """Return the planes of an alignment (taxa, sites) that a statistic of `LONG_NAMES` needs.

    A lazy alignment is read once for the states of each site. Its planes are lazy too, in its
    chunks. ``coding`` maps the entries of the alignment to states. Raises ValueError for an unknown
    statistic, and for a site of more than two states unless the statistic is T.
    """
    if statistic not in LONG_NAMES:
        msg = (
            f"statistic {statistic!r} of an alignment is not one of {', '.join(LONG_NAMES)}"
            f"{did_you_mean(statistic, LONG_NAMES)}"
        )
        raise ValueError(msg)
    codes, coding_of_codes = coded(values, coding)
    bits = partial(_bits, coding=coding_of_codes, taxa=taxa)
    present_of = partial(_present, states=len(coding.symbols), bits=bits)
    if isinstance(codes, da.Array):
        wide = in_sites(codes, _WIDE)
        present = np.concatenate([x for _, x in by_sites(present_of, wide)])
    else:
        present = present_of(codes, 0)
    wanted = _wanted(present, coding.symbols, statistic)
    # Chunks of equal work: more planes, fewer sites.
    rows = max(64, get_options().edge // len(wanted.names))
    if isinstance(codes, da.Array):
        size = 8 * words_for(len(taxa)) * len(wanted.states) * rows
        codes = in_sites(codes, rows * -(-_BLOCK // size))
        planes = _lazy_planes(codes, bits, wanted)
        if any(sites % rows for sites in planes.chunks[1][:-1]):
            planes = planes.rechunk({1: rows})
    else:
        planes = da.from_array(_planes(codes, 0, bits=bits, wanted=wanted), chunks=-1)
    named = {name: _cut(planes, k, rows) for k, name in enumerate(wanted.names)}
    states = np.bitwise_count(present).astype(np.int64)
    return Sites(named, states, wanted.counted, len(taxa))


class _Wanted(NamedTuple):
    """Planes that a statistic needs."""

    names: list[str]
    states: list[int]
    """States that occur."""
    counted: NDArray[np.int64] | None
    """State of the plane of each site, -1 without a valid taxon; None for planes of all states."""


def _bits(
    values: NDArray[Any],
    first: int,
    states: Sequence[int],
    rows: int,
    *,
    coding: Coding,
    taxa: Sequence[str],
) -> NDArray[np.uint64]:
    """Return the sites at which a taxon has one state and no other: (states, rows, words).

    Rows are the taxa, or one row any of them.
    """
    from genobit.ld.kernels.sites import state_bits

    sets = coding.sets
    if sets is None:
        found = sets_in(values, coding, taxa, first)
        others = found & (found - found.dtype.type(1))
        # A single state has its number as code, and several states have a code without a state.
        values = np.where(others, np.uint8(len(coding.symbols)), np.bitwise_count(found - 1))
        sets = np.uint64(1) << np.arange(len(coding.symbols), dtype=np.uint64)
    codes = [np.flatnonzero(sets == sets.dtype.type(1 << s)).astype(np.uint8) for s in states]
    starts = np.cumsum([0, *map(len, codes)])
    out = np.empty((len(states), rows, words_for(values.shape[1])), np.uint64)
    state_bits(values, np.concatenate(codes), starts, out)
    return out


def _present(values: NDArray[Any], first: int, *, states: int, bits: Any) -> NDArray[np.uint64]:
    """Return the states that valid taxa have at each site, as sets of bits."""
    there = bits(values, first, range(states), 1)[:, 0].view(np.uint8)
    each = np.unpackbits(there, axis=1, count=values.shape[1], bitorder="little").astype(np.uint64)
    return np.bitwise_or.reduce(each << np.arange(states, dtype=np.uint64)[:, None], axis=0)


def _wanted(present: NDArray[np.uint64], symbols: Sequence[str], statistic: str) -> _Wanted:
    everywhere = int(np.bitwise_or.reduce(present))
    states = [s for s in range(len(symbols)) if everywhere >> s & 1] or [0]
    if statistic == T:
        return _Wanted([symbols[s] for s in states], states, None)
    _refuse_more_than_two(present, symbols)
    counted = np.array([int(p).bit_length() - 1 for p in present.tolist()], np.int64)
    return _Wanted(["alt", CALLED], states, counted)


def _planes(values: NDArray[Any], first: int, *, bits: Any, wanted: _Wanted) -> NDArray[np.uint64]:
    """Return planes (planes, sites, words) of a part of an alignment (taxa, sites)."""
    from genobit.engine.bits.words import transpose_bits

    taxa, sites = values.shape
    planes = np.empty((len(wanted.states), sites, words_for(taxa)), np.uint64)
    for rows, plane in zip(bits(values, first, wanted.states, taxa), planes, strict=True):
        transpose_bits(rows, sites, plane)
    if wanted.counted is None:
        return planes
    # A site without a valid taxon has empty planes, of which any is the counted one.
    counted = np.searchsorted(wanted.states, wanted.counted[first : first + sites])
    alt = planes[counted, np.arange(sites)]
    return np.stack([alt, np.bitwise_or.reduce(planes, axis=0)])


def _lazy_planes(values: da.Array, bits: Any, wanted: _Wanted) -> da.Array:
    """Return planes (planes, sites, words), lazy, in the chunks of the alignment."""
    name, graph = named_layer("genobit-states", _tasks, values, bits, wanted)
    shape = (len(wanted.names),), values.chunks[1], (words_for(values.shape[0]),)
    return da.Array(graph, name, shape, np.uint64)


def _tasks(name: str, values: da.Array, bits: Any, wanted: _Wanted) -> dict[Any, Any]:
    starts = np.cumsum([0, *values.chunks[1][:-1]]).tolist()
    of_part = partial(_planes, bits=bits, wanted=wanted)
    # Blockwise would copy each chunk, to join the chunks of one along the taxa.
    return {(name, 0, k, 0): (of_part, (values.name, 0, k), at) for k, at in enumerate(starts)}


def _cut(planes: da.Array, k: int, rows: int) -> da.Array:
    """Return plane k of planes (planes, sites, words) in chunks of ``rows``, which are views."""
    name, graph = named_layer("genobit-plane", _views, planes, k, rows)
    sizes = tuple(min(rows, size - at) for size in planes.chunks[1] for at in range(0, size, rows))
    return da.Array(graph, name, (sizes, planes.chunks[2]), np.uint64)


def _views(name: str, planes: da.Array, k: int, rows: int) -> dict[Any, Any]:
    sizes = enumerate(planes.chunks[1])
    places = [(chunk, at) for chunk, size in sizes for at in range(0, size, rows)]
    return {
        (name, number, 0): (getitem, (planes.name, 0, chunk, 0), (k, slice(at, at + rows)))
        for number, (chunk, at) in enumerate(places)
    }


def _refuse_more_than_two(present: NDArray[np.uint64], symbols: Sequence[str]) -> None:
    wrong = np.flatnonzero(np.bitwise_count(present) > 2)
    if wrong.size:
        k = int(wrong[0])
        found = ", ".join(symbol for s, symbol in enumerate(symbols) if int(present[k]) >> s & 1)
        msg = (
            f"{wrong.size} of {present.size} sites have more than two states, first site {k} "
            f"({found}): take statistic='T', which takes any number, or select sites of two states"
        )
        raise ValueError(msg)


def _layout(sites: Sites) -> Layout:
    return Layout("haplotype", "variants", sites.taxa, 1)


def _square_tile(
    a: list[Any], b: list[Any] | None, place: Place | None = None
) -> NDArray[np.float32]:
    from genobit.engine.pairwise.statistic import square
    from genobit.ld.kernels.sites import statistic

    others = None if b is None else _contiguous(b)
    return square(statistic(len(a)), _contiguous(a), others, place=place)


def _band_tile(
    blocks: list[list[Any]], last: NDArray[np.int64], reach: int, width: int
) -> NDArray[np.float32]:
    from genobit.engine.pairwise import statistic as pairwise
    from genobit.ld.kernels.sites import statistic

    head = blocks[0][0].shape[0]
    joined = tuple(np.concatenate(planes)[:reach] for planes in zip(*blocks, strict=True))
    heads = tuple(plane[:head] for plane in joined)
    return pairwise.band(statistic(len(joined)), heads, joined, last, width)


def _contiguous(blocks: Sequence[Any]) -> tuple[NDArray[np.uint64], ...]:
    return tuple(np.ascontiguousarray(block) for block in blocks)


def matrix(sites: Sites, statistic: str) -> da.Array:
    """Return the statistic of every site with every site: float32 (sites, sites), lazy."""
    if statistic == T:
        return tiles.square(_square_tile, list(sites.planes.values()), None, np.float32)
    return ld.matrix(sites.planes, _layout(sites), statistic)


def band(sites: Sites, statistic: str, last: NDArray[np.int64]) -> da.Array:
    """Return the statistic of each site with the later sites in its window, as `ld.band` does."""
    if statistic == T:
        width = int((last - np.arange(last.size)).max(initial=0))
        planes = list(sites.planes.values())
        return tiles.band(_band_tile, planes, last, width, np.float32)
    return ld.band(sites.planes, _layout(sites), statistic, last)
