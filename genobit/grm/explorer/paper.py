"""Figure of relatedness for papers: the matrix, the principal components and the kinship."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from genobit.grm.plots.paper_kinship import KinshipPairs, draw_kinship, draw_relationships
from genobit.grm.plots.paper_matrix import ABOVE, BESIDE, MatrixPanel, draw_matrix, mark_selected
from genobit.pca.plots.paper_scatter import BELOW, LEFT, draw_scatter, key_of
from genobit.visual.paper.key import draw_key, key_height
from genobit.visual.paper.page import MARGIN, Paper, letter, panel, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import xarray as xr
    from matplotlib.axes import Axes

    from genobit.visual.colouring import Colouring

    KeyIn = Callable[[float, float], Colouring | None]
    #: Left, top, width and height in millimetres.
    Box = tuple[float, float, float, float]

#: From this width on, in millimetres, principal components and kinship stand beside the matrix.
BESIDE_FROM = 140.0
#: Share of the width for the side of the matrix on a wide page.
_SIDE = 0.444
_LETTERS = 1.5
_HEAD = ABOVE + 2.0


@dataclass(frozen=True)
class Relatedness:
    """Content of the figure; `selected` holds positions in the matrix."""

    matrix: MatrixPanel
    pcs: xr.Dataset
    pairs: KinshipPairs
    chosen: Colouring
    groups: np.ndarray
    colours: list[str]
    components: tuple[int, int]
    selected: Sequence[int] = ()

    def paper(self) -> Paper:
        """Return the figure."""
        key_in = key_of(self.pcs, self.chosen, *self.components)
        return Paper(
            lambda axes: _draw(axes, self, key_in),
            lambda width: _height(width, self, key_in),
            whole=True,
        )


def _height(width: float, drawn: Relatedness, key_in: KeyIn) -> float:
    beside = width >= BESIDE_FROM
    side = _SIDE * width if beside else width - BESIDE - 2 * MARGIN
    below = drawn.matrix.below(side)
    height = _without_key(width, side, below, beside=beside)
    (_, _, *size), _ = _boxes(width, height, side, below, beside=beside)
    return height + _key_height(key_in(*size), size[0])


def _without_key(width: float, side: float, below: float, *, beside: bool) -> float:
    """Return the height of the page without the rows of a key."""
    panels = 0.0 if beside else 2 * (_HEAD + 0.5 * (width - LEFT - MARGIN) + BELOW)
    return _HEAD + side + below + panels


def _key_height(key: Colouring | None, wide: float) -> float:
    """Return the room for a key, of which the room above the panel holds a row."""
    return max(key_height(key, wide) + 1.5 - _HEAD, 0.0)


def _draw(axes: Axes, drawn: Relatedness, key_in: KeyIn) -> None:
    axes.set_axis_off()
    width, height = size_of(axes)
    beside = width >= min(BESIDE_FROM, 1.25 * height)
    # The notes below the matrix take more lines where it is small.
    most = _SIDE * width if beside else min(width - BESIDE - 2 * MARGIN, 0.45 * height)
    side = most
    for _ in range(3):
        below = drawn.matrix.below(side)
        spare = height - _HEAD - below if beside else 0.6 * height - below
        side = min(most, spare)
    if side < 20:
        raise ValueError(
            f"ax is {width:.0f} × {height:.0f} mm, too small for the figure of relatedness; "
            "make it at least 100 × 70 mm"
        )
    matrix = draw_matrix(axes, drawn.matrix, MARGIN, _HEAD, side)
    mark_selected(matrix, drawn.matrix.arranged, drawn.selected)
    letter(matrix, "a", left=_LETTERS - MARGIN - BESIDE)
    below = drawn.matrix.below(side)
    usual = min(height, _without_key(width, side, below, beside=beside))
    (_, _, *size), _ = _boxes(width, usual, side, below, beside=beside)
    key = key_in(*size)
    rows = _key_height(key, size[0])
    first, second = _boxes(width, height, side, below, rows, beside=beside)
    _draw_components(axes, drawn, key, first)
    inner = panel(axes, *second)
    letter(inner, "c", left=_LETTERS - LEFT)
    if drawn.pairs.doubt:
        draw_relationships(inner, drawn.matrix.arranged, drawn.pairs.doubt)
        return
    label = drawn.chosen.name if drawn.chosen.categorical else ""
    draw_kinship(inner, drawn.pairs, drawn.groups, drawn.colours, label)


def _draw_components(axes: Axes, drawn: Relatedness, key: Colouring | None, box: Box) -> None:
    """Draw principal components into a box, under the key of groups if these overlap."""
    left, top, wide, _ = box
    draw_key(axes, key, left, top - key_height(key, wide) - 1.0, wide)
    inner = panel(axes, *box)
    letter(inner, "b", left=_LETTERS - LEFT)
    draw_scatter(inner, drawn.pcs, drawn.chosen, *drawn.components, named=key is None)


def _boxes(
    width: float, height: float, side: float, below: float, rows: float = 0.0, *, beside: bool
) -> tuple[Box, Box]:
    """Return the panels beside or below the matrix, the first under a key of this height."""
    left = MARGIN + BESIDE + side + LEFT + MARGIN if beside else LEFT
    top = rows + (_HEAD if beside else _HEAD + side + below + _HEAD)
    wide = width - left - MARGIN
    tall = (height - top - _HEAD - 2 * BELOW) / 2
    return (left, top, wide, tall), (left, top + tall + BELOW + _HEAD, wide, tall)
