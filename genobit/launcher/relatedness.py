"""Figure of the relatedness of samples: their matrix, principal components and kinship."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from genobit.grm.plots.heatmap import arrange
from genobit.grm.plots.paper_kinship import KinshipPairs, draw_kinship, kinship_pairs
from genobit.grm.plots.paper_matrix import (
    ABOVE,
    BESIDE,
    MAX_PIXELS,
    MatrixPanel,
    draw_matrix,
    matrix_panel,
)
from genobit.grm.plots.paper_tree import group_codes
from genobit.pca.plots.paper_scatter import BELOW, LEFT, draw_scatter
from genobit.visual.colouring import Colouring, colouring_of
from genobit.visual.paper.page import MARGIN, Paper, letter, panel, size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import xarray as xr
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from genobit.data.autosomes import Autosomes

#: From this width on, in millimetres, principal components and kinship stand beside the matrix.
BESIDE_FROM = 140.0
#: Share of the width for the side of the matrix on a wide page.
_SIDE = 0.444
_LETTERS = 1.5
_HEAD = ABOVE + 2.0


@dataclass(frozen=True)
class _Drawn:
    """What the figure shows."""

    matrix: MatrixPanel
    pcs: xr.Dataset
    pairs: KinshipPairs
    chosen: Colouring
    groups: np.ndarray
    colours: list[str]
    components: tuple[int, int]


def relatedness(
    ds: xr.Dataset,
    *,
    colour_by: str | ArrayLike | xr.DataArray | None = None,
    method: str = "vanraden1",
    colour_limits: Sequence[float] | None = None,
    autosomes: Autosomes = True,
    components: Sequence[int] = (1, 2),
) -> Paper:
    """Return the figure of relatedness: relationship matrix, principal components and kinship.

    Parameters
    ----------
    ds
        Genotypes.
    colour_by
        Label of the samples that colours them ("population" also finds ``sample_population``), or
        a value for each sample. A DataArray or Series is aligned by its labels.
    method
        Method of the relationship matrix, as for ``ds.genobit.grm``.
    colour_limits
        Lowest and highest value of the colours of the matrix. By default, relatives saturate.
    autosomes
        Variants to use, as for ``ds.genobit.grm``. By default, contigs X, Y and MT are left out.
        The figure states how many variants that are.
    components
        The two principal components to draw, counted from 1.

    Returns
    -------
        The figure as `genobit.visual.paper.page.Paper`. From 140 mm of width on, the matrix stands
        beside the other two panels, else above them.

    Raises
    ------
    ValueError
        For fewer than three samples, and for an invalid option.
    KeyError
        For a label that the samples lack.

    Notes
    -----
    Kinship is KING-robust. Pairs with a kinship below -0.14 are counted in words and not drawn.
    From 50,000 pairs on, pairs that would lie on each other are drawn once, and the figure says so.

    Examples
    --------
    >>> import genobit, numpy as np, xarray as xr
    >>> calls = np.random.default_rng(0).integers(0, 2, (50, 6, 2), "int8")
    >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    >>> round(relatedness(ds).height(180))
    98
    """
    n_samples = ds.sizes["samples"]
    if n_samples < 3:
        raise ValueError(
            f"dimension 'samples' has {n_samples} of at least 3 samples that the figure of "
            "relatedness needs; draw .genobit.grm() instead"
        )
    first, second = _checked(components)
    chosen = colouring_of(ds, colour_by, "samples")
    named = chosen if chosen.name else None
    groups, colours = group_codes(named, n_samples)
    grm = ds.genobit.grm(method, autosomes=autosomes, compute=True)
    drawn = _Drawn(
        matrix_panel(arrange(grm, MAX_PIXELS), named, colour_limits),
        ds.genobit.pca(max(first, second), autosomes=autosomes),
        kinship_pairs(ds, groups, len(colours), autosomes),
        chosen,
        groups,
        colours,
        (first, second),
    )
    return Paper(lambda axes: _draw(axes, drawn), lambda width: _height(width, drawn), whole=True)


def _checked(components: Sequence[int]) -> tuple[int, int]:
    if len(components) != 2 or min(components) < 1:
        raise ValueError(f"components is {components}; give two numbers from 1 on, such as (1, 2)")
    return components[0], components[1]


def _height(width: float, drawn: _Drawn) -> float:
    if width >= BESIDE_FROM:
        side = _SIDE * width
        return _HEAD + side + drawn.matrix.below(side)
    side = width - BESIDE - 2 * MARGIN
    panels = 0.5 * (width - LEFT - MARGIN)
    return _HEAD + side + drawn.matrix.below(side) + 2 * (_HEAD + panels + BELOW)


def _draw(axes: Axes, drawn: _Drawn) -> None:
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
            f"the axes has {width:.0f} × {height:.0f} mm, too little for the figure of "
            "relatedness; give it at least 100 × 70 mm"
        )
    matrix = draw_matrix(axes, drawn.matrix, MARGIN, _HEAD, side)
    letter(matrix, "a", left=_LETTERS - MARGIN - BESIDE)
    boxes = _boxes(width, height, side, drawn.matrix.below(side), beside=beside)
    for text, box in zip("bc", boxes, strict=True):
        inner = panel(axes, *box)
        letter(inner, text, left=_LETTERS - LEFT)
        if text == "b":
            draw_scatter(inner, drawn.pcs, drawn.chosen, *drawn.components)
        else:
            label = drawn.chosen.name if drawn.chosen.categorical else ""
            draw_kinship(inner, drawn.pairs, drawn.groups, drawn.colours, label)


def _boxes(
    width: float, height: float, side: float, below: float, *, beside: bool
) -> list[tuple[float, float, float, float]]:
    """Return left, top, width and height of the two panels beside or below the matrix."""
    left = MARGIN + BESIDE + side + LEFT + MARGIN if beside else LEFT
    top = _HEAD if beside else _HEAD + side + below + _HEAD
    wide = width - left - MARGIN
    tall = (height - top - _HEAD - 2 * BELOW) / 2
    return [(left, top, wide, tall), (left, top + tall + BELOW + _HEAD, wide, tall)]
