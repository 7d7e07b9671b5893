"""Gene track under an LD plot: bars, and names that do not overlap."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.ld.plots.result import genes_over
from genobit.visual.style import POINT_COLOUR, WIDTH, few_marks, margins, number
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from genobit.ld.plots.drawing import PictureOptions

#: Rows for genes with names; one more row below holds the other genes.
LANES = 5
#: Width of a letter of a name, and the gap after a name, in pixels.
_LETTER, _GAP = 6.6, 10.0
#: Most genes that get names; more names would not fit.
_NAMED = 400
_ARROWS = {"+": " →", "-": " ←", ".": ""}


def gene_track(
    genes: pd.DataFrame,
    extent: tuple[float, float],
    *,
    position: np.ndarray | None = None,
    at: np.ndarray | None = None,
    lanes: int = LANES,
) -> hv.Overlay:
    """Draw the genes of one contig over a stretch of an x axis.

    The table `genes` has the columns of `genobit.io.genes.read_genes`. On an axis of evenly spaced
    variants, `position` is in base pairs and `at` on the axis, both (variants,), ascending. The
    default axis is in Mb. Returns hv.Segments (genes) * hv.Labels (names). Names take `lanes` rows,
    and the longest genes get theirs first. Genes without room for a name lie in the lowest row, and
    the title counts them.

    Examples
    --------
    >>> from genobit.io.genes import read_genes
    >>> genes = read_genes([{"contig": "2", "start": 1_000, "end": 5_000, "name": "LCT"}])
    >>> gene_track(genes, (0.0, 0.01)).Labels.I["text"].tolist()
    ['LCT']
    """
    start, end = genes["start"].to_numpy("f8"), genes["end"].to_numpy("f8")
    if position is None or at is None:
        x0, x1 = (start - 0.5) / 1e6, (end + 0.5) / 1e6
        inside = (x1 >= extent[0]) & (x0 <= extent[1])
    else:
        x0, x1 = np.interp(start, position, at), np.interp(end, position, at)
        inside = (end >= position[0]) & (start <= position[-1])
    x0, x1 = (np.clip(x[inside], *extent) for x in (x0, x1))
    shown = genes[inside]
    names = shown["name"].to_numpy(dtype=object)
    texts = [f"{name}{_ARROWS[s]}" for name, s in zip(names, shown["strand"], strict=True)]
    lane, left = label_lanes(x0, x1, texts, extent, lanes=lanes)
    bars = {
        "x": x0,
        "y": -lane.astype("f8"),
        "x1": x1,
        "y1": -lane.astype("f8"),
        "gene": names,
        "start": start[inside],
        "end": end[inside],
        "strand": shown["strand"].to_numpy(dtype=object),
    }
    named = np.flatnonzero(lane < lanes)
    labels = {
        "x": left[named],
        "y": -lane[named] - 0.42,
        "text": np.array([texts[k] for k in named], dtype=object),
    }
    return _drawn(bars, labels, len(shown) - len(named), lanes)


def under_genes(
    r2: xr.DataArray,
    look: PictureOptions,
    genes: Any,
    picture: hv.Overlay,
    *,
    side: int = 1,
    x: str = "x",
) -> hv.Overlay | hv.Layout:
    """Return a picture of LD below the genes of its x axis; the picture alone without genes.

    ``genes`` is a source of `genobit.io.genes.read_genes`. The variants of a side lie along the
    dimension ``x`` of the picture.
    """
    if genes is None:
        return picture
    table, lacking = genes_over(r2, genes, side)
    position = r2[f"variant_position_{side}"].values
    bins = look.lay_out(position)
    extent = bins.start, bins.stop
    spaced: dict[str, Any] = {}
    if look.axis == "rank":
        spaced = {"position": position, "at": look.coordinates(position)}
    track = gene_track(table, extent, **spaced)
    rows = 1 - round(float(track.Segments.I["y"].min(initial=0.0)))
    track = track.opts(ylim=(0.2 - rows, 0.5), frame_height=26 * rows + 8)
    if not len(table):
        track = track.opts(title=f"{lacking or 'No gene in the region'}.")
    # The rows of the genes are no places of the picture.
    own = track.redim(x=x, y="row", y1="row_1")
    return (own + picture).cols(1)


def label_lanes(
    x0: np.ndarray,
    x1: np.ndarray,
    texts: list[str],
    extent: tuple[float, float],
    *,
    letter: float = _LETTER,
    gap: float = _GAP,
    lanes: int = LANES,
) -> tuple[np.ndarray, np.ndarray]:
    """Choose rows for bars with texts under them, so that neither bars nor texts overlap.

    Bars without a text get no row. The extent is drawn `WIDTH` pixels wide, and a letter `letter`
    pixels; `gap` pixels stay free after each bar and text. Returns the row of each bar, `lanes` for
    bars without room, and the start of each text on the axis.

    Examples
    --------
    >>> ends = np.array([0.0, 1.0]), np.array([2.0, 3.0])
    >>> lane, left = label_lanes(*ends, ["A", "B"], (0.0, 100.0))
    >>> lane.tolist(), left.tolist()
    ([0, 1], [0.0, 1.0])
    """
    scale = WIDTH / max(extent[1] - extent[0], 1e-12)
    width = np.array([letter * len(text) for text in texts], dtype="f8").reshape(len(x0))
    start = np.minimum((x0 - extent[0]) * scale, np.maximum(WIDTH - width, 0.0))
    stop = np.maximum((x1 - extent[0]) * scale, start + width) + gap
    taken: list[list[tuple[float, float]]] = [[] for _ in range(lanes)]
    lane = np.full(len(x0), lanes)
    for k in np.argsort(x0 - x1, kind="stable")[:_NAMED].tolist():
        if not texts[k].strip(" →←"):
            continue
        for row, intervals in enumerate(taken):
            place = bisect_left(intervals, (start[k], stop[k]))
            after = place == len(intervals) or intervals[place][0] >= stop[k]
            before = place == 0 or intervals[place - 1][1] <= start[k]
            if before and after:
                intervals.insert(place, (float(start[k]), float(stop[k])))
                lane[k] = row
                break
    return lane, extent[0] + start / scale


def _drawn(bars: dict[str, Any], labels: dict[str, Any], unnamed: int, lanes: int) -> hv.Overlay:
    title = number(len(bars["x"]), "gene")
    if unnamed:
        title += f", {unnamed:,} without room for a name (lowest row): zoom in"
    hover = HoverTool(
        tooltips=[
            ("gene", "@gene"),
            ("from", "@start{0,0}"),
            ("to", "@end{0,0}"),
            ("strand", "@strand"),
        ]
    )
    ends = hv.Segments(bars, ["x", "y", "x1", "y1"], ["gene", "start", "end", "strand"]).opts(
        color=POINT_COLOUR, line_width=7, tools=[hover], default_tools=["save"]
    )
    texts = hv.Labels(labels, ["x", "y"], "text").opts(
        text_align="left",
        text_baseline="middle",
        text_font_size="8pt",
        text_color=LIGHT.ink,
        padding=0,
        default_tools=[],
    )
    return (ends * texts).opts(
        title=title,
        frame_width=WIDTH,
        frame_height=26 * (lanes + 1),
        ylim=(-lanes - 0.6, 0.5),
        yaxis="bare",
        ylabel="genes",
        xaxis=None,
        show_legend=False,
        hooks=[margins, few_marks],
    )
