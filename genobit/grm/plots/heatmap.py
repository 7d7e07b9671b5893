"""Clustered heatmap of a relationship matrix, with its tree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import ColumnDataSource

from genobit.data import model
from genobit.data.selection_by_label import members
from genobit.grm.plots.result import computed, measure_of, pair_values, sample_names, scale_for
from genobit.visual.clusters import CLUSTERED_SAMPLES, Dendrogram, cluster
from genobit.visual.colouring import (
    Colouring,
    colouring_of,
    key_hook,
    labels_of_side,
    one_colour_each,
)
from genobit.visual.pixels import Pixels, lay_out, strongest
from genobit.visual.style import (
    SELECTED_COLOUR,
    WHITE,
    Scale,
    add_image_hover,
    matrix_image,
    number,
    plain_frame,
    with_hooks,
)
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import xarray as xr
    from numpy.typing import ArrayLike

#: Side of the square, in screen pixels.
SQUARE = 352
#: Positions around the square, as shares of its side: both edges of the strip, both ends of the
#: tree, the selection marks, and the margin outside.
STRIP = (-0.012, -0.042)
TREE = (-0.05, -0.27)
MARKS = 0.012
ROOM = 0.025
#: Most cells drawn on a side; more than the screen has pixels cannot be seen.
MAX_PIXELS = 500

# image_index counts columns from the left and rows from the bottom.
_PAIR = """
const {i, j} = special_vars.image_index
const text = samples.data.text
if (format == "first") return text[j] ?? ""
if (format == "second") return text[i] ?? ""
return isNaN(value) || value <= -9 ? "none" : value.toFixed(4)
"""


@dataclass(frozen=True)
class OrderedMatrix:
    """Relationship matrix in drawing order, with its tree, its pixels and its colour scale."""

    matrix: xr.DataArray
    pairs: np.ndarray
    tree: Dendrogram
    bins: Pixels
    pixels: np.ndarray
    scale: Scale

    @property
    def n_samples(self) -> int:
        """Number of samples on each side."""
        return len(self.tree.order)

    def notes(self, cell: str) -> list[str]:
        """Return what a reader has to know: shared cells (as ``cell`` names them), order, gaps."""
        notes, per = [], self.bins.per_pixel
        if per > 1:
            notes.append(f"{cell}: farthest from 0 of {per} × {per} samples")
        if self.n_samples > CLUSTERED_SAMPLES:
            notes.append(f"not clustered: more than {CLUSTERED_SAMPLES:,} samples")
        if self.tree.without:
            notes.append(f"grey: no value, {number(self.tree.without, 'sample')}")
        elif np.isnan(self.pixels).any():
            notes.append("grey: no value")
        return notes


def arrange(grm: xr.DataArray, max_pixels: int = MAX_PIXELS) -> OrderedMatrix:
    """Order the samples of a relationship matrix by its tree and choose its pixels and colours.

    A lazy ``grm`` is computed. More than ``max_pixels`` samples share pixels; each pixel shows the
    pair farthest from 0. Raises ValueError if ``grm`` is not a relationship matrix or has no
    sample.
    """
    matrix = computed(grm)
    pairs = pair_values(matrix)
    tree = cluster(matrix.values, pairs)
    bins = lay_out(np.arange(len(tree.order)), "rank", max_pixels)
    pixels = _ordered_pixels(matrix.values, tree.order, bins)
    return OrderedMatrix(matrix, pairs, tree, bins, pixels, scale_for(matrix, pairs))


def _ordered_pixels(values: np.ndarray, order: np.ndarray, bins: Pixels) -> np.ndarray:
    """Return the pixels of values[order][:, order] without a second matrix of that size."""
    drawn = np.empty((bins.n, bins.n), "f4")
    alone = lay_out(np.arange(1), "rank", 1)
    for k, (first, last) in enumerate(zip(bins.first, bins.last, strict=True)):
        block = values[order[first:last]][:, order]
        rows = lay_out(np.arange(last - first), "rank", 1) if last - first > 1 else alone
        drawn[k] = strongest(block, rows, bins)[0]
    return drawn


def grm_heatmap(
    grm: xr.DataArray,
    *,
    colour_by: Colouring | str | ArrayLike | xr.DataArray | None = None,
    selected: Sequence[int] | Sequence[str] = (),
    max_pixels: int = MAX_PIXELS,
) -> hv.Overlay:
    """Draw a relationship matrix as a heatmap, with samples ordered by a clustering tree.

    Parameters
    ----------
    grm
        Result of `.genobit.grm()` or `genobit.open_gcta()`. Samples without any value are drawn
        last, in grey.
    colour_by
        Name of the label to draw as a coloured strip along the rows. Omit the suffix `_0`; the
        prefix `sample_` is optional. "population" selects `population_0` or `sample_population_0`.
        Values, one for each sample, are accepted too. A DataArray or Series is aligned by its
        labels.
    selected
        Ids or positions of the samples to mark; all others become paler.
    max_pixels
        Largest number of pixels on a side. With more samples, each pixel covers several pairs and
        shows the value farthest from 0.

    Returns
    -------
        hv.Image * hv.Rectangles (paler samples) * hv.Segments (marks) * hv.Rectangles (strip) *
        hv.Segments (the tree).

    Raises
    ------
    ValueError
        If `grm` is not a relationship matrix, or has no sample.
    KeyError
        If `grm` has no such label, or an id of ``selected`` is unknown.

    Examples
    --------
    >>> import xarray as xr
    >>> grm = xr.DataArray([[1.0, 0.5], [0.5, 1.0]], dims=("samples_0", "samples_1"), name="gcta")
    >>> grm_heatmap(grm).Image.I.bounds.lbrt()
    (-0.5, -0.5, 1.5, 1.5)
    """
    arranged = arrange(grm, max_pixels)
    strip = None
    if colour_by is not None:
        strip = colouring_of(labels_of_side(arranged.matrix), colour_by, "samples")
    drawn = draw_heatmap(arranged, members(grm, selected, model.SAMPLES, "selected"), strip)
    return drawn if strip is None else with_hooks(drawn, key_hook(strip))


def draw_heatmap(
    arranged: OrderedMatrix, selected: Sequence[int] = (), strip: Colouring | None = None
) -> hv.Overlay:
    """Draw the matrix of arranged samples, with the samples that are not selected paler.

    ``selected`` holds positions in the matrix. ``strip`` has the colours drawn along the rows.
    """
    bins = arranged.bins
    bounds = (bins.start, bins.start, bins.stop, bins.stop)
    image = matrix_image(arranged.pixels, "value", bounds, arranged.scale).opts(
        hooks=[pair_hook(texts(arranged), arranged.scale.label)],
        tools=["pan", "wheel_zoom", "box_select", "reset"],
        active_tools=["box_select", "wheel_zoom"],
    )
    runs = runs_of(selected, arranged)
    overlay = image * pale(runs, bins) * _marks(runs, _beside(arranged, 1 + MARKS))
    branches, ticks = _tree(arranged)
    left, right, top = (_beside(arranged, at) for at in (TREE[1] - ROOM, 1 + ROOM, 1 + ROOM))
    return (overlay * _strip(arranged, strip) * branches).opts(
        title=_title(arranged),
        fontsize={"title": "9pt", "xticks": "8pt"},
        frame_width=round(SQUARE * (1 + 2 * ROOM - TREE[1])),
        frame_height=round(SQUARE * (1 + ROOM)),
        xlabel="",
        toolbar="above",
        xticks=ticks,
        yaxis=None,
        xlim=(left, right),
        ylim=(bins.start, top),
        show_legend=False,
        hooks=[_frame],
    )


def _beside(arranged: OrderedMatrix, share: float) -> float:
    """Convert a share of the side of the square to ranks."""
    return arranged.bins.start + share * arranged.n_samples


def _tree(arranged: OrderedMatrix) -> tuple[hv.Segments, list[tuple[float, str]]]:
    """Return the branches in ranks, leaves next to the matrix, and the labelled ticks."""
    branches = arranged.tree.branches
    joins = branches[: arranged.tree.joins, 0]
    lines = np.empty((0, 4))
    ticks = [(arranged.bins.start, "")]  # HoloViews needs at least one tick
    if len(joins):
        low, high = float(joins.min()), float(joins.max())
        # Twins would squeeze the tree of all other samples into a thin line.
        high = float(np.quantile(joins, 0.95)) if len(joins) > 50 else high
        high += 0.05 * (high - low) or 1.0
        near, far = (_beside(arranged, at) for at in TREE)

        def place(at: np.ndarray) -> np.ndarray:
            return far + np.clip((at - low) / (high - low), 0, 1) * (near - far)

        lines = np.column_stack(
            [place(branches[:, 0]), branches[:, 1], place(branches[:, 2]), branches[:, 3]]
        )
        round_ends = (f"{low:.2g}", f"{(low + high) / 2:.2g}")
        ticks = [(float(place(np.asarray(text, "f8"))), text) for text in round_ends]
    drawn = hv.Segments(lines, ["x", "y", "x1", "y1"], label="Tree")
    return drawn.opts(color=LIGHT.slate, line_width=1, default_tools=[]), ticks


def _frame(plot: Any, element: Any) -> None:
    plain_frame(plot, element)
    plot.state.outline_line_color = None
    plot.state.xaxis.axis_line_color = None


def texts(arranged: OrderedMatrix) -> list[str]:
    """Return the names of the samples of each pixel of a side."""
    names = sample_names(arranged.matrix)[arranged.tree.order]
    bins = arranged.bins
    return [
        str(names[a]) if b - a == 1 else f"{names[a]} … {names[b - 1]} ({b - a} samples)"
        for a, b in zip(bins.first, bins.last, strict=True)
    ]


def pair_hook(names: list[str], label: str) -> Callable[[Any, Any], None]:
    """Return a hook that names the pair of a pixel, from the names of the pixels of a side."""

    def hook(plot: Any, _element: Any) -> None:
        source = plot.handles.get("genobit_samples")
        if source is not None:
            return
        source = plot.handles["genobit_samples"] = ColumnDataSource({"text": names})
        rows = [("sample", "first"), ("sample", "second"), (label, "value")]
        add_image_hover(plot, rows, _PAIR, {"samples": source})

    return hook


def runs_of(selected: Sequence[int], arranged: OrderedMatrix) -> np.ndarray:
    """Return the runs of pixels that hold selected samples, in ranks: (runs, 2)."""
    bins = arranged.bins
    if not len(selected):
        return np.empty((0, 2))
    chosen = np.zeros(bins.n + 2, dtype="i1")
    chosen[arranged.tree.rank[np.asarray(selected, "i8")] // bins.per_pixel + 1] = 1
    edges = np.flatnonzero(np.diff(chosen)).reshape(-1, 2)
    return np.minimum(bins.start + bins.width * edges, arranged.n_samples - 0.5)


def pale(runs: np.ndarray, bins: Pixels) -> hv.Rectangles:
    """Return white veils over the rows and columns that are not selected."""
    veils: list[tuple[float, ...]] = []
    if len(runs):
        gaps = np.concatenate([[bins.start], runs.ravel(), [bins.stop]]).reshape(-1, 2)
        gaps = gaps[gaps[:, 1] > gaps[:, 0]]
        veils = [(bins.start, low, bins.stop, high) for low, high in gaps]
        veils += [(low, bins.start, high, bins.stop) for low, high in gaps]
    return hv.Rectangles(veils, ["x", "y", "x1", "y1"], label="Pale").opts(
        color=WHITE, alpha=0.45, line_width=0, default_tools=[]
    )


def _marks(runs: np.ndarray, edge: float) -> hv.Segments:
    marks = [(low, edge, high, edge) for low, high in runs]
    marks += [(edge, low, edge, high) for low, high in runs]
    return hv.Segments(marks, ["x", "y", "x1", "y1"], label="Marks").opts(
        color=SELECTED_COLOUR, line_width=4, line_cap="square", default_tools=[]
    )


def _strip(arranged: OrderedMatrix, chosen: Colouring | None) -> hv.Rectangles:
    boxes: list[tuple[Any, ...]] = []
    bins = arranged.bins
    if chosen is not None:
        each = one_colour_each(chosen)[arranged.tree.order]
        shown = [
            Counter(each[a:b]).most_common(1)[0][0]
            for a, b in zip(bins.first, bins.last, strict=True)
        ]
        cuts = [0, *(k for k in range(1, bins.n) if shown[k] != shown[k - 1]), bins.n]
        right, left = (_beside(arranged, share) for share in STRIP)
        at = np.minimum(bins.start + bins.width * np.arange(bins.n + 1), bins.stop)
        boxes = [(left, at[a], right, at[b], shown[a]) for a, b in pairwise(cuts)]
    return hv.Rectangles(boxes, ["x", "y", "x1", "y1"], "colour", label="Strip").opts(
        color="colour", line_width=0, default_tools=[]
    )


def _title(arranged: OrderedMatrix) -> str:
    tree, bins = arranged.tree, arranged.bins
    notes = ["pixel: one pair"]
    if bins.per_pixel > 1:
        notes = [f"pixel: farthest from 0 of {bins.per_pixel} × {bins.per_pixel} samples"]
    if arranged.n_samples > CLUSTERED_SAMPLES:
        notes.append(f"not clustered: more than {CLUSTERED_SAMPLES:,} samples")
    elif tree.joins < arranged.n_samples - tree.without - 1:
        notes.append(f"tree: mean of the pairs joined, last {tree.joins} joins")
    elif tree.joins:
        notes.append("tree: mean of the pairs joined")
    if tree.without:
        notes.append(f"grey: no value, {number(tree.without, 'sample')}")
    elif np.isnan(arranged.pixels).any():
        notes.append("grey: no value")
    label = measure_of(arranged.matrix).label
    return "\n".join([f"{label} of {number(arranged.n_samples, 'sample')}", *notes])
