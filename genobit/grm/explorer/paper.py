"""Figure of relatedness for papers: the matrix, the principal components and the kinship."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from genobit.grm.plots.paper_kinship import KinshipPairs, draw_kinship
from genobit.grm.plots.paper_matrix import ABOVE, BESIDE, MatrixPanel, draw_matrix, mark_selected
from genobit.pca.plots.paper_scatter import BELOW, LEFT, draw_scatter, key_of
from genobit.visual.paper.key import draw_key, key_height
from genobit.visual.paper.page import MARGIN, Paper, letter, panel, size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import xarray as xr
    from matplotlib.axes import Axes

    from genobit.visual.colouring import Colouring

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
        return Paper(lambda axes: _draw(axes, self), lambda width: _height(width, self), whole=True)


def _height(width: float, drawn: Relatedness) -> float:
    if width >= BESIDE_FROM:
        side = _SIDE * width
        return _HEAD + side + drawn.matrix.below(side)
    side = width - BESIDE - 2 * MARGIN
    panels = 0.5 * (width - LEFT - MARGIN)
    return _HEAD + side + drawn.matrix.below(side) + 2 * (_HEAD + panels + BELOW)


def _draw(axes: Axes, drawn: Relatedness) -> None:
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
    first, second = _boxes(width, height, side, drawn.matrix.below(side), beside=beside)
    _draw_components(axes, drawn, first)
    inner = panel(axes, *second)
    letter(inner, "c", left=_LETTERS - LEFT)
    label = drawn.chosen.name if drawn.chosen.categorical else ""
    draw_kinship(inner, drawn.pairs, drawn.groups, drawn.colours, label)


def _draw_components(
    axes: Axes, drawn: Relatedness, box: tuple[float, float, float, float]
) -> None:
    """Draw principal components into a box, under the key of groups if these overlap."""
    left, top, wide, tall = box
    scores = drawn.pcs["scores"].transpose("samples", "components").values.astype("f8")
    at, up = (scores[:, component - 1] for component in drawn.components)
    key = key_of(drawn.chosen, at, up, (wide, tall))
    # The room above the panel holds a row of the key.
    lower = max(key_height(key, wide) + 1.5 - _HEAD, 0.0)
    draw_key(axes, key, left, top + lower - key_height(key, wide) - 1.0, wide)
    inner = panel(axes, left, top + lower, wide, tall - lower)
    letter(inner, "b", left=_LETTERS - LEFT)
    draw_scatter(inner, drawn.pcs, drawn.chosen, *drawn.components, named=key is None)


def _boxes(
    width: float, height: float, side: float, below: float, *, beside: bool
) -> list[tuple[float, float, float, float]]:
    """Return left, top, width and height of the two panels beside or below the matrix."""
    left = MARGIN + BESIDE + side + LEFT + MARGIN if beside else LEFT
    top = _HEAD if beside else _HEAD + side + below + _HEAD
    wide = width - left - MARGIN
    tall = (height - top - _HEAD - 2 * BELOW) / 2
    return [(left, top, wide, tall), (left, top + tall + BELOW + _HEAD, wide, tall)]
