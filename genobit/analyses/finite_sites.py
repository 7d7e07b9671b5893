"""Linkage disequilibrium between the sites of an alignment, of two states or of several.

A taxon is valid at a site where it has one state: gaps, missing characters and ambiguity codes are
not. Every count of a pair of sites is over the taxa valid at both, c_ij = c_i & c_j.

Of two sites with two states each r, r2, D and D' are those of haplotypes (`genobit.analyses.ld`),
a taxon a haplotype. Of any number of states (finite sites: A, C, G and T may all be there)

    T_ij = (v_i - 1)(v_j - 1) v_ij / (v_i v_j) * sum of r2_st over the states s of i and t of j

with v_ij the taxa valid at both, v_i and v_j the states that these have at i and at j, and r2_st
the r2 of "s or not" with "t or not" (Zaykin, Pudovkin and Weir, Genetics 180:533, 2008; by
popcounts Alachiotis, Popovici and Low 2016). Where nothing is linked T is distributed nearly as
chi2 of (v_i - 1)(v_j - 1) degrees of freedom. With two states at both T is v_ij r2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.analyses import ld
from genobit.lazy import tiles
from genobit.options import get_options
from genobit.packing import CALLED, Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.analyses.characters import Characters

T = "T"
LONG_NAMES = {name: ld.LONG_NAMES[name] for name in ("r", "r2", "D", "dprime")} | {
    T: "linkage of sites of several states T"
}


class Sites(NamedTuple):
    """Sites as bit planes, of the taxa."""

    planes: dict[str, da.Array]
    """A plane of each state for T; of two states those of haplotypes. (sites, words)."""
    states: NDArray[np.int64]
    """How many states each site has, (sites,)."""
    counted: NDArray[np.int64] | None
    """Which state is counted at each site, -1 where none is valid; none for T."""
    taxa: int


def sites_of(characters: Characters, statistic: str) -> Sites:
    """Sites of an alignment, ready for a statistic.

    Raises
    ------
    ValueError
        For an unknown statistic, and for a site of more than two states unless it is T.
    """
    if statistic not in LONG_NAMES:
        msg = f"statistic {statistic!r} of an alignment is not one of {', '.join(LONG_NAMES)}"
        raise ValueError(msg)
    sets = characters.sets
    valid = np.bitwise_count(sets) == 1
    present = np.bitwise_or.reduce(np.where(valid, sets, np.uint64(0)), axis=0)
    states = np.bitwise_count(present).astype(np.int64)
    if statistic == T:
        everywhere = int(np.bitwise_or.reduce(present))
        occurring = [s for s in range(len(characters.symbols)) if everywhere >> s & 1] or [0]
        named = {characters.symbols[s]: valid & (sets == np.uint64(1 << s)) for s in occurring}
        return Sites(_chunked(named), states, None, sets.shape[0])
    _refuse_more_than_two(states, present, characters.symbols)
    counted = np.array([int(p).bit_length() - 1 for p in present.tolist()], np.int64)
    # No set of one state equals 0, so that nothing is counted where nothing is valid.
    highest = np.array([1 << k if k >= 0 else 0 for k in counted.tolist()], np.uint64)
    planes = {"alt": valid & (sets == highest), CALLED: valid}
    return Sites(_chunked(planes), states, counted, sets.shape[0])


def _refuse_more_than_two(
    states: NDArray[np.int64], present: NDArray[np.uint64], symbols: Sequence[str]
) -> None:
    wrong = np.flatnonzero(states > 2)
    if wrong.size:
        k = int(wrong[0])
        found = ", ".join(symbol for s, symbol in enumerate(symbols) if int(present[k]) >> s & 1)
        msg = (
            f"{wrong.size} of {states.size} sites have more than two states, first site {k} "
            f"({found}): take statistic='T', which is of any number, or select sites of two states"
        )
        raise ValueError(msg)


def _chunked(bits: dict[str, NDArray[np.bool_]]) -> dict[str, da.Array]:
    """Bits (taxa, sites) as planes (sites, words), in chunks of equal work."""
    from genobit.kernels.similarity import packed

    rows = max(64, get_options().edge // len(bits))
    return {
        name: da.from_array(packed(np.ascontiguousarray(plane.T)), chunks=(rows, -1))
        for name, plane in bits.items()
    }


def _layout(sites: Sites) -> Layout:
    return Layout("haplotype", "variants", sites.taxa, 1)


def _square_tile(a: list[Any], b: list[Any] | None) -> NDArray[np.float32]:
    from genobit.kernels import finite_sites

    return finite_sites.square(_contiguous(a), None if b is None else _contiguous(b))


def _band_tile(
    blocks: list[list[Any]], last: NDArray[np.int64], reach: int, width: int
) -> NDArray[np.float32]:
    from genobit.kernels import finite_sites

    head = blocks[0][0].shape[0]
    joined = tuple(np.concatenate(planes)[:reach] for planes in zip(*blocks, strict=True))
    return finite_sites.band(tuple(plane[:head] for plane in joined), joined, last, width)


def _contiguous(blocks: Sequence[Any]) -> tuple[NDArray[np.uint64], ...]:
    return tuple(np.ascontiguousarray(block) for block in blocks)


def matrix(sites: Sites, statistic: str) -> da.Array:
    """The statistic of every site with every site: float32 (sites, sites), lazy."""
    if statistic == T:
        return tiles.square(_square_tile, list(sites.planes.values()), None, np.float32)
    return ld.matrix(sites.planes, _layout(sites), statistic)


def band(sites: Sites, statistic: str, last: NDArray[np.int64]) -> da.Array:
    """The statistic of each site with those after it in its window, as `ld.band` has it."""
    if statistic == T:
        width = int((last - np.arange(last.size)).max(initial=0))
        planes = list(sites.planes.values())
        return tiles.band(_band_tile, planes, last, width, np.float32)
    return ld.band(sites.planes, _layout(sites), statistic, last)
