"""Clustered relationship matrix for explorers: tree, strip of groups, blocks and the selection."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np

from genobit.grm.plots.heatmap import pair_hook, pale, runs_of, texts
from genobit.grm.plots.paper_tree import tree_lines
from genobit.visual.style import SELECTED_COLOUR, WHITE, matrix_image
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genobit.grm.plots.paper_matrix import MatrixPanel

#: Screen pixels: the side of the square, and the space around it. Names of blocks are above. The
#: tree and the strip are at the left, and marks of the selection at the right and below.
SIDE, ABOVE, LEFT, ROOM = 444, 26, 90, 12
_TREE, _STRIP, _MARK = (-86, -13), (-10, -3), 5
#: Width and height of the figure at most. Bokeh leaves 10 pixels at both sides, and the colour bar
#: is below the square.
BREADTH, HEIGHT = 20 + LEFT + SIDE + ROOM, 536
#: Up to this many runs of selected samples have frames; the matrix is paler around more runs.
FRAMED = 5
#: Least side of a frame in pixels.
_LEAST = 9
_CORNERS = ["x", "y", "x1", "y1"]


def draw_clustered(shown: MatrixPanel, selected: Sequence[int] = ()) -> hv.Overlay:
    """Draw the matrix of arranged samples, the first sample at the top left.

    ``selected`` holds positions in the matrix.

    Returns
    -------
        hv.Image * hv.Segments (edges of blocks) * hv.Rectangles (strip) * hv.Segments (tree) *
        hv.Labels (names of blocks) * hv.Rectangles (paler samples) * hv.Rectangles (frames, twice)
        * hv.Segments (marks).
    """
    arranged = shown.arranged
    n = arranged.n_samples
    runs = runs_of(selected, arranged)
    many = len(runs) > FRAMED
    overlay = _image(shown) * _edges(shown) * _strip(shown) * _tree(shown) * _names(shown)
    overlay *= pale(runs if many else runs[:0], arranged.bins)
    frames = _frames(runs[:0] if many else runs, n)
    overlay *= frames.opts(line_color=WHITE, line_width=4) * frames.clone().opts(
        line_color=SELECTED_COLOUR, line_width=1.6
    )
    return (overlay * _marks(runs, n)).opts(
        title="",
        xlim=(_at(-LEFT, n), _at(SIDE + ROOM, n)),
        ylim=(_at(-ABOVE, n), _at(SIDE + ROOM, n)),
        invert_yaxis=True,
        xaxis=None,
        yaxis=None,
        show_legend=False,
        toolbar="right",
        hooks=[_frame],
    )


def _at(pixel: float, n_samples: int) -> float:
    """Convert screen pixels from the corner of the square to ranks."""
    return -0.5 + pixel / SIDE * n_samples


def _image(shown: MatrixPanel) -> hv.Image:
    arranged, bins = shown.arranged, shown.arranged.bins
    bounds = (bins.start, bins.start, bins.stop, bins.stop)
    label = " · ".join([shown.scale.name, *arranged.notes("pixel")])
    return matrix_image(arranged.pixels, "value", bounds, shown.scale).opts(
        hooks=[pair_hook(texts(arranged), shown.scale.label)],
        tools=["pan", "wheel_zoom", "box_select", "reset"],
        active_tools=["box_select", "wheel_zoom"],
        clabel=label,
        colorbar_position="bottom",
        colorbar_opts={
            "width": 150,
            "height": 8,
            # Its title is as wide as a heatmap in a narrow explorer.
            "location": (12, 0),
            "padding": 2,
            "title_standoff": 3,
            "title_text_font_size": "11px",
            "title_text_font_style": "normal",
            "title_text_color": LIGHT.slate,
            "major_label_text_font_size": "11px",
            "label_standoff": 3,
        },
    )


def _edges(shown: MatrixPanel) -> hv.Segments:
    """Draw lines between the blocks; lines around a few samples would hide them."""
    n = shown.arranged.n_samples
    lines = []
    for a, b in pairwise(shown.blocks):
        if min(a.size, b.size) > 0.02 * n:
            at = b.first - 0.5
            lines += [(at, -0.5, at, n - 0.5), (-0.5, at, n - 0.5, at)]
    return hv.Segments(lines, _CORNERS, label="Edges").opts(
        color=LIGHT.ink, line_width=1, default_tools=[]
    )


def _names(shown: MatrixPanel) -> hv.Labels:
    """Write the names of blocks above them, as far as there is room."""
    n = shown.arranged.n_samples
    written = []
    for block in shown.blocks:
        name = " + ".join(shown.names[k] for k in block.groups)
        for text in (f"{name} {block.size:,}", name):
            # A letter of 12 px is 7 px wide.
            if 7 * len(text) <= SIDE * block.size / n:
                written.append(((block.first + block.last) / 2, _at(-3, n), text))
                break
    return hv.Labels(written, ["x", "y"], "text", label="Names").opts(
        text_font_size="12px",
        text_color=LIGHT.ink,
        text_baseline="bottom",
        text_align="center",
        default_tools=[],
    )


def _strip(shown: MatrixPanel) -> hv.Rectangles:
    boxes: list[tuple[Any, ...]] = []
    bins, each, n = shown.arranged.bins, shown.each, shown.arranged.n_samples
    if each is not None:
        cells = [
            Counter(each[a:b].tolist()).most_common(1)[0][0]
            for a, b in zip(bins.first, bins.last, strict=True)
        ]
        cuts = [0, *(k for k in range(1, bins.n) if cells[k] != cells[k - 1]), bins.n]
        left, right = (_at(pixel, n) for pixel in _STRIP)
        at = np.minimum(bins.start + bins.width * np.arange(bins.n + 1), bins.stop)
        boxes = [(left, at[a], right, at[b], cells[a]) for a, b in pairwise(cuts)]
    return hv.Rectangles(boxes, _CORNERS, "colour", label="Strip").opts(
        color="colour", line_width=0, default_tools=[]
    )


def _tree(shown: MatrixPanel) -> hv.Segments:
    lines, colours = tree_lines(shown.nodes, shown.palette)
    far, near = (_at(pixel, shown.arranged.n_samples) for pixel in _TREE)
    x, y = far + lines[..., 0] * (near - far), lines[..., 1]
    columns = {"x": x[:, 0], "y": y[:, 0], "x1": x[:, 1], "y1": y[:, 1], "colour": colours}
    return hv.Segments(columns, _CORNERS, "colour", label="Tree").opts(
        color="colour", line_width=1, default_tools=[]
    )


def _frames(runs: np.ndarray, n_samples: int) -> hv.Rectangles:
    """Frame the pairs of two selected runs of samples; runs: (runs, 2), in ranks."""
    least = _LEAST / SIDE * n_samples / 2
    middle = runs.mean(axis=1)
    half = np.maximum(np.diff(runs, axis=1)[:, 0] / 2, least)
    low, high = middle - half, middle + half
    boxes = [
        (low[a], low[b], high[a], high[b])
        for a in range(len(runs))
        for b in range(len(runs))
        # A sample with itself tells nothing.
        if a != b or len(runs) == 1 or runs[a, 1] - runs[a, 0] > 1
    ]
    return hv.Rectangles(boxes, _CORNERS, label="Frames").opts(fill_alpha=0, default_tools=[])


def _marks(runs: np.ndarray, n_samples: int) -> hv.Segments:
    edge = _at(SIDE + _MARK, n_samples)
    marks = [(low, edge, high, edge) for low, high in runs]
    marks += [(edge, low, edge, high) for low, high in runs]
    return hv.Segments(marks, _CORNERS, label="Marks").opts(
        color=SELECTED_COLOUR, line_width=4, line_cap="square", default_tools=[]
    )


def _frame(plot: Any, _element: Any) -> None:
    """Let a figure shrink as a whole, and show its tools under the mouse (a HoloViews hook)."""
    figure = plot.state
    figure.update(frame_width=None, frame_height=None, width=None, height=None)
    figure.update(sizing_mode="scale_width", aspect_ratio=BREADTH / HEIGHT, max_width=BREADTH)
    figure.update(outline_line_color=None, toolbar_inner=True, min_border=0)
    figure.toolbar.update(logo=None, autohide=True)
    figure.grid.visible = False
