"""One penetrance grid on paper: coloured cells, their texts, genotypes and title."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import PolyCollection

from genobit.epistasis.plots.paper_grid import LINE, TWO_LINES, Layout
from genobit.epistasis.plots.penetrance import ENOUGH, inks_of, scaled, shades_of
from genobit.epistasis.result import Cells, Ranked
from genobit.visual.paper.texts import fitted, text_size, write_text
from genobit.visual.style import three_digits
from genobit.visual.tokens import HAIRLINE_PT, LETTER_PT, LIGHT, NOTE_PT, TITLE_PT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Height of the strip of colour in a cell of few samples, in millimetres.
_STRIP = 0.8


@dataclass(frozen=True)
class CellGrid:
    """The grid of combination ``rank`` at a place of the page, ``left`` and ``top`` in millimetres.

    `colours` holds the value drawn white, and the reach of the scale. `sides` holds the widths for
    texts at the left and at the right of the cells.
    """

    found: Ranked
    rank: int
    cells: Cells
    colours: tuple[float, float]
    layout: Layout
    sides: tuple[float, float]
    left: float
    top: float

    def on(self, axes: Axes) -> None:
        """Draw the cells, their texts, the genotypes and the title."""
        layout, cells = self.layout, self.cells
        grid = layout.grid
        places = [np.column_stack([grid.x.ravel(), grid.y.ravel()])]
        for sum_, (x, y) in zip(sums_of(cells), _sum_places(layout), strict=True):
            places.append(np.column_stack(np.broadcast_arrays(x, y)).reshape(sum_.n.size, 2))
        at, parts = np.concatenate(places), (cells, *sums_of(cells))
        n = np.concatenate([part.n.ravel() for part in parts])
        values = np.concatenate([part.value.ravel() for part in parts])
        level = scaled(values, *self.colours)
        few = (n > 0) & (n < ENOUGH)
        self._boxes(axes, at, level, few)
        self._write_cells(axes, at, np.where(few, LIGHT.ink, inks_of(level)))
        self._write_title(axes)
        self._write_genotypes(axes)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return self.left + x * self.layout.wide, self.top + y * self.layout.high

    def _boxes(self, axes: Axes, at: np.ndarray, level: np.ndarray, few: np.ndarray) -> None:
        """Draw the cells; those of few samples have a strip, as their share is uncertain."""
        colours = np.where(np.isnan(level), LIGHT.rule, shades_of(level))
        size = np.array([self.layout.wide, self.layout.high])
        left, top = (np.array([self.left, self.top]) + at * size).T
        strip = top + size[1] - _STRIP
        frames = left, top, left + size[0], top + size[1]
        for box, colour, label in (
            (frames, np.where(few, LIGHT.paper, colours), "_cells"),
            ((left[few], strip[few], frames[2][few], frames[3][few]), colours[few], "_few"),
        ):
            drawn = PolyCollection(
                _corners(*box),
                facecolors=colour.tolist(),
                edgecolors=LIGHT.edge,
                linewidths=HAIRLINE_PT,
                label=label,
            )
            axes.add_collection(drawn, autolim=False)

    def _write_cells(self, axes: Axes, at: np.ndarray, inks: np.ndarray) -> None:
        layout = self.layout
        both = layout.high >= TWO_LINES
        lines = 2 if both else 1 if layout.high > 2.4 else 0
        for (x, y), pair, ink in zip(at, texts_of(self.cells), inks, strict=True):
            middle = self._at(x + 0.5, y + 0.5)
            offsets = (-1.25, 1.15) if both else (0.0,)
            for (text, size), down in list(zip(sized(pair), offsets, strict=False))[:lines]:
                if text_size(text, size)[0] > layout.wide:
                    continue
                write_text(
                    axes, middle[0], middle[1] + down, text, ha="center", color=ink, fontsize=size
                )

    def _write_title(self, axes: Axes) -> None:
        found, rank = self.found, self.rank
        start = self.left - self.layout.left
        y = self.top - self.layout.above
        place, width = f"{found.ranks[rank]}", self.layout.width
        indent = text_size(place, TITLE_PT, bold=True)[0] + 1.6
        write_text(axes, start, y + 1.2, place, fontsize=TITLE_PT, fontweight="bold")
        title = fitted(found.title(rank), (width - indent) / 1.08, TITLE_PT)
        write_text(axes, start + indent, y + 1.2, title, fontsize=TITLE_PT, fontweight="bold")
        line = _facts(found, rank, width - indent)
        write_text(axes, start + indent, y + 4.2, line, color=LIGHT.slate)

    def _write_genotypes(self, axes: Axes) -> None:
        found, rank, layout = self.found, self.rank, self.layout
        grid, order = layout.grid, found.order
        bottom = self.top + grid.down * layout.high
        member = min(order - 1, 1)
        for k, name in enumerate(found.labels(rank, member)):
            for x in np.unique(_along(grid.x, member, k)):
                self._column(axes, float(x), name, bottom)
        if grid.total_x is not None:
            self._column(axes, grid.total_x, "any", bottom)
        self._name(axes, member, (found.levels / 2 if order < 3 else grid.across / 2), bottom)
        if order == 1:
            return
        edge = self.left - 1.0
        for k, name in enumerate(found.labels(rank, 0)):
            for y in np.unique(_along(grid.y, 0, k)):
                write_text(axes, edge, self._at(0, y + 0.5)[1], name, ha="right")
        if grid.total_y is not None:
            write_text(axes, edge, self._at(0, grid.total_y + 0.5)[1], "any", ha="right")
        tall = (found.levels if order < 4 else grid.down) * layout.high
        turned = {"rotation": 90, "ha": "center", "color": LIGHT.ink}
        x = self.left - layout.left + LINE / 2
        write_text(axes, x, self.top + tall / 2, fitted(str(found.names[rank, 0]), tall), **turned)
        self._name_panels(axes)

    def _column(self, axes: Axes, x: float, text: str, bottom: float) -> None:
        text = fitted(text, self.layout.wide)
        write_text(axes, self._at(x + 0.5, 0)[0], bottom + 0.55 * LINE, text, ha="center")

    def _name(self, axes: Axes, member: int, x: float, bottom: float) -> None:
        wide = 2 * x * self.layout.wide
        text = fitted(str(self.found.names[self.rank, member]), wide)
        write_text(axes, self._at(x, 0)[0], bottom + 1.55 * LINE, text, ha="center")

    def _name_panels(self, axes: Axes) -> None:
        """Write the genotypes of a third member above the panels, and of a fourth beside them."""
        found, rank, grid = self.found, self.rank, self.layout.grid
        if found.order > 2:
            name = str(found.names[rank, 2])
            for k, text in enumerate(found.labels(rank, 2)):
                x = float(np.min(_along(grid.x, 2, k))) + found.levels / 2
                words = f"{name} {text}"
                wide = found.levels * self.layout.wide
                if text_size(words)[0] > wide:
                    short = fitted(name, wide - text_size(f" {text}")[0])
                    words = f"{short} {text}"
                write_text(axes, self._at(x, 0)[0], self.top - 0.6 * LINE, words, ha="center")
        if found.order > 3:
            right = self.left + grid.across * self.layout.wide
            name = fitted(str(found.names[rank, 3]), grid.down * self.layout.high)
            for k, text in enumerate(found.labels(rank, 3)):
                y = float(np.min(_along(grid.y, 3, k))) + found.levels / 2
                write_text(axes, right + 1.0, self._at(0, y)[1], text)
            x = right + self.sides[1] - LINE / 2
            y = self._at(0, grid.down / 2)[1]
            write_text(axes, x, y, name, rotation=90, ha="center")


def _corners(
    left: np.ndarray, top: np.ndarray, right: np.ndarray, bottom: np.ndarray
) -> list[np.ndarray]:
    """Return rectangles as corners (4, 2)."""
    corners = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1)
    return list(corners.reshape(-1, 4, 2))


def _along(offsets: np.ndarray, member: int, genotype: int) -> np.ndarray:
    """Return the offsets of the cells in which a member has this genotype."""
    return np.take(offsets, genotype, axis=member).ravel()


def sums_of(cells: Cells) -> list[Cells]:
    """Return the cells at the edges: over the rows, over the columns, and over both."""
    members = cells.n.ndim
    whole = Cells(
        cells.n.sum(keepdims=True).reshape(1),
        np.array([cells.overall]),
        None if cells.count is None else cells.count.sum(keepdims=True).reshape(1),
    )
    if members == 1:
        return [whole]
    return [cells.by(0), cells.by(1), whole] if members == 2 else []


def _sum_places(layout: Layout) -> list[tuple[np.ndarray | float, np.ndarray | float]]:
    grid, along = layout.grid, np.arange(len(layout.grid.x), dtype="f8")
    if grid.total_x is None:
        return []
    if grid.total_y is None:
        return [(grid.total_x, 0.0)]
    x, y = grid.total_x, grid.total_y
    return [(x, along), (along, y), (x, y)]


def texts_of(cells: Cells) -> list[tuple[str, str]]:
    """Return value and counts of each cell, then of the sums; both are empty in an empty cell."""
    out = []
    for part in (cells, *sums_of(cells)):
        counts = part.n if part.count is None else part.count
        for value, count, n in zip(part.value.ravel(), counts.ravel(), part.n.ravel(), strict=True):
            if part.count is None:
                texts = three_digits(value), f"n = {n:,}"
            else:
                texts = f"{value:.2f}", f"{count:,}/{n:,}"
            out.append(texts if n else ("", ""))
    return out


def sized(pair: tuple[str, str]) -> list[tuple[str, float]]:
    """Return the value and the counts of a cell, with their sizes of type."""
    return [(pair[0], NOTE_PT + 0.5), (pair[1], LETTER_PT)]


def _facts(found: Ranked, rank: int, width: float) -> str:
    """Return the score of a combination and its p-value among permutations, fitted to a width."""
    name, _, unit = found.label.replace(")", "").partition(" (")
    score = f"{name} {three_digits(found.scores[rank])}"
    parts = [f"{score} {unit}".strip()]
    if "p_familywise" in found.result:
        parts.append(f"family-wise P = {found.result['p_familywise'].values[rank]:#.2g}")
    if found.order > 2:
        # The grid of a pair has it at its corner.
        parts.append(f"n = {int(found.penetrance(rank).n.sum()):,}")
    text = ", ".join(parts)
    return text if text_size(text)[0] <= width else fitted(", ".join([score, *parts[1:]]), width)
