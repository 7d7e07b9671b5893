"""Lines over an LD picture: outlines of haplotype blocks, and the pairs of chosen variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.labels import text
from genobit.ld.plots.result import contig_name
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    import xarray as xr

    from genobit.ld.plots.hover import Shape
    from genobit.visual.pixels import Pixels

BLOCK_COLOUR = LIGHT.ink
#: Segments (x, y, x1, y1).
Lines = list[tuple[float, ...]]


def outlines(
    matrix: xr.DataArray, at: np.ndarray, bins: Pixels, blocks: xr.Dataset | None, shape: Shape
) -> Lines:
    """Return the outlines of the haplotype blocks in a window; none if `blocks` is None.

    The variants are at coordinates `at` on the axis, with the bins `bins`. Raises ValueError if
    `blocks` is not the result of `.genobit.ld_blocks()`.
    """
    lines: Lines = []
    if blocks is not None:
        for start, end in zip(*_ends(matrix, at, bins, blocks), strict=True):
            lines += _square(start, end) if shape == "square" else _triangle(start, end, shape)
    return lines


def check_blocks(blocks: Any) -> None:
    """Raise ValueError unless the blocks have the positions of their ends."""
    if "first_position" not in blocks or "last_position" not in blocks:
        raise ValueError("blocks= needs the result of .genobit.ld_blocks()")


def _ends(
    matrix: xr.DataArray, at: np.ndarray, bins: Pixels, blocks: xr.Dataset
) -> tuple[np.ndarray, np.ndarray]:
    """Return start and end on the axis of the blocks in view, at the edges of their variants."""
    check_blocks(blocks)
    position = matrix["variant_position_1"].values
    first, last = blocks["first_position"].values, blocks["last_position"].values
    inside = (last > position[0]) & (first < position[-1])
    contig = contig_name(matrix, 1)
    if contig and "contig" in blocks:
        inside &= text(blocks["contig"].values) == contig
    start, end = (np.interp(x[inside], position, at) for x in (first, last))
    half = bins.width / 2 / max(bins.per_pixel, 1)
    return np.maximum(start - half, bins.start), np.minimum(end + half, bins.stop)


def _square(start: float, end: float) -> Lines:
    corners = [(start, start), (end, start), (end, end), (start, end)]
    return [(*a, *b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]


def _triangle(start: float, end: float, shape: Shape) -> Lines:
    middle, height = (start + end) / 2, (start - end) if shape == "down" else end - start
    return [
        (start, 0.0, end, 0.0),
        (start, 0.0, middle, height),
        (end, 0.0, middle, height),
    ]


def legs(at: float, bins: Pixels, shape: Shape, rows: Pixels | None = None) -> Lines:
    """Return lines through the pairs of one variant, which is at `at` on the axis.

    The bins of the other axis of a square are `rows`, if they differ from `bins`.
    """
    if shape == "square":
        rows = rows or bins
        return [(at, rows.start, at, rows.stop), (bins.start, at, bins.stop, at)]
    sign = -1 if shape == "down" else 1
    left, right = at - bins.start, bins.stop - at
    return [(at, 0.0, at - left / 2, sign * left), (at, 0.0, at + right / 2, sign * right)]
