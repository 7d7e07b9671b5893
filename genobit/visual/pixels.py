"""Bin a labelled LD matrix into the grid of pixels that a plot draws.

Variants can be anywhere on the chromosome, but all pixels have equal widths. On a "rank" axis every
variant has the same width. A "position" axis cuts the chromosome into bins of equal length (in Mb).
A pixel may stand for several pairs. It shows the value farthest from 0, so that a single strong
pair stays visible, or the mean of the pairs, or the first pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from genobit.data.checks import check_integer
from genobit.data.labels import decoded

if TYPE_CHECKING:
    import xarray as xr

Axis = Literal["rank", "position"]
Aggregate = Literal["max", "mean", "sample"]
#: Width of the raster of a triangle in pixels, if the width on the screen is unknown.
ACROSS = 1_100
#: Aggregates for pixels of several pairs, with their wording in a title.
AGGREGATES = {"max": "strongest of", "mean": "mean of", "sample": "one of"}


@dataclass(frozen=True)
class Pixels:
    """One axis of a heatmap: `n` bins of equal width, each with a run of variants.

    `first[k]:last[k]` are the variants of bin k (`last` is exclusive). On a position axis, a bin
    without variants repeats the variant nearest to its middle, and `empty` counts such bins.
    """

    start: float
    width: float
    first: np.ndarray
    last: np.ndarray
    per_pixel: int
    empty: int

    @property
    def n(self) -> int:
        """Number of bins on this axis."""
        return len(self.first)

    @property
    def stop(self) -> float:
        """Upper edge of the last bin."""
        return self.start + self.n * self.width


def lay_out(
    position: np.ndarray,
    axis: Axis,
    limit: int,
    first_rank: int = 0,
    rank_step: int = 1,
) -> Pixels:
    """Cut one axis into at most `limit` bins.

    position: (variants,) ascending, in base pairs. In a window of a longer axis, `first_rank` is
    the rank of the first variant and `rank_step` the step to the next one. Raises ValueError if
    there is no variant, the axis is unknown, or positions on a position axis descend.

    Examples
    --------
    >>> bins = lay_out(np.array([100, 200, 900]), "rank", limit=500)
    >>> bins.start, bins.stop, bins.per_pixel
    (-0.5, 2.5, 1)
    """
    check_integer("max_pixels", limit)
    n_variants = len(position)
    if n_variants == 0:
        raise ValueError("there is no variant to draw: the window is empty")
    if axis == "rank":
        per_pixel = -(-n_variants // limit)
        first = np.arange(0, n_variants, per_pixel)
        last = np.minimum(first + per_pixel, n_variants)
        width = float(per_pixel * rank_step)
        return Pixels(first_rank - 0.5, width, first, last, per_pixel, 0)
    if axis != "position":
        raise ValueError(f'axis is {axis!r}; use "rank" or "position"')
    descending = np.flatnonzero(np.diff(position) < 0)
    if descending.size:
        raise ValueError(
            f"variant_position falls at index {descending[0] + 1} of dimension 'variants'; a "
            'position axis needs ascending positions: sort the Dataset, or use axis="rank"'
        )
    return _bins_of_equal_length(position, limit)


def _bins_of_equal_length(position: np.ndarray, limit: int) -> Pixels:
    span = float(position[-1] - position[0]) + 1
    n_bins = int(min(limit, span))
    width = span / n_bins
    start = float(position[0]) - 0.5
    edges = start + width * np.arange(n_bins + 1)
    cuts = np.searchsorted(position, edges)
    cuts[-1] = len(position)
    first, last = cuts[:-1].copy(), cuts[1:].copy()
    counts = last - first
    empty = np.flatnonzero(counts == 0)
    if empty.size:
        nearest = _nearest_variant(position, (edges[empty] + edges[empty + 1]) / 2)
        first[empty], last[empty] = nearest, nearest + 1
    return Pixels(start / 1e6, width / 1e6, first, last, int(counts.max()), int(empty.size))


def _nearest_variant(position: np.ndarray, at: np.ndarray) -> np.ndarray:
    right = np.clip(np.searchsorted(position, at), 1, max(len(position) - 1, 1))
    right = np.minimum(right, len(position) - 1)
    left = np.maximum(right - 1, 0)
    return np.where(at - position[left] <= position[right] - at, left, right)


def aggregated(
    matrix: np.ndarray, rows: Pixels, columns: Pixels, aggregate: Aggregate
) -> np.ndarray:
    """Reduce the pairs of each pixel to one value, NaN where no pair has a value.

    matrix: (variants, variants); returns (rows.n, columns.n). The aggregate "max" takes the value
    farthest from 0. "mean" averages the pairs that have a value. "sample" takes the pair of the
    first variants. Raises ValueError for another aggregate.

    Examples
    --------
    >>> bins = lay_out(np.arange(2), "rank", limit=1)
    >>> matrix = np.array([[0, 1], [np.nan, -4]], dtype="f4")
    >>> [float(aggregated(matrix, bins, bins, how)[0, 0]) for how in AGGREGATES]
    [-4.0, -1.0, 0.0]
    """
    if aggregate not in AGGREGATES:
        raise ValueError(f"aggregate is {aggregate!r}; use one of {', '.join(AGGREGATES)}")
    if aggregate == "max":
        return strongest(matrix, rows, columns)
    if aggregate == "sample" or rows.per_pixel == columns.per_pixel == 1:
        return matrix[np.ix_(rows.first, columns.first)]
    known = ~np.isnan(matrix)
    total, count = (
        _reduced(np.add, _reduced(np.add, values, rows).T, columns).T
        for values in (np.where(known, matrix, 0), known.astype("f4"))
    )
    with np.errstate(invalid="ignore"):
        return total / count


def strongest(matrix: np.ndarray, rows: Pixels, columns: Pixels) -> np.ndarray:
    """Return the value farthest from 0 in each pixel, NaN where all its pairs are NaN.

    matrix: (variants, variants); returns (rows.n, columns.n).

    Examples
    --------
    >>> bins = lay_out(np.arange(4), "rank", limit=2)
    >>> strongest(np.array([[-1, 0, 0, 0]] * 4, dtype="f4"), bins, bins)
    array([[-1.,  0.],
           [-1.,  0.]], dtype=float32)
    """
    return _strongest_rows(_strongest_rows(matrix, rows).T, columns).T


def _strongest_rows(matrix: np.ndarray, bins: Pixels) -> np.ndarray:
    if bins.per_pixel == 1:
        return matrix[bins.first]
    high = _reduced(np.fmax, matrix, bins)
    if np.fmin.reduce(matrix, axis=None) >= 0:
        return high
    low = _reduced(np.fmin, matrix, bins)
    return np.where(-low > high, low, high)


def _reduced(reduction: np.ufunc, matrix: np.ndarray, bins: Pixels) -> np.ndarray:
    """Reduce the rows of each bin to one row."""
    # Bin by bin, numpy runs along whole rows: 10 times as fast as one reduceat.
    matrix = np.ascontiguousarray(matrix)
    reduced = np.empty((bins.n, matrix.shape[1]), matrix.dtype)
    for row, first, last in zip(reduced, bins.first.tolist(), bins.last.tolist(), strict=True):
        reduction.reduce(matrix[first:last], axis=0, out=row)
    return reduced


def raster_width(n: int, across: int) -> int:
    """Return the width in pixels of the raster of a triangle of `n` bins, an even number.

    It is about `across`. Where bins are 4 pixels wide or more, all have the same whole number of
    pixels, up to one pixel in all. A bin is at least 2 pixels wide, so that each pair has a pixel.

    Examples
    --------
    >>> raster_width(192, 1100), raster_width(400, 1100), raster_width(1000, 1100)
    (1152, 1100, 2000)
    """
    whole = round(across / n)
    width = n * whole if whole >= 4 else max(across, 2 * n)
    return width + width % 2


def pair_of_pixel(n: int, width: int, column: Any, row: Any) -> tuple[Any, Any]:
    """Return the two bins that a pixel of the raster of a triangle shows, as numbers or arrays.

    Rows count from the base. A bin of the axis is width / n pixels wide. Measured in bins, the
    middle of the pixel has x = (column + 1/2) n / width. Its depth is (row + 1/2) n / width,
    because the sides of a diamond have 45 degrees. The diamond at this point has x - depth in its
    first bin and x + depth in its second bin. On the border of two diamonds, both bins are rounded
    towards the apex above the pixel. The picture is therefore its own mirror image.

    Examples
    --------
    >>> pair_of_pixel(n=2, width=8, column=3, row=2)
    (0, 1)
    """
    return (column - row) * n // width, ((column + row + 1) * n - 1) // width


def diamonds(square: np.ndarray, width: int, outside: int) -> np.ndarray:
    """Draw the upper triangle of a square turned by 45 degrees, with its base in the first row.

    square: (n, n); returns (width / 2, width). Each pair is a diamond, sampled at the middles of
    the pixels as `pair_of_pixel` says. Pixels outside of the triangle get the value `outside`.

    Examples
    --------
    >>> diamonds(np.array([[1, 2], [2, 3]]), width=8, outside=0)
    array([[1, 1, 1, 1, 3, 3, 3, 3],
           [0, 1, 1, 2, 2, 3, 3, 0],
           [0, 0, 2, 2, 2, 2, 0, 0],
           [0, 0, 0, 2, 2, 0, 0, 0]])
    """
    n, height = len(square), width // 2
    drawn = np.full((height, width), outside, dtype=square.dtype)
    # For a row, the two bins depend on column - row and on column + row alone.
    difference = np.arange(width)
    first, second = pair_of_pixel(n, width, difference, 0)
    starts, values = first * n, np.ascontiguousarray(square).ravel()
    for row in range(height):
        inside = starts[: width - 2 * row] + second[2 * row :]
        values.take(inside, out=drawn[row, row : width - row])
    return drawn


def labels(matrix: xr.DataArray, name: str, side: int, bins: Pixels) -> list[str]:
    """Return the hover text of each bin: the value of a coordinate, or its first and last values.

    `name` is "variant_id" or "variant_position"; `side` is 0 for rows and 1 for columns.
    """
    coordinate = f"{name}_{side}"
    if coordinate not in matrix.coords:
        return [""] * bins.n
    values = decoded(matrix[coordinate].values, coordinate)
    pattern = "{:,}" if values.dtype.kind in "iu" else "{}"
    firsts = [pattern.format(value) for value in values[bins.first]]
    if bins.per_pixel == 1:
        return firsts
    lasts = [pattern.format(value) for value in values[bins.last - 1]]
    counts = bins.last - bins.first
    return [
        a if count == 1 else f"{a} … {b} ({count})"
        for a, b, count in zip(firsts, lasts, counts, strict=True)
    ]


def pair_at(
    matrix: np.ndarray,
    bins: Pixels,
    shape: str,
    x: float,
    y: float,
    aggregate: Aggregate = "max",
    across: int = ACROSS,
) -> tuple[int, int]:
    """Return the pair of variants that the pixel at (x, y) shows, for one set against itself.

    matrix: (variants, variants).
    `shape` is "square", or the direction of the apex of the triangle: "up" or "down". A triangle is
    drawn `across` pixels wide. The aggregate "sample" gives the first pair in the pixel; others
    give the pair farthest from 0. Raises ValueError if there is no pixel at that place.

    Examples
    --------
    >>> matrix = np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> bins = lay_out(np.array([5, 9]), "rank", limit=500)
    >>> pair_at(matrix, bins, "square", x=1.2, y=0.1)
    (0, 1)
    >>> pair_at(matrix, bins, "down", x=0.5, y=-1.0)
    (0, 1)
    """
    if shape == "square":
        i, j = (int(np.floor((at - bins.start) / bins.width)) for at in (y, x))
    else:
        width = raster_width(bins.n, across)
        pixel = bins.n * bins.width / width
        column, row = int(np.floor((x - bins.start) / pixel)), int(abs(y) / (2 * pixel))
        i, j = pair_of_pixel(bins.n, width, column, row)
    if not (0 <= i < bins.n and 0 <= j < bins.n):
        raise ValueError("there is no pair at the place that was clicked; click a coloured pixel")
    if aggregate == "sample":
        return int(bins.first[i]), int(bins.first[j])
    block = matrix[bins.first[i] : bins.last[i], bins.first[j] : bins.last[j]]
    size = np.where(np.isnan(block), -1.0, np.abs(block))
    a, b = np.unravel_index(int(np.argmax(size)), block.shape)
    return int(bins.first[i] + a), int(bins.first[j] + b)
