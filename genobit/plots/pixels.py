"""From a labelled LD matrix to the grid of pixels that a plot draws.

Variants lie anywhere on the chromosome; pixels are all alike. The axis says which is bent to
the other: "rank" gives every variant the same width, "position" cuts the chromosome into bins
of equal length (in Mb). A pixel of several pairs shows the one farthest from 0, so a single strong
pair is never averaged away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

Axis = Literal["rank", "position"]


@dataclass(frozen=True)
class Pixels:
    """One axis of a heatmap: `n` bins of equal width, each holding a run of variants.

    `first[k]:last[k]` are the variants of bin k (`last` is exclusive). On a position axis a bin
    that holds no variant repeats its nearest neighbour's, and `empty` counts such bins.
    """

    start: float
    width: float
    first: np.ndarray
    last: np.ndarray
    per_pixel: int
    empty: int

    @property
    def n(self) -> int:
        """Bins on this axis."""
        return len(self.first)

    @property
    def stop(self) -> float:
        """The far edge of the last bin."""
        return self.start + self.n * self.width


def lay_out(
    position: np.ndarray,
    axis: Axis,
    limit: int,
    first_rank: int = 0,
    rank_step: int = 1,
) -> Pixels:
    """Bins along one axis.

    Parameters
    ----------
    position
        Shape (variants,), ascending, base pairs.
    axis
        "rank" or "position".
    limit
        At most this many bins.
    first_rank, rank_step
        The rank of the first variant and from one variant to the next, for a window into a
        longer axis.

    Raises
    ------
    ValueError
        If there is no variant, the axis is unknown or the positions are not ascending.

    Examples
    --------
    >>> bins = lay_out(np.array([100, 200, 900]), "rank", limit=500)
    >>> bins.start, bins.stop, bins.per_pixel
    (-0.5, 2.5, 1)
    """
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


def strongest(matrix: np.ndarray, rows: Pixels, columns: Pixels) -> np.ndarray:
    """Take the value farthest from 0 in each pixel; NaN where all its pairs are NaN.

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
    # reduceat takes [start, stop) in turns and, where a stop is not beyond its start, the start
    # alone: what a bin of one variant needs. The last stop is the end of the matrix anyway.
    stops = np.where(bins.last - bins.first == 1, bins.first, bins.last)
    starts = np.column_stack([bins.first, stops]).ravel()
    starts = starts[:-1] if starts[-1] == len(matrix) else starts
    high = np.fmax.reduceat(matrix, starts, axis=0)[::2]
    low = np.fmin.reduceat(matrix, starts, axis=0)[::2]
    return np.where(-low > high, low, high)


def rotate(square: np.ndarray, outside: float) -> np.ndarray:
    """Turn the upper triangle of a square by 45 degrees, its base in the first row.

    Row d holds the pairs (i, i + d) as bricks two pixels wide, each row half a brick further
    than the one before; everything beside the triangle is `outside`.

    Parameters
    ----------
    square
        Shape (n, n).
    outside
        The value of pixels that are no pair.

    Returns
    -------
    Shape (n, 2 n): row d, column c shows the pair ((c - d) // 2, (c - d) // 2 + d).

    Examples
    --------
    >>> rotate(np.array([[1, 2], [2, 3]]), outside=-9)
    array([[ 1,  1,  3,  3],
           [-9,  2,  2, -9]])
    """
    n = len(square)
    rotated = np.full((n, 2 * n), outside, dtype=square.dtype)
    for distance in range(n):
        bricks = np.repeat(np.diagonal(square, distance), 2)
        rotated[distance, distance : distance + len(bricks)] = bricks
    return rotated


def labels(matrix: xr.DataArray, name: str, side: int, bins: Pixels) -> list[str]:
    """One text a bin for the hover: the value of coordinate `name`, or the first and last.

    Parameters
    ----------
    matrix
        An LD result with coordinates `{name}_{side}`.
    name
        "variant_id" or "variant_position".
    side
        0 for rows, 1 for columns.
    bins
        The bins of that axis.
    """
    coordinate = f"{name}_{side}"
    if coordinate not in matrix.coords:
        return [""] * bins.n
    values = matrix[coordinate].values
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


def pair_at(matrix: np.ndarray, bins: Pixels, shape: str, x: float, y: float) -> tuple[int, int]:
    """Find the pair that the pixel at (x, y) shows, for one set against itself.

    Parameters
    ----------
    matrix
        Shape (variants, variants).
    bins
        Of both axes.
    shape
        "square", or where the apex of the triangle points: "up" or "down".
    x, y
        In the units of the axes.

    Returns
    -------
    Indices along both sides; of the pairs in the pixel, the one farthest from 0.

    Raises
    ------
    ValueError
        If no pixel is there.

    Examples
    --------
    >>> matrix = np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> bins = lay_out(np.array([5, 9]), "rank", limit=500)
    >>> pair_at(matrix, bins, "square", x=1.2, y=0.1)
    (0, 1)
    >>> pair_at(matrix, bins, "down", x=0.5, y=-1.5)
    (0, 1)
    """
    if shape == "square":
        first, second = ((at - bins.start) / bins.width for at in (y, x))
    else:
        distance = np.floor(abs(y) / bins.width)
        half = np.floor((x - bins.start) / bins.width * 2)
        first = (half - distance) // 2
        second = first + distance
    i, j = int(np.floor(first)), int(np.floor(second))
    if not (0 <= i < bins.n and 0 <= j < bins.n):
        raise ValueError("there is no pair at the place that was clicked; click a coloured pixel")
    block = matrix[bins.first[i] : bins.last[i], bins.first[j] : bins.last[j]]
    size = np.where(np.isnan(block), -1.0, np.abs(block))
    row, column = np.unravel_index(int(np.argmax(size)), block.shape)
    return int(bins.first[i] + row), int(bins.first[j] + column)
