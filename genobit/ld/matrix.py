"""Linkage disequilibrium: r, r2, D and D' between variants.

For two biallelic variants with allele frequencies P_i, P_j and haplotype frequency P_ij,

    D  = P_ij - P_i P_j                                    (Lewontin and Kojima 1960)
    r2 = D^2 / (P_i (1 - P_i) P_j (1 - P_j))               (Hill and Robertson 1968)
    D' = D / Dmax,  Dmax = min(P_i (1 - P_j), (1 - P_i) P_j)  if D >= 0,
                    else   min(P_i P_j, (1 - P_i)(1 - P_j))   (Lewontin 1964)

For unphased dosages r is the Pearson correlation of the dosages: the composite r of Weir 1979,
printed by ``plink --r``. The statistics "r2_em" and "dprime_em" are r2 and D' from the maximum
likelihood haplotype frequencies, which the EM algorithm estimates from dosages (Excoffier and
Slatkin 1995). The command ``plink --r2 dprime`` prints the same values, but D' without its sign.
Each pair uses the calls present at both variants (pairwise complete). If a variant has one allele
among these calls, r, r2 and D' are NaN. The counts are popcounts of a matrix product of bit planes
(Alachiotis, Popovici and Low 2016).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.data.model import VARIANT_CONTIG
from genobit.data.pairs.parts import Columns
from genobit.engine.schedule import tiles
from genobit.engine.schedule.tiles import as_rows, ordered
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from dask.highlevelgraph import HighLevelGraph
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.engine.schedule.written_once import Place

LONG_NAMES = {
    "r": "correlation r",
    "r2": "squared correlation r²",
    "D": "linkage disequilibrium D",
    "dprime": "normalised linkage disequilibrium D′",
    "r2_em": "squared correlation r² of EM haplotype frequencies",
    "dprime_em": "normalised linkage disequilibrium D′ of EM haplotype frequencies",
}
NEED_HAPLOTYPES = ("D", "dprime")
NEED_DOSAGES = ("r2_em", "dprime_em")
Planes = Mapping[str, da.Array]
"""Plane name -> uint64 (variants, words); ``called`` exists only where calls can be missing."""


def check_statistic(statistic: str, kind: str) -> None:
    """Raise ValueError for an unknown statistic, or one that dosages or haplotypes do not have."""
    if statistic not in LONG_NAMES:
        known = ", ".join(LONG_NAMES)
        msg = f"statistic {statistic!r} is not one of {known}{did_you_mean(statistic, LONG_NAMES)}"
        raise ValueError(msg)
    if kind == "dosage" and statistic in NEED_HAPLOTYPES:
        msg = (
            f"statistic {statistic!r} needs haplotypes: pack phased calls with "
            "ds.genobit.pack(phased=True); dosages have 'r' and 'r2', and, with estimated "
            "haplotype frequencies, 'r2_em' and 'dprime_em'"
        )
        raise ValueError(msg)
    if kind == "haplotype" and statistic in NEED_DOSAGES:
        msg = (
            f"statistic {statistic!r} estimates haplotypes from dosages, and these are haplotypes: "
            f"take {statistic.removesuffix('_em')!r}, or use dosages with phased=False"
        )
        raise ValueError(msg)


def _square_tile(
    a: list[Any], b: list[Any] | None, place: Place | None = None, *, statistic: str, layout: Layout
) -> NDArray[np.float32]:
    from genobit.engine.pairwise.statistic import square
    from genobit.ld.kernels import r2

    rows, others = as_rows(a, layout), None if b is None else as_rows(b, layout)
    return square(r2.statistic(statistic, rows, others), rows, others, place=place)


def matrix(planes: Planes, layout: Layout, statistic: str, other: Planes | None = None) -> da.Array:
    """Return the statistic of every variant with every variant, of the planes or of ``other``.

    float32 (variants, variants of ``other``), lazy, one tile for each pair of chunks. Each value is
    exact up to one rounding to float32, and bit-identical for every chunking. The statistic is one
    of `LONG_NAMES`. Both sets of planes have the layout ``layout``.
    """
    check_statistic(statistic, layout.kind)
    return tiles.square(
        partial(_square_tile, statistic=statistic, layout=layout),
        ordered(planes, layout),
        None if other is None else ordered(other, layout),
        np.float32,
    )


def _band_tile(
    blocks: list[list[Any]],
    last: NDArray[np.int64],
    reach: int,
    width: int,
    *,
    statistic: str,
    layout: Layout,
) -> NDArray[np.float32]:
    from genobit.engine.pairwise import statistic as pairwise
    from genobit.ld.kernels import r2

    head = blocks[0][0].shape[0]
    joined = [np.concatenate(planes)[:reach] for planes in zip(*blocks, strict=True)]
    rows, reached = as_rows([plane[:head] for plane in joined], layout), as_rows(joined, layout)
    return pairwise.band(r2.statistic(statistic, rows, reached), rows, reached, last, width)


def band(planes: Planes, layout: Layout, statistic: str, last: NDArray[np.int64]) -> da.Array:
    """Return the statistic of each variant with the later variants in its window.

    float32 (variants, width), lazy: entry (i, k) is the pair (i, i + 1 + k), NaN past the window.
    The last variant in each window, ``last``, never decreases (see `window_ends`).
    """
    check_statistic(statistic, layout.kind)
    width = int((last - np.arange(last.size)).max(initial=0))
    function = partial(_band_tile, statistic=statistic, layout=layout)
    return tiles.band(function, ordered(planes, layout), last, width, np.float32)


def pairs_tile(
    a: list[Any],
    b: list[Any] | None,
    last: NDArray[np.int64],
    shift: int,
    left: dict[str, NDArray[Any]],
    right: dict[str, NDArray[Any]],
    *,
    layout: Layout,
    minimum: float,
    statistic: str,
) -> Columns:
    """Return the pairs of two chunks with the labels of both sides, and their values as float32."""
    from genobit.ld.kernels import pairs

    other = None if b is None else as_rows(b, layout)
    i, j, found = pairs.pairs(as_rows(a, layout), other, last, shift, minimum, statistic)
    labels = {}
    for name, values in left.items():
        if name == VARIANT_CONTIG:
            labels[name] = values, i
        else:
            labels[f"{name}_0"], labels[f"{name}_1"] = (values, i), (right[name], j)
    if statistic == "r":
        r2 = found * found
        return Columns(labels, {"r": found.astype(np.float32), "r2": r2.astype(np.float32)})
    return Columns(labels, {statistic: found.astype(np.float32)})


def taken(statistic: str) -> str:
    """Return the statistic that kernels compute: r for r2, so that tables have the sign of r."""
    return "r" if statistic == "r2" else statistic


def pair_tiles(
    planes: Planes,
    layout: Layout,
    last: NDArray[np.int64],
    minimum: float,
    labels: Mapping[str, NDArray[Any]],
    statistic: str,
) -> tuple[list[Any], HighLevelGraph, Columns]:
    """Return keys and graph of the pairs in windows whose r2 is at least ``minimum``.

    There is one task for each pair of chunks that shares a window. The third value has the columns
    without rows. Values are compared with ``minimum`` after rounding to float32. Columns of
    ``labels`` describe variants, each (variants,). The statistic is "r2", which gives r too, or
    "r2_em".
    """
    check_statistic(statistic, layout.kind)
    function = partial(pairs_tile, layout=layout, minimum=minimum, statistic=taken(statistic))
    keys, graph = tiles.band_tiles(function, ordered(planes, layout), last, labels)
    empty = [np.zeros((0, layout.words), np.uint64)] * len(layout.planes)
    nothing = np.zeros(0, np.int64)
    none = {name: values[:0] for name, values in labels.items()}
    example = function(empty, None, nothing, 0, none, none)
    return keys, graph, example
