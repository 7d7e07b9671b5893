"""Sizes of penetrance grids on paper: cells, panels of three genotypes, and their places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Gap between two panels, and between a panel and its margin of sums, in cells.
GAP, _APART = 0.4, 0.2
#: Height of a line of text, and of the two lines of a title, in millimetres.
LINE, TITLE = 2.8, 6.6
#: Smallest and largest width of a cell in millimetres; a single combination may have larger ones.
_LEAST, _MOST, _MOST_ALONE = 6.4, 18.0, 20.0
#: Smallest height of a cell with two lines of text, its usual limits, and its share of the width.
TWO_LINES, _LOWEST, _HIGHEST, _RATIO = 5.4, 6.0, 9.0, 0.65
#: From this number of rows of grids on, cells are low.
_MANY_ROWS = 3
#: Gap between two grids in millimetres.
_BETWEEN = 6.0


@dataclass(frozen=True)
class Grid:
    """Offsets of the cells of one combination, in cells from its upper left corner.

    `x` and `y`, (levels,) * order, are those of the cells. `total_x` and `total_y` are those of the
    sums over the rows and over the columns, None if the grid has none.
    """

    x: np.ndarray
    y: np.ndarray
    total_x: float | None
    total_y: float | None
    across: float
    down: float


def grid_of(shape: tuple[int, ...]) -> Grid:
    """Return the grid of a combination; one of two members has sums at its edges.

    Examples
    --------
    >>> grid_of((3, 3)).across, grid_of((3, 3, 3)).down
    (4.2, 3.0)
    """
    order, levels = len(shape), shape[0]
    genotypes = np.indices(shape).astype("f8")
    step = levels + GAP
    if order == 1:
        sums = levels + _APART
        return Grid(genotypes[0], 0 * genotypes[0], sums, None, sums + 1, 1.0)
    x = genotypes[1] + (step * genotypes[2] if order > 2 else 0)
    y = genotypes[0] + (step * genotypes[3] if order > 3 else 0)
    sums = levels + _APART if order == 2 else 0.0
    across, down = (float(side.max()) + 1 for side in (x, y))
    if order == 2:
        return Grid(x, y, sums, sums, sums + 1, sums + 1)
    return Grid(x, y, None, None, across, down)


@dataclass(frozen=True)
class Layout:
    """Places of the grids of a page in millimetres: `columns` of grids, and sizes of a cell.

    `left` is the room for genotypes beside a grid, `above` and `below` for title and genotypes.
    """

    grid: Grid
    columns: int
    rows: int
    wide: float
    high: float
    left: float
    above: float
    below: float

    @property
    def width(self) -> float:
        """Width of one grid with its texts."""
        return self.left + self.grid.across * self.wide

    @property
    def height(self) -> float:
        """Height of all grids with their texts."""
        one = self.above + self.grid.down * self.high + self.below
        return self.rows * one + (self.rows - 1) * 0.6 * _BETWEEN

    def corner(self, k: int) -> tuple[float, float]:
        """Return the upper left corner of the cells of grid number ``k``."""
        row, column = divmod(k, self.columns)
        one = self.above + self.grid.down * self.high + self.below + 0.6 * _BETWEEN
        return column * (self.width + _BETWEEN) + self.left, row * one + self.above


def lay_out(
    count: int,
    shape: tuple[int, ...],
    sides: tuple[float, float],
    needed: float,
    room: tuple[float, float],
) -> Layout:
    """Return the layout of ``count`` grids in a room, (width, height), in millimetres.

    ``sides`` are the rooms for texts to the left of a grid and to the right, and ``needed`` is the
    width of the texts of a cell. Grids stand side by side as far as these texts fit.

    Examples
    --------
    >>> layout = lay_out(4, (3, 3), (8.0, 0.0), 8.0, (174.0, np.inf))
    >>> layout.columns, layout.rows
    (2, 2)
    """
    grid, (left, right) = grid_of(shape), sides
    most = _MOST_ALONE if count == 1 else _MOST

    def cell(columns: int) -> float:
        each = (room[0] + _BETWEEN) / columns - _BETWEEN - left - right
        return min(each / grid.across, most)

    fitting = [k for k in range(1, count + 1) if cell(k) >= max(needed, _LEAST)]
    columns = max(fitting, default=1)
    rows = -(-count // columns)
    # The last row is as full as the others, if it can be.
    columns = -(-count // rows)
    wide = max(cell(columns), 0.1)
    above = TITLE + (LINE if len(shape) > 2 else 0.0)
    below = 2 * LINE + 0.4
    high = _LOWEST if rows >= _MANY_ROWS else float(np.clip(_RATIO * wide, _LOWEST, _HIGHEST))
    spare = (room[1] - (rows - 1) * 0.6 * _BETWEEN) / rows - above - below
    high = max(min(high, spare / grid.down), 0.1)
    return Layout(grid, columns, rows, wide, high, left, above, below)
