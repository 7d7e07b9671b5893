"""Grids for papers: the share of cases in each genotype cell of the best combinations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from genobit.epistasis.plots.paper_cells import CellGrid, sized, texts_of
from genobit.epistasis.plots.paper_grid import LINE, TITLE, Layout, lay_out
from genobit.epistasis.plots.paper_legend import Key, draw_legend, legend_height
from genobit.epistasis.plots.penetrance import (
    ENOUGH,
    check_members,
    class_name,
    limits_of,
    quantity,
    reach_of,
    scaled,
)
from genobit.epistasis.result import Cells, Ranked, ranked
from genobit.visual.paper.page import MARGIN, Paper, size_of
from genobit.visual.paper.texts import text_size
from genobit.visual.style import three_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr
    from matplotlib.axes import Axes

#: Combinations on a page by default.
TOP = 4
#: Room beside a single grid for its key, in millimetres.
_KEY = 46.0
_GUTTER = 8.0


def paper_penetrance(
    result: xr.Dataset,
    rank: int | None = None,
    *,
    top: int = TOP,
    of_class: int = -1,
    ds: xr.Dataset | None = None,
) -> Paper:
    """Return the grids of the share of cases in every genotype cell, for a page.

    Parameters
    ----------
    result, of_class, ds
        As for `penetrance_heatmap`.
    rank
        Index of the only combination to draw. By default the first ``top`` are drawn.
    top
        Number of combinations to draw.

    Returns
    -------
        The page. All grids have one scale of colours. A grid of two members has sums at its edges:
        the share for each genotype of one member alone.

    Raises
    ------
    ValueError
        If the combinations have more than four members, the result has no combination or no
        genotype cells, or ``top`` is not positive.

    Examples
    --------
    >>> import xarray as xr
    >>> cells = np.zeros((1, 9, 2), "i4")
    >>> cells[0, 4] = 3, 7
    >>> result = xr.Dataset(
    ...     {
    ...         "variants": (("rank", "order"), [[3, 14]]),
    ...         "mi": ("rank", [0.25]),
    ...         "cells": (("rank", "cell", "class"), cells),
    ...     }
    ... )
    >>> paper_penetrance(result).height(90) < 80
    True
    """
    if top < 1:
        raise ValueError(f"top is {top}; give the number of combinations to draw, 1 or more")
    found = ranked(result, ds)
    return grids_of(found, range(min(top, found.size)) if rank is None else [rank], of_class)


def grids_of(
    found: Ranked, ranks: Sequence[int], of_class: int = -1, reach: float | None = None
) -> Paper:
    """Return the grids of combinations, for a page; ``reach`` as for `draw_cells`.

    Raises ValueError for more than four members, and for a result without combinations or
    genotype cells.
    """
    check_members(found)
    if not found.size:
        raise ValueError(
            "the result has no combination, so there are no cells to draw; a lower min_n or "
            "min_count of epistasis() keeps more"
        )
    grids = _Grids(
        found,
        [range(found.size)[rank] for rank in ranks],
        of_class,
        reach_of(found, of_class) if reach is None else reach,
    )
    return Paper(grids.draw, grids.height_of_page, whole=True)


@dataclass(frozen=True)
class _Grids:
    """The combinations ``ranks`` with one scale of colours."""

    found: Ranked
    ranks: list[int]
    of_class: int
    reach: float

    @cached_property
    def cells(self) -> list[Cells]:
        return [self.found.penetrance(rank, self.of_class) for rank in self.ranks]

    @cached_property
    def overall(self) -> float:
        """The share or mean over all samples of the drawn combinations: white."""
        n = np.array([part.n.sum() for part in self.cells])
        return float(np.average([part.overall for part in self.cells], weights=np.maximum(n, 1)))

    @cached_property
    def limits(self) -> tuple[float, float]:
        return limits_of(self.cells[0], self.overall, self.reach)

    @cached_property
    def sides(self) -> tuple[float, float]:
        """Room in millimetres for genotypes to the left of a grid, and to its right."""
        order = self.found.order
        if order == 1:
            return 0.0, 0.0
        rows = [text for rank in self.ranks for text in self.found.labels(rank, 0)]
        right = 0.0
        if order > 3:
            last = [text for rank in self.ranks for text in self.found.labels(rank, 3)]
            right = max(text_size(text)[0] for text in last) + 1.0 + LINE
        return max(text_size(text)[0] for text in [*rows, "any"]) + 1.6 + LINE, right

    def layout(self, width: float, height: float = np.inf) -> Layout:
        """Return the layout of the grids in the margins of a page."""
        pairs = [pair for cells in self.cells for pair in texts_of(cells)]
        needed = max(text_size(text, size)[0] for pair in pairs for text, size in sized(pair))
        room = width - 2 * MARGIN, height
        shape = (self.found.levels,) * self.found.order
        return lay_out(len(self.ranks), shape, self.sides, needed + 1.0, room)

    def key_beside(self, layout: Layout, width: float) -> float:
        """Return the width of the key beside a single grid, 0 if there is no room for it."""
        left = width - 2 * MARGIN - layout.width - _GUTTER
        return min(left, 70.0) if len(self.ranks) == 1 and left >= _KEY else 0.0

    def height_of_page(self, width: float) -> float:
        layout = self.layout(width)
        if beside := self.key_beside(layout, width):
            return max(layout.height, TITLE + legend_height(self.notes, beside)) + 2 * MARGIN
        key = legend_height(self.notes, width - 2 * MARGIN)
        return layout.height + _GUTTER / 2 + key + 2 * MARGIN

    @property
    def notes(self) -> list[str]:
        """Sentences that explain a cell."""
        found = self.found
        case = class_name(found, self.of_class) if not found.trait else ""
        below = "number of samples" if found.trait else f"{case} / samples"
        notes = [f"In each cell: {quantity(found, self.of_class)}, {below}."]
        if found.order == 2:
            notes.append("Edges: each variant alone.")
        unnamed = any(
            found.genotypes(rank, member)[0] == "0"
            for rank in self.ranks
            for member in range(found.order)
        )
        if unnamed:
            notes.append("0, 1, 2: copies of the counted allele.")
        counts = np.concatenate([cells.n.ravel() for cells in self.cells])
        if ((counts > 0) & (counts < ENOUGH)).any():
            notes.append(f"Strip of colour: fewer than {ENOUGH} samples.")
        if (counts == 0).any():
            notes.append("Grey: no samples.")
        return notes

    def draw(self, axes: Axes) -> None:
        width, height = size_of(axes)
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(height, 0))
        notes = self.notes
        key = legend_height(notes, width - 2 * MARGIN)
        layout = self.layout(width, height - 2 * MARGIN)
        beside = self.key_beside(layout, width)
        if not beside:
            layout = self.layout(width, height - 2 * MARGIN - key - _GUTTER / 2)
        for k, (rank, cells) in enumerate(zip(self.ranks, self.cells, strict=True)):
            x, y = layout.corner(k)
            colours = self.overall, self.reach
            place = MARGIN + x, MARGIN + y
            CellGrid(self.found, rank, cells, colours, layout, self.sides, *place).on(axes)
        low, high = self.limits
        write = three_digits if self.found.trait else "{:.2f}".format
        values = np.array([low, self.overall, high])
        at = scaled(values, self.overall, self.reach)
        scale = Key(quantity(self.found, self.of_class), [write(value) for value in values], at)
        if beside:
            left = MARGIN + layout.width + _GUTTER
            draw_legend(axes, scale, notes, (left, MARGIN + TITLE, beside), stacked=True)
        else:
            top = MARGIN + layout.height + _GUTTER / 2
            draw_legend(axes, scale, notes, (MARGIN, top, width - 2 * MARGIN))
