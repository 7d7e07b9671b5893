"""Clustered relationship matrix for papers: tree, strip of groups, matrix and colour bar."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.patches import Rectangle

from genobit.data import model
from genobit.data.selection_by_label import members
from genobit.grm.plots.heatmap import OrderedMatrix, arrange
from genobit.grm.plots.paper_tree import Block, Nodes, blocks_of, draw_tree, group_codes, nodes_of
from genobit.grm.plots.result import measure_of
from genobit.visual.colouring import Colouring, colouring_of, labels_of_side, one_colour_each
from genobit.visual.paper.key import draw_key, key_height
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.texts import (
    block_size,
    left_out,
    lines_of,
    millimetres,
    wrapped,
)
from genobit.visual.style import DIVERGING, Scale, number
from genobit.visual.tokens import AXIS_PT, BASE_PT, LIGHT, NOTE_PT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

#: Most cells drawn on a side: about the pixels of a printed page.
MAX_PIXELS = 1_000
#: Millimetres left of the matrix: margin, tree and strip. Above: names of blocks.
BESIDE, ABOVE = 17.0, 4.5
_TREE, _STRIP, _GAP = 12.5, 1.9, 0.5
_BAR_BELOW, _BAR_HEIGHT = 2.3, 1.7
#: Share of the side for the colour bar, and millimetres from it to the texts at its right.
_BAR, _BESIDE_BAR = 0.34, 5.5
_NOTE = 1.25 * millimetres(NOTE_PT)
_NICE = np.array([1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10])


@dataclass(frozen=True)
class MatrixPanel:
    """A relationship matrix in drawing order with the colours, tree and blocks of its samples.

    `groups` is the group of each rank, and `palette` has the colour of each group. Without groups,
    each rank is in group 0. `each` is the colour of each rank in the strip, None without a strip.
    """

    arranged: OrderedMatrix
    scale: Scale
    nodes: Nodes
    blocks: list[Block]
    names: list[str]
    palette: list[str]
    each: np.ndarray | None
    chosen: Colouring | None
    notes: list[str]

    @property
    def label(self) -> str:
        """Name of the measure, for the colour bar."""
        text = measure_of(self.arranged.matrix).name
        return text[:1].upper() + text[1:]

    def lines(self, side: float) -> tuple[list[str], list[str]]:
        """Return the lines beside the colour bar: its label, and the notes."""
        room = (1 - _BAR) * side - _BESIDE_BAR + 1
        return wrapped(self.label, room, BASE_PT), lines_of(self.notes, room, NOTE_PT)

    def below(self, side: float) -> float:
        """Return the millimetres below a matrix of this side: the colour bar and the notes."""
        label, notes = self.lines(side)
        text = _BAR_BELOW + 1.2 * millimetres(BASE_PT) * len(label) + _NOTE * len(notes) + 0.5
        return max(text, _BAR_BELOW + _BAR_HEIGHT + 4.0) + MARGIN


def paper_heatmap(
    grm: xr.DataArray,
    *,
    colour_by: Colouring | str | ArrayLike | xr.DataArray | None = None,
    selected: Sequence[int] | Sequence[str] = (),
    max_pixels: int = MAX_PIXELS,
    colour_limits: Sequence[float] | None = None,
) -> Paper:
    """Return a relationship matrix as a clustered heatmap for papers.

    Parameters
    ----------
    grm, colour_by, selected, max_pixels
        As for `genobit.plots.grm_heatmap`. Lines separate the groups that the tree separates.
        Selected samples have marks at the right and below.
    colour_limits
        Lowest and highest value of the colours. By default relatives saturate: the limits are
        twice those of `genobit.plots.grm_heatmap`.

    Returns
    -------
        The plot as `genobit.visual.paper.page.Paper`.

    Raises
    ------
    ValueError, KeyError
        If `grm` is not a relationship matrix, a label does not exist, or limits do not ascend.

    Examples
    --------
    >>> import xarray as xr
    >>> grm = xr.DataArray([[1.0, 0.5], [0.5, 1.0]], dims=("samples_0", "samples_1"), name="gcta")
    >>> round(paper_heatmap(grm).height(90))
    86
    """
    chosen = None
    arranged = arrange(grm, max_pixels)
    if colour_by is not None:
        chosen = colouring_of(labels_of_side(arranged.matrix), colour_by, "samples")
    marked = members(grm, selected, model.SAMPLES, "selected")
    return paper_of_panel(matrix_panel(arranged, chosen, colour_limits), marked)


def paper_of_panel(shown: MatrixPanel, selected: Sequence[int] = ()) -> Paper:
    """Return the panel for papers, with a key of its groups; ``selected``: positions in it."""

    def side_of(width: float) -> float:
        return width - BESIDE - 2 * MARGIN

    def height(width: float) -> float:
        side = side_of(width)
        return MARGIN + ABOVE + side + shown.below(side) + _key_height(shown, side)

    def draw(axes: Axes) -> None:
        axes.set_axis_off()
        width, tall = size_of(axes)
        side = side_of(width)
        for _ in range(3):  # the height of the notes depends on the side
            spare = tall - MARGIN - ABOVE - shown.below(side) - _key_height(shown, side)
            side = min(side_of(width), spare)
        matrix = draw_matrix(axes, shown, MARGIN, MARGIN + ABOVE, side)
        mark_selected(matrix, shown.arranged, selected)
        top = tall - key_height(shown.chosen, BESIDE + side) - 1.5
        draw_key(axes, shown.chosen, MARGIN, top, BESIDE + side)

    return Paper(draw, height, whole=True)


def matrix_panel(
    arranged: OrderedMatrix,
    chosen: Colouring | None,
    colour_limits: Sequence[float] | None = None,
) -> MatrixPanel:
    """Return what the panel shows of arranged samples; ``chosen`` colours their groups."""
    tree = arranged.tree
    groups, palette = group_codes(chosen, arranged.n_samples)
    names = list(chosen.colours) if chosen else []
    nodes = nodes_of(tree, groups)
    blocks = blocks_of(nodes, groups[tree.order], len(names)) if names else []
    each = None if chosen is None else one_colour_each(chosen)[tree.order]
    scale = _scale(arranged, colour_limits)
    return MatrixPanel(
        arranged, scale, nodes, blocks, names, palette, each, chosen, _notes(arranged)
    )


def _scale(arranged: OrderedMatrix, limits: Sequence[float] | None) -> Scale:
    scale, measure = arranged.scale, measure_of(arranged.matrix)
    if limits is None and scale.limits[0] < 0:
        reach = 2 * scale.limits[1]
        step = 10.0 ** np.floor(np.log10(reach))
        reach = step * float(_NICE[np.argmin(np.abs(np.log(_NICE * step / reach)))])
        limits = -min(reach, measure.own or reach), min(reach, measure.own or reach)
    if limits is None:
        return scale
    if not (len(limits) == 2 and limits[0] < limits[1]):
        raise ValueError(
            f"colour_limits is {limits}; give the lowest and the highest value of the colours, "
            "such as (-0.6, 0.6)"
        )
    stops = DIVERGING if measure.signed and limits[0] < 0 else scale.stops
    return replace(scale, limits=(float(limits[0]), float(limits[1])), stops=stops)


def _notes(arranged: OrderedMatrix) -> list[str]:
    """Return what the panel shows and what it leaves out."""
    attrs = arranged.matrix.attrs
    first = number(arranged.n_samples, "sample")
    if "variants" in attrs:
        first += f", {number(int(attrs['variants']), 'variant')}"
    return [first, *left_out(attrs), *arranged.notes("cell")]


def draw_matrix(axes: Axes, shown: MatrixPanel, left: float, top: float, side: float) -> Axes:
    """Draw the panel at a place in millimetres; return the axes of the matrix.

    The panel is `BESIDE` + side wide. It reaches `ABOVE` over ``top``, and `MatrixPanel.below`
    under the matrix.
    """
    n = shown.arranged.n_samples
    tree = panel(axes, left, top, _TREE, side)
    draw_tree(tree, shown.nodes, shown.palette, n)
    strip = panel(axes, left + _TREE + _GAP, top, _STRIP, side)
    _draw_strip(strip, shown)
    matrix = panel(axes, left + BESIDE, top, side, side)
    _draw_image(matrix, shown)
    _draw_blocks(matrix, shown)
    bar = panel(axes, left + BESIDE, top + side + _BAR_BELOW, _BAR * side, _BAR_HEIGHT)
    _draw_bar(bar, shown, side)
    return matrix


def _draw_image(axes: Axes, shown: MatrixPanel) -> None:
    bins, n = shown.arranged.bins, shown.arranged.n_samples
    axes.imshow(
        np.ma.masked_invalid(shown.arranged.pixels),
        cmap=_shades(shown.scale),
        norm=Normalize(*shown.scale.limits),
        extent=(bins.start, bins.stop, bins.stop, bins.start),
        interpolation="none",
        aspect="auto",
    )
    axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), xticks=[], yticks=[])
    _frame(axes)


def _shades(scale: Scale) -> Colormap:
    shades = LinearSegmentedColormap.from_list("genobit", list(scale.stops))
    return shades.with_extremes(bad=LIGHT.no_value)


def _frame(axes: Axes) -> None:
    for spine in axes.spines.values():
        spine.set(visible=True, linewidth=AXIS_PT, color=LIGHT.edge)


def _draw_strip(axes: Axes, shown: MatrixPanel) -> None:
    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(shown.arranged.n_samples - 0.5, -0.5))
    if shown.each is None:
        return
    bins, each = shown.arranged.bins, shown.each
    cells = [
        Counter(each[a:b].tolist()).most_common(1)[0][0]
        for a, b in zip(bins.first, bins.last, strict=True)
    ]
    cuts = [0, *(k for k in range(1, bins.n) if cells[k] != cells[k - 1]), bins.n]
    for a, b in pairwise(cuts):
        low, tall = bins.start + bins.width * a, bins.width * (b - a)
        axes.add_patch(Rectangle((0, low), 1, tall, facecolor=cells[a], linewidth=0))


def _draw_blocks(axes: Axes, shown: MatrixPanel) -> None:
    """Draw lines between the blocks, and their names above as far as there is room."""
    width, height = size_of(axes)
    n = shown.arranged.n_samples
    # Lines around a few samples would hide them.
    edges = [b.first - 0.5 for a, b in pairwise(shown.blocks) if min(a.size, b.size) > 0.02 * n]
    lines = [[(at, -0.5), (at, n - 0.5)] for at in edges]
    lines += [[(-0.5, at), (n - 0.5, at)] for at in edges]
    axes.add_collection(LineCollection(lines, colors=LIGHT.ink, linewidths=AXIS_PT))
    for block in shown.blocks:
        name = " + ".join(shown.names[k] for k in block.groups)
        for text in (f"{name}  ({block.size:,})", name):
            if block_size(text)[0] <= width * block.size / n - 0.5:
                middle = (block.first + block.last + 1) / 2 / n
                axes.text(
                    middle,
                    1 + 1.0 / height,
                    text,
                    ha="center",
                    transform=axes.transAxes,
                )
                break


def _draw_bar(axes: Axes, shown: MatrixPanel, side: float) -> None:
    """Draw the colour bar, with its label and the notes at its right."""
    low, high = shown.scale.limits
    axes.imshow(
        np.linspace(low, high, 256)[None],
        cmap=_shades(shown.scale),
        norm=Normalize(low, high),
        extent=(low, high, 0, 1),
        interpolation="none",
        aspect="auto",
    )
    _frame(axes)
    values = shown.arranged.matrix.values
    ticks = np.linspace(low, high, 5)
    texts = [f"{tick:.3g}".replace("-", "\N{MINUS SIGN}") for tick in ticks]
    if side < 75 or max(map(len, texts)) > 4:
        ticks, texts = ticks[::2], texts[::2]
    if np.nanmin(values, initial=low) < low:
        texts[0] = f"≤ {texts[0]}"
    if np.nanmax(values, initial=high) > high:
        texts[-1] = f"≥ {texts[-1]}"
    axes.set_yticks([])
    axes.set_xticks(ticks, texts)
    label, notes = shown.lines(side)
    at, (width, height) = 0.0, size_of(axes)
    lines = [(text, BASE_PT, LIGHT.ink, 1.2) for text in label]
    lines += [(text, NOTE_PT, LIGHT.slate, 1.25) for text in notes]
    for text, size, colour, step in lines:
        axes.text(
            1 + _BESIDE_BAR / width,
            1 + (0.4 - at) / height,
            text,
            fontsize=size,
            color=colour,
            va="top",
            transform=axes.transAxes,
        )
        at += step * millimetres(size)


def mark_selected(axes: Axes, arranged: OrderedMatrix, selected: Sequence[int]) -> None:
    """Mark selected samples at the right of the matrix and below."""
    if not len(selected):
        return
    at = arranged.tree.rank[np.asarray(selected, "i8")]
    n, side = arranged.n_samples, size_of(axes)[0]
    far, deep = n - 0.5 + n * 0.6 / side, n - 0.5 + n * 1.4 / side
    lines = [[(far, k), (deep, k)] for k in at] + [[(k, far), (k, deep)] for k in at]
    marks = LineCollection(lines, colors=LIGHT.accent, linewidths=0.9, clip_on=False)
    axes.add_collection(marks, autolim=False)


def _key_height(shown: MatrixPanel, side: float) -> float:
    found = key_height(shown.chosen, BESIDE + side)
    return 1.5 + found if found else 0.0
