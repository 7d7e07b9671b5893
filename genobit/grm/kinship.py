"""Relatives: KING-robust kinship, identity by state, and degrees of relationship.

Of two samples i and j, over the N variants called in both, with h_i and h_j heterozygous calls,
H heterozygous in both, IBS0 opposite homozygotes and IBS2 equal dosages,

    kinship = (H - 2 IBS0) / (2 m) + 1/2 - (h_i + h_j) / (4 m),  m = min(h_i, h_j)
    IBS     = (2 IBS2 + IBS1) / (2 N)

The first is KING-robust for pairs between families (Manichaikul et al. 2010, equation 11): it
needs no allele frequencies, so that samples of several populations may stand together. A sample
has kinship 0.5 with itself; any other pair of which one has no heterozygous call has none: NaN.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.schedule.pair_sums import SampleChunks, pair_sums

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
"""Degree -> the kinship that it lies above, from the closest (Manichaikul et al. 2010, Table 1)."""


def degree_of(kinship: ArrayLike) -> NDArray[Any]:
    """Name the degree of relationship of each kinship coefficient.

    Parameters
    ----------
    kinship
        KING-robust kinship coefficients, any shape; 0.5 is a sample with itself.

    Returns
    -------
        A key of `DEGREES` for each, of the same shape; empty text where the kinship is NaN.

    Examples
    --------
    >>> degree_of([0.5, 0.25, 0.125, 0.06, 0.01, float("nan")]).tolist()
    ['duplicate or twin', 'first degree', 'second degree', 'third degree', 'unrelated', '']
    """
    values = np.asarray(kinship, np.float64)
    names = np.array([*DEGREES, ""])
    above = [values > bound for bound in DEGREES.values()]
    # Of -inf nothing lies above -inf: what is no NaN and in no other band is unrelated.
    above[-1] = ~np.isnan(values)
    return names[np.select(above, range(len(above)), default=len(above))]


def _count(chunks: Sequence[Any], *, needs: str, dtype: type[np.integer]) -> Sums:
    from genobit.grm.kernels import kinship as relatives

    return relatives.sums([(a, b) for a, b in chunks], needs, dtype)


def _finish(
    sums: Sequence[tuple[Any, ...]],
    a: Sequence[NDArray[np.int64]],
    b: Sequence[NDArray[np.int64]],
    whole: Sequence[Any],  # noqa: ARG001 - every finish is called alike
    *,
    name: str,
) -> NDArray[Any]:
    from genobit.grm.kernels import kinship as relatives

    counted = relatives.Sums(*sums[0])
    if name == "called":
        return relatives.called(counted).astype(np.int64)
    if name == "identity_by_state":
        return relatives.identity_by_state(counted)
    function = relatives.kinship if name == "kinship" else relatives.shared
    return function(counted, a[0], b[0])


def _finish_compared(*args: Any, name: str) -> NDArray[np.float64]:
    """Values and variants compared, (2, rows, columns): floats hold those of 2**53 variants."""
    return np.stack([_finish(*args, name=name), _finish(*args, name="called")])


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
    """KING-robust kinship of all pairs of samples, over the calls present in both.

    Returns
    -------
        float64 (samples, samples), lazy: 0.5 on the diagonal, NaN for a pair of which one has no
        heterozygous call. The same bits for every chunking.
    """
    return _pairs(samples, "kinship", "Th", np.float64)


def king_compared(samples: SampleChunks) -> tuple[da.Array, da.Array]:
    """Give `king`, and the variants called in both samples of each pair: int64, lazy.

    Both are of the same counts: computed together they cost one.
    """
    return _compared(samples, "kinship", "Th")


def ibs_compared(samples: SampleChunks) -> tuple[da.Array, da.Array]:
    """Give the share of alleles identical by state, and the variants it is over, of all pairs.

    Returns
    -------
        float64 (samples, samples), lazy: over the calls present in both, NaN for a pair without
        any, the same bits for every chunking; and the variants called in both, int64, lazy, of
        the same counts: computed together they cost one.
    """
    return _compared(samples, "identity_by_state", "TH")


def shared(samples: SampleChunks) -> da.Array:
    """Kinship, share of opposite homozygotes and variants compared of all pairs of samples.

    Returns
    -------
        Structured (samples, samples), lazy, fields ``kinship`` and ``ibs0`` (float64) and
        ``variants`` (int64): all of the same counts.
    """
    from genobit.grm.kernels.kinship import SHARED

    return _pairs(samples, "shared", "THh", SHARED)
