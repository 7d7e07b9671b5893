"""Decay of linkage disequilibrium with distance: means, fitted curve, half-decay distance.

The curve is the expectation of r2 under drift and recombination with low mutation, in a sample of
n (Hill and Weir, Theoretical Population Biology 33:54, 1988; as in Remington et al., PNAS 98:11479,
2001). With C = rho d, the population recombination parameter 4 N c of the distance d,

    E(r2) = (10 + C) / ((2 + C)(11 + C)) * (1 + (3 + C)(12 + 12 C + C^2) / (n (2 + C)(11 + C)))

The curve is fitted to the means of the bins. It has a half-decay distance only if it describes the
means better than a constant. With S the sum of squared deviations from the means of B bins:

    R2 = 1 - S_curve / S_constant        delta AIC = B ln(S_constant / S_curve)

(Burnham and Anderson, Model Selection and Multimodel Inference, 2002, sections 2.2 and 2.6). A
block bootstrap gives the intervals, because values of neighbouring pairs are not independent. See
docs/tutorials/ld-decay.md for the curve, the fit and the intervals.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data.checks import is_whole
from genobit.engine.schedule import tiles
from genobit.engine.schedule.batches import in_groups
from genobit.engine.schedule.tiles import as_rows, ordered
from genobit.engine.spelling import did_you_mean
from genobit.ld.matrix import check_statistic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.ld.matrix import Planes

STATISTICS = ("r2", "r2_em")
"""Statistics whose expectation the curve describes."""


class GenomePositions(NamedTuple):
    """Variants along the genome, each array (variants,)."""

    place: NDArray[np.float64]
    """Position in the unit of the distances; it never decreases within a window."""
    last: NDArray[np.int64]
    """Last variant in the window of each variant."""
    part: NDArray[np.int64]
    """Part of the genome of each variant, from 0."""


class Sums(NamedTuple):
    """Sums over the pairs of each part and bin, float64 (parts, bins)."""

    pairs: NDArray[np.float64]
    value: NDArray[np.float64]
    distance: NDArray[np.float64]


FITS, MISFITS, BELOW, BEYOND = "fits", "does not fit", "below the bins", "beyond the bins"
LEAST_R2, LEAST_SUPPORT = 0.5, 10.0


class Fit(NamedTuple):
    """Goodness of fit of the curve to the means of the bins, compared with a constant."""

    verdict: str
    """FITS, MISFITS, or the side of the bins on which the half-decay distance lies."""
    r2: float
    """Share of the variation between bins that the curve explains; negative if the constant fits
    better."""
    support: float
    """AIC of the constant minus AIC of the curve."""


class Decay(NamedTuple):
    """Decay of one set of samples."""

    mean: NDArray[np.float64]
    """Mean of the statistic, (bins,); NaN for a bin without pairs."""
    pairs: NDArray[np.int64]
    """(bins,)."""
    distance: NDArray[np.float64]
    """Mean distance of the pairs, (bins,); the middle of a bin without pairs."""
    curve: NDArray[np.float64]
    """Fitted expectation at these distances, (bins,)."""
    rho: float
    fit: Fit
    half: tuple[float, float, float]
    """Half-decay distance of the curve: estimate, lower and upper end; NaN unless it fits."""
    half_of_means: tuple[float, float, float]
    interval: NDArray[np.float64]
    """Confidence interval of each mean, (bins, 2); NaN where a resample has no pair."""


class Resampling(NamedTuple):
    """Settings of the block bootstrap."""

    times: int
    confidence: float
    seed: int


def check_choice(statistic: str, kind: str) -> None:
    """Raise ValueError for a statistic other than `STATISTICS`, or one that the layout lacks."""
    if statistic not in STATISTICS:
        msg = (
            f"statistic {statistic!r} of a decay is not one of {', '.join(STATISTICS)}"
            f"{did_you_mean(statistic, STATISTICS)} The curve is an expectation of r2"
        )
        raise ValueError(msg)
    check_statistic(statistic, kind)


def edges_of(bins: int | Sequence[float], window: float) -> NDArray[np.float64]:
    """Return bin edges, float64: ``bins`` equal bins up to the window, or the given edges.

    Raises ValueError unless they are a positive number, or ascend from 0 or more up to the window.

    Examples
    --------
    >>> edges_of(2, 100.0).tolist()
    [0.0, 50.0, 100.0]
    """
    if is_whole(bins):
        return np.linspace(0.0, window, int(bins) + 1)
    edges = np.asarray(bins, np.float64)
    fits = edges.ndim == 1 and edges.size > 1 and bool((np.diff(edges) > 0).all())
    if not fits or edges[0] < 0 or edges[-1] > window:
        msg = (
            f"bins={bins!r} is neither a positive number of bins nor their edges, ascending from 0 "
            f"or more to at most the window ({window:g})"
        )
        raise ValueError(msg)
    return edges


def parts_of(n: int, contig: NDArray[Any] | None, parts: int) -> NDArray[np.int64]:
    """Cut variants into about ``parts`` equal runs that never span contigs; returns (variants,).

    Examples
    --------
    >>> parts_of(6, np.array([0, 0, 0, 0, 1, 1]), 3).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    contigs = np.zeros(n, np.int64) if contig is None else np.asarray(contig)
    starts = np.flatnonzero(np.r_[True, contigs[1:] != contigs[:-1]]) if n else np.zeros(0, int)
    out = np.empty(n, np.int64)
    first = 0
    for start, stop in zip(starts, [*starts[1:], n], strict=True):
        size = stop - start
        number = min(size, max(1, round(parts * size / n)))
        out[start:stop] = first + np.arange(size) * number // size
        first += number
    return out


def _tile(
    a: list[Any],
    b: list[Any] | None,
    last: NDArray[np.int64],
    shift: int,
    left: dict[str, NDArray[Any]],
    right: dict[str, NDArray[Any]],
    *,
    statistic: str,
    layout: Layout,
    edges: NDArray[np.float64],
) -> tuple[int, NDArray[np.int64]]:
    from genobit.ld.kernels.decay import sums_by_distance

    part = left["part"]
    first = int(part[0]) if part.size else 0
    other = None if b is None else as_rows(b, layout)
    places = left["place"], right["place"]
    return first, sums_by_distance(
        statistic, as_rows(a, layout), other, last, shift, places, part - first, edges
    )


def sums(
    planes: Planes,
    layout: Layout,
    statistic: str,
    along: GenomePositions,
    edges: NDArray[np.float64],
) -> Sums:
    """Sum the pairs in windows by part of the genome and bin of distance, in one pass of dask.

    Computes at once, one task for each pair of chunks that shares a window. Memory holds only the
    sums of the pairs.
    """
    from genobit.ld.kernels.decay import DISTANCE, PAIRS, UNIT, VALUE

    function = partial(_tile, statistic=statistic, layout=layout, edges=edges)
    values = {"place": along.place, "part": along.part}
    keys, graph = tiles.band_tiles(function, ordered(planes, layout), along.last, values)
    parts = int(along.part[-1]) + 1
    total = np.zeros((parts, edges.size - 1, 3), np.int64)
    for first, found in in_groups(keys, graph):
        total[first : first + len(found)] += found
    each = total.astype(np.float64)
    return Sums(
        each[:, :, PAIRS], each[:, :, VALUE] / UNIT, each[:, :, DISTANCE] * (edges[-1] / UNIT)
    )


def hill_weir(c: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the expectation of r2 at recombination parameters ``c``, in a sample of ``n``.

    Examples
    --------
    >>> hill_weir(np.array([0.0]), 10**9).round(4)
    array([0.4545])
    """
    product = (2 + c) * (11 + c)
    return (10 + c) / product * (1 + (3 + c) * (12 + 12 * c + c * c) / (n * product))


def half_parameter(n: int) -> float:
    """Return the parameter C at which the curve of a sample of ``n`` is half of its value at 0.

    NaN for small n, where the curve never falls to half: unlinked variants have E(r2) = 1 / n.
    """
    from scipy.optimize import brentq

    half = hill_weir(np.zeros(1), n)[0] / 2

    def above(c: float) -> float:
        return float(hill_weir(np.array([c]), n)[0] - half)

    far = 1e6
    return float(brentq(above, 0.0, far, xtol=1e-12)) if above(far) < 0 else np.nan


def fitted_rho(
    distance: NDArray[np.float64],
    mean: NDArray[np.float64],
    pairs: NDArray[np.float64],
    n: int,
    start: float | None = None,
) -> float:
    """Return the least-squares rho for the means of bins; NaN without a pair at a distance.

    The search begins at ``start``; by default at the best of a grid of orders of magnitude.
    """
    from scipy.optimize import least_squares

    kept = pairs > 0
    if not (distance[kept] > 0).any():
        return np.nan
    d, y = distance[kept], mean[kept]
    root = np.sqrt(pairs[kept] / pairs[kept].sum())
    far = float(d.max())
    grid = np.linspace(*LOG_RANGE, 61)
    if start is not None:
        # A resample may have another farthest bin, which can put the start out of range.
        grid = np.clip(np.log([start * far]), *LOG_RANGE)

    def residuals(log_c: NDArray[np.float64]) -> NDArray[np.float64]:
        return root * (hill_weir(np.exp(log_c[0]) * d / far, n) - y)

    costs = [float((residuals(np.array([x])) ** 2).sum()) for x in grid]
    best = least_squares(residuals, [grid[int(np.argmin(costs))]], bounds=LOG_RANGE, xtol=1e-10)
    return float(np.exp(best.x[0])) / far


def fit_of(
    mean: NDArray[np.float64],
    curve: NDArray[np.float64],
    distance: NDArray[np.float64],
    pairs: NDArray[np.float64],
    half: float,
) -> Fit:
    """Judge a fitted curve and its half-decay distance.

    Examples
    --------
    >>> d = np.linspace(1.0, 10.0, 10)
    >>> falls = hill_weir(d, 100)
    >>> fit_of(falls + 1e-4 * (-1) ** d, falls, d, np.ones(10), 1.7).verdict
    'fits'
    >>> fit_of(np.full(10, 0.2) + 1e-4 * (-1) ** d, falls, d, np.ones(10), 1.7).verdict
    'does not fit'
    """
    kept = pairs > 0
    y, w = mean[kept], pairs[kept]
    if y.size < 2:
        return Fit(MISFITS, np.nan, np.nan)
    constant = float(w @ (y - w @ y / w.sum()) ** 2)
    left = float(w @ (y - curve[kept]) ** 2)
    # Rounding error of the sums: a lower bound for means that lie on the curve.
    rounding = float(w @ y**2) * 2.0**-60
    left = max(left, rounding)
    constant = max(constant, rounding)
    r2, support = 1 - left / constant, y.size * float(np.log(constant / left))
    near, far = float(distance[kept].min()), float(distance[kept].max())
    if not (r2 >= LEAST_R2 and support >= LEAST_SUPPORT) or np.isnan(half):
        verdict = MISFITS
    elif half < near:
        verdict = BELOW
    else:
        verdict = FITS if half <= far else BEYOND
    return Fit(verdict, r2, support)


LOG_RANGE = (-14.0, 14.0)
"""Bounds of log C at the farthest bin: from no decay to a decay that ends before the first bin."""


def half_of_means(
    distance: NDArray[np.float64], mean: NDArray[np.float64], pairs: NDArray[np.float64]
) -> float:
    """Return the distance at which the means first fall to half of the first mean.

    Interpolates linearly between bins. Infinite if they never do, NaN without pairs.

    Examples
    --------
    >>> half_of_means(np.array([1.0, 3.0]), np.array([0.8, 0.2]), np.array([5.0, 5.0])).round(4)
    np.float64(2.3333)
    """
    kept = pairs > 0
    d, y = distance[kept], mean[kept]
    if not d.size:
        return np.nan
    low = np.flatnonzero(y <= y[0] / 2)
    if not low.size or low[0] == 0:
        return np.inf
    k = low[0]
    return d[k - 1] + (y[k - 1] - y[0] / 2) / (y[k - 1] - y[k]) * (d[k] - d[k - 1])


def _estimates(
    totals: Sums, middle: NDArray[np.float64], n: int, parameter: float, start: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float, float]:
    """Return means, distances, rho and both half-decay distances of sums (bins,)."""
    some = np.maximum(totals.pairs, 1)
    mean = np.where(totals.pairs > 0, totals.value / some, np.nan)
    distance = np.where(totals.pairs > 0, totals.distance / some, middle)
    rho = fitted_rho(distance, mean, totals.pairs, n, start)
    return mean, distance, rho, parameter / rho, half_of_means(distance, mean, totals.pairs)


def _intervals(values: NDArray[np.float64], confidence: float) -> NDArray[np.float64]:
    """Return percentile intervals (columns, 2) of resamples (resamples, columns).

    A column with a NaN has no interval.
    """
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    # Infinite values have no averages.
    found = np.quantile(values, tails, axis=0, method="inverted_cdf").T
    found[np.isnan(values).any(axis=0)] = np.nan
    return found


_NONE = (np.nan, np.nan, np.nan)


def decay(of_parts: Sums, edges: NDArray[np.float64], n: int, resampling: Resampling) -> Decay:
    """Return means, curve and half-decay distances with their intervals, from the sums of `sums`.

    ``edges`` are those of the bins, ``n`` is the number of correlated observations. One seed draws
    the same parts whatever the sums are.
    """
    middle = (edges[:-1] + edges[1:]) / 2
    parameter = half_parameter(n)
    totals = Sums(*(x.sum(axis=0) for x in of_parts))
    mean, distance, rho, half, of_means = _estimates(totals, middle, n, parameter)
    curve = hill_weir(rho * distance, n)
    fit = fit_of(mean, curve, distance, totals.pairs, half)
    # Means of the bins, then both half-decay distances.
    again = np.full((resampling.times, mean.size + 2), np.nan)
    parts = len(of_parts.pairs)
    if parts > 1 and totals.pairs.any():
        drawn = np.random.default_rng(resampling.seed).multinomial(
            parts, np.full(parts, 1 / parts), resampling.times
        )
        for k, times in enumerate(drawn.astype(np.float64)):
            drawn_sums = Sums(*(times @ x for x in of_parts))
            means, _, _, *both = _estimates(drawn_sums, middle, n, parameter, rho)
            again[k] = [*means, *both]
    intervals = _intervals(again, resampling.confidence)
    return Decay(
        mean,
        totals.pairs.astype(np.int64),
        distance,
        curve,
        rho,
        fit,
        (half, *intervals[-2].tolist()) if fit.verdict == FITS else _NONE,
        (of_means, *intervals[-1].tolist()),
        intervals[:-2],
    )
