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
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.data.characters import sets_in
from genobit.engine.bits.layout import CALLED, Layout, words_for
from genobit.engine.options import get_options
from genobit.engine.schedule import tiles
from genobit.engine.schedule.sites import by_sites
from genobit.engine.spelling import did_you_mean
from genobit.ld import matrix as ld

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.data.characters import Coding
    from genobit.engine.schedule.written_once import Place

T = "T"
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
    if isinstance(values, da.Array):
        sets = partial(sets_in, coding=coding, taxa=taxa)
        present = np.concatenate([x for _, x in by_sites(partial(_present_of, sets=sets), values)])
        wanted = _wanted(present, coding.symbols, statistic)
        planes = _lazy_planes(values, sets, wanted)
    else:
        whole = sets_in(values, coding, taxa)
        present = _present(whole)
        wanted = _wanted(present, coding.symbols, statistic)
        planes = da.from_array(_planes(whole, wanted.sets), chunks=-1)
    # Chunks of equal work: more planes, fewer sites.
    rows = max(64, get_options().edge // len(wanted.names))
    planes = planes.rechunk({1: rows})
    named = {name: planes[k] for k, name in enumerate(wanted.names)}
    states = np.bitwise_count(present).astype(np.int64)
    return Sites(named, states, wanted.counted, len(taxa))


class _Wanted(NamedTuple):
    """Planes that a statistic needs."""

    names: list[str]
    sets: NDArray[np.uint64]
    """State of each plane by site, as a set of bits; 0 for all valid taxa. (planes, sites)."""
    counted: NDArray[np.int64] | None


def _present(sets: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the states that valid taxa have at each site, as sets of bits."""
    from genobit.ld.kernels.sites import present

    found = np.zeros(sets.shape[1], sets.dtype)
    present(np.ascontiguousarray(sets), found)
    return found.astype(np.uint64)


def _present_of(values: NDArray[Any], first: int, *, sets: Any) -> NDArray[np.uint64]:
    return _present(sets(values, first=first))


def _wanted(present: NDArray[np.uint64], symbols: Sequence[str], statistic: str) -> _Wanted:
    if statistic == T:
        everywhere = int(np.bitwise_or.reduce(present))
        occurring = [s for s in range(len(symbols)) if everywhere >> s & 1] or [0]
        sets = np.array([[1 << s] for s in occurring], np.uint64)
        return _Wanted([symbols[s] for s in occurring], sets, None)
    _refuse_more_than_two(present, symbols)
    counted = np.array([int(p).bit_length() - 1 for p in present.tolist()], np.int64)
    # A set of 0 takes all valid taxa: at a site without any, the plane is empty.
    highest = np.array([1 << k if k >= 0 else 0 for k in counted.tolist()], np.uint64)
    return _Wanted(["alt", CALLED], np.stack([highest, np.zeros_like(highest)]), counted)


def _planes(sets: NDArray[Any], wanted: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return planes (planes, sites, words) of state sets (taxa, sites)."""
    from genobit.ld.kernels.sites import pack_states

    taxa, sites = sets.shape
    out = np.empty((len(wanted), sites, words_for(taxa)), np.uint64)
    each = np.broadcast_to(wanted.astype(sets.dtype), (len(wanted), sites))
    pack_states(np.ascontiguousarray(sets), np.ascontiguousarray(each), out)
    return out


def _lazy_planes(values: da.Array, sets: Any, wanted: _Wanted) -> da.Array:
    """Return planes (planes, sites, words), lazy, in the chunks of the alignment."""
    taxa = values.shape[0]
    shape = (len(wanted.names),), values.chunks[1], (words_for(taxa),)
    planes: da.Array = da.map_blocks(
        _planes_of, values, sets=sets, wanted=wanted.sets, chunks=shape, drop_axis=0,
        new_axis=(0, 2), dtype=np.uint64, meta=np.empty((0, 0, 0), np.uint64),
    )  # fmt: skip
    return planes


def _planes_of(
    values: NDArray[Any], *, sets: Any, wanted: NDArray[np.uint64], block_info: Any = None
) -> NDArray[np.uint64]:
    first, stop = block_info[0]["array-location"][1]
    # T uses the same states at all sites.
    here = wanted if wanted.shape[1] == 1 else wanted[:, first:stop]
    return _planes(sets(values, first=first), here)


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
