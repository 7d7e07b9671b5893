"""Relatives: KING-robust kinship, identity by state and degrees of relationship.

N variants are called in both samples. Among them, h_i and h_j are the numbers of heterozygous calls
of samples i and j. H is the number of variants heterozygous in both, IBS0 of opposite homozygotes,
IBS2 of equal dosages, and IBS1 of the rest:

    kinship = (H - 2 IBS0) / (2 m) + 1/2 - (h_i + h_j) / (4 m),  m = min(h_i, h_j)
    IBS     = (2 IBS2 + IBS1) / (2 N)

The first formula is KING-robust kinship for pairs between families (Manichaikul et al. 2010,
equation 11). A sample has kinship 0.5 with itself. Kinship with another sample is NaN if either has
no heterozygous call. See docs/internals/grm-sums.md for the counts that both need.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.schedule.pair_sums import SampleChunks, Summed, pair_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from genobit.grm.kernels.kinship import Sums

DEGREES: dict[str, float] = {
    "duplicate or twin": 2**-1.5,
    "first degree": 2**-2.5,
    "second degree": 2**-3.5,
    "third degree": 2**-4.5,
    "unrelated": -np.inf,
}
"""Degree -> lower bound of its kinship, exclusive, closest degree first.

The bounds are those of Manichaikul et al. 2010, Table 1.
"""


BAND = 256
"""Samples of a tile whose values are computed at a time: counts of 64 bits for all of them would
take several times the tile."""


FEW_VARIANTS = 1_000
"""With fewer independent variants, the standard error of a kinship exceeds 0.03."""
STRETCH = 10_000
"""Base pairs in which variants count as one. Linkage in humans reaches farther: 60,000 independent
variants in 3 Gb are one in 50 kb."""


def doubt(variants: int, contig: NDArray[Any], position: NDArray[Any] | None) -> str:
    """Return why kinship is imprecise if variants are too few or clearly linked, else "".

    contig, position: (variants,). Among independent variants, the standard error of the kinship of
    unrelated samples is 1 / sqrt(variants), within 5% (simulated, minor allele frequency 0.05 to
    0.5).
    """
    count, where = variants, ""
    if position is not None:
        order = np.lexsort((position, contig))
        places = np.stack([contig, position // STRETCH])[:, order]
        count = int(np.any(np.diff(places), axis=0).sum()) + 1
        where = f" in {count:,} stretches of {STRETCH // 1000} kb"
    if count >= FEW_VARIANTS:
        return ""
    return (
        f"kinship from {variants:,} variants{where} has a standard error of about "
        f"{count**-0.5:.2f}, so unrelated samples may seem related: take {FEW_VARIANTS:,} or more "
        "variants that are spread over the genome"
    )


def degree_of(kinship: ArrayLike) -> NDArray[Any]:
    """Return the degree of relationship of each kinship coefficient, empty text for NaN.

    kinship: KING-robust, any shape; returns keys of `DEGREES`, of the same shape.

    Examples
    --------
    >>> degree_of([0.5, 0.25, 0.125, 0.06, 0.01, float("nan")]).tolist()
    ['duplicate or twin', 'first degree', 'second degree', 'third degree', 'unrelated', '']
    """
    values = np.asarray(kinship, np.float64)
    names = np.array([*DEGREES, ""])
    above = [values > bound for bound in DEGREES.values()]
    # -inf > -inf is False, so set the last band here: "unrelated" is any number.
    above[-1] = ~np.isnan(values)
    return names[np.select(above, range(len(above)), default=len(above))]


def _count(chunks: Sequence[Any], *, needs: str, dtype: type[np.integer]) -> Sums:
    from genobit.grm.kernels import kinship as kernels

    return kernels.sums([(a, b) for a, b in chunks], needs, dtype)


def _finish(tile: Summed, *, name: str) -> NDArray[Any]:
    from genobit.grm.kernels import kinship as kernels

    (counts,), (of_rows,), (columns,) = tile.sums, tile.rows, tile.columns

    def of(counted: Sums, rows: NDArray[np.int64]) -> NDArray[Any]:
        if name == "called":
            return kernels.called(counted).astype(np.int64)
        if name == "identity_by_state":
            return kernels.identity_by_state(counted)
        return (kernels.kinship if name == "kinship" else kernels.shared)(counted, rows, columns)

    rows = of_rows.size
    out: NDArray[Any] | None = None
    for start in range(0, rows, BAND):
        part = slice(start, start + BAND)
        band = [x[part] if x is not None and len(x) == rows else x for x in counts]
        found = of(kernels.Sums(*band), of_rows[part])
        out = np.empty((rows, columns.size), found.dtype) if out is None else out
        out[part] = found
    return np.empty((0, 0)) if out is None else out


def _finish_compared(tile: Summed, *, name: str) -> NDArray[np.float64]:
    """Return values and variants compared: (2, rows, columns) float64.

    A float64 counts up to 2**53 variants exactly.
    """
    return np.stack([_finish(tile, name=name), _finish(tile, name="called")])


def _pairs(
    samples: SampleChunks, name: str, needs: str, dtype: DTypeLike, *, compared: bool = False
) -> da.Array:
    exact = np.int32 if sum(samples.variants) < 2**31 else np.int64
    tiles = samples.tiles
    return pair_sums(
        partial(_count, needs=needs, dtype=exact),
        partial(_finish_compared if compared else _finish, name=name),
        samples,
        per_sample=[da.arange(sum(tiles), dtype=np.int64, chunks=(tiles,))],
        layers=2 if compared else None,
        dtype=dtype,
    )


def _compared(samples: SampleChunks, name: str, needs: str) -> tuple[da.Array, da.Array]:
    both = _pairs(samples, name, needs, np.float64, compared=True)
    return both[0], both[1].astype(np.int64)


def king(samples: SampleChunks) -> da.Array:
    """Return KING-robust kinship of all pairs of samples: (samples, samples) float64, lazy.

    Counts are over the calls present in both samples. The diagonal is 0.5. A pair is NaN if either
    sample has no heterozygous call. The result has the same bits for every chunking.
    """
    return _pairs(samples, "kinship", "Th", np.float64)


def king_compared(samples: SampleChunks) -> tuple[da.Array, da.Array]:
    """Return `king`, and the number of variants called in both samples of each pair (int64, lazy).

    Both come from the same counts, so computing them together costs no more than one.
    """
    return _compared(samples, "kinship", "Th")


def ibs_compared(samples: SampleChunks) -> tuple[da.Array, da.Array]:
    """Return the share of alleles identical by state, and the number of variants that it is over.

    Both are (samples, samples) and lazy, float64 and int64. Shares are over the calls present in
    both samples; a pair without any is NaN. They have the same bits for every chunking. Both come
    from the same counts, so computing them together costs no more than one.
    """
    return _compared(samples, "identity_by_state", "TH")


def shared(samples: SampleChunks) -> da.Array:
    """Return kinship, share of opposite homozygotes and variants compared of all pairs of samples.

    The result is structured (samples, samples) and lazy. Its fields are ``kinship`` and ``ibs0``
    (float64) and ``variants`` (int64), all from the same counts.
    """
    from genobit.grm.kernels.kinship import SHARED

    return _pairs(samples, "shared", "THh", SHARED)
