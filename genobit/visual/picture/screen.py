"""Paint a picture with HoloViews: hover texts, zoom, and the notes below the axes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool, LogTicker, NumeralTickFormatter
from bokeh.models.annotations import Title

from genobit.visual.picture.spec import (
    Axis,
    Band,
    Boxes,
    Line,
    Mark,
    Panel,
    Picture,
    Points,
    Rule,
    Segments,
    Texts,
)
from genobit.visual.style import WIDTH, margins, plain_frame, printable
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

#: Tools by the axes along which they pan and zoom.
_ZOOM = {
    "": [],
    "x": ["xpan", "xwheel_zoom", "reset"],
    "xy": ["pan", "wheel_zoom", "reset"],
}
#: Diamonds of Bokeh are smaller than circles of their size.
_LARGER = {"diamond": 1.6}
#: Width of a letter of a note in pixels.
_LETTER = 5.6


def paint(picture: Picture) -> hv.Overlay | hv.Layout:
    """Return a picture as an hv.Overlay with one layer for each mark.

    A picture with a panel beside it is an hv.Layout of two overlays.

    Examples
    --------
    >>> from genobit.visual.picture.spec import Panel
    >>> dots = Points(np.arange(3.0), np.ones(3))
    >>> paint(Picture(Panel(Axis("x"), Axis("y"), (dots,)), "three dots"))
    :Overlay
       .Points.I :Points   [x,y]
    """
    frame = margins if picture.panel.size[0] == WIDTH else plain_frame
    hooks = [frame, _notes(picture.notes, picture.panel.size[0])]
    painted = paint_panel(picture.panel).opts(title=picture.title, hooks=hooks)
    if picture.beside is None:
        return painted
    beside = paint_panel(picture.beside).opts(yaxis="bare", hooks=[plain_frame])
    return (painted + beside).opts(shared_axes=False)


def paint_panel(panel: Panel) -> hv.Overlay:
    """Return a panel as an hv.Overlay without title and notes."""
    (left, right), (low, high) = panel.limits()
    ends = (left, right, low, high)
    layers = [_PAINTED[type(mark)](mark, ends) for mark in panel.marks]
    # HoloViews takes tools from the layers.
    hovers = layers[0].opts.get("plot").kwargs.get("tools", [])
    layers[0].opts(tools=[*hovers, *_ZOOM[panel.zoom]], active_tools=[])
    return hv.Overlay(layers).opts(
        fontsize={"title": "10pt"},
        frame_width=round(panel.size[0]),
        frame_height=round(panel.size[1]),
        show_legend=any(mark.label for mark in panel.marks),
        legend_position="top",
        legend_cols=1,
        **_axis("x", panel.x, (left, right)),
        **_axis("y", panel.y, (low, high)),
    )


def _axis(name: str, axis: Axis, ends: tuple[float, float]) -> dict[str, Any]:
    """Return the options of an axis."""
    options: dict[str, Any] = {
        f"{name}label": axis.label,
        f"{name}lim": ends,
        f"log{name}": axis.log,
        f"invert_{name}axis": axis.flipped,
    }
    if axis.log:
        options[f"{name}ticks"] = LogTicker(mantissas=[1, 2, 5], desired_num_ticks=8)
        options[f"{name}formatter"] = NumeralTickFormatter(format="0,0.[0000]")
    if axis.ticks is not None:
        options[f"{name}ticks"] = [(at, printable(text)) for at, text in axis.ticks]
    return options


def _notes(notes: tuple[str, ...], width: float) -> Callable[[Any, Any], None]:
    """Return a hook that writes notes below the axes."""
    text = printable("\n".join(textwrap.wrap(" ".join(notes), int(width / _LETTER))))
    look: dict[str, Any] = {
        "text_font_size": "8pt",
        "text_font_style": "normal",
        "text_color": LIGHT.quiet,
    }

    def hook(plot: Any, _element: Any) -> None:
        if text and "genobit_notes" not in plot.handles:
            plot.handles["genobit_notes"] = Title(text=text, **look)
            plot.state.add_layout(plot.handles["genobit_notes"], "below")

    return hook


def _named(mark: Mark) -> str:
    return printable(f"{mark.label}: {mark.note}" if mark.note else mark.label)


def _columns(mark: Mark, **places: np.ndarray) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """Return the columns of a mark, the names of those that are no places, and its options."""
    columns: dict[str, Any] = dict(places)
    options: dict[str, Any] = {"alpha": mark.alpha, "color": mark.colour}
    more = []
    if isinstance(mark.colour, np.ndarray):
        columns["colour"], options["color"] = mark.colour, "colour"
        more.append("colour")
    rows: list[tuple[str, str]] = []
    formatters: dict[str, Any] = {}
    for k, (label, values) in enumerate(mark.hover.items()):
        name = f"hover_{k}"
        columns[name] = values
        more.append(name)
        if values.dtype.kind == "f":
            rows.append((label, f"@{name}{{%.4g}}"))
            formatters[f"@{name}"] = "printf"
        else:
            rows.append((label, f"@{name}{{0,0}}" if values.dtype.kind in "iu" else f"@{name}"))
    tools: list[Any] = [HoverTool(tooltips=rows, formatters=formatters)] if rows else []
    return columns, more, options | {"default_tools": ["save"], "tools": tools}


def _points(mark: Points, _ends: Any) -> hv.Points:
    columns, more, options = _columns(mark, x=mark.x, y=mark.y)
    return hv.Points(columns, ["x", "y"], more, label=_named(mark)).opts(
        size=mark.size * _LARGER.get(mark.shape, 1),
        marker=mark.shape,
        line_color=mark.edge,
        **options,
    )


def _line(mark: Line, _ends: Any) -> hv.Curve:
    columns, more, options = _columns(mark, x=mark.x, y=mark.y)
    return hv.Curve(columns, "x", ["y", *more], label=_named(mark)).opts(
        line_width=mark.width,
        line_dash=mark.dash,
        interpolation="steps-post" if mark.steps else "linear",
        **options,
    )


def _band(mark: Band, _ends: Any) -> hv.Area:
    columns, more, options = _columns(mark, x=mark.x, low=mark.low, high=mark.high)
    return hv.Area(columns, "x", ["low", "high", *more], label=_named(mark)).opts(
        line_color=None, **options
    )


def _segments(mark: Segments, _ends: Any) -> hv.Segments:
    places = {"x0": mark.x0, "y0": mark.y0, "x1": mark.x1, "y1": mark.y1}
    columns, more, options = _columns(mark, **places)
    return hv.Segments(columns, list(places), more, label=_named(mark)).opts(
        line_width=mark.width, line_dash=mark.dash, **options
    )


def _boxes(mark: Boxes, _ends: Any) -> hv.Rectangles:
    places = {"x0": mark.x0, "y0": mark.y0, "x1": mark.x1, "y1": mark.y1}
    columns, more, options = _columns(mark, **places)
    return hv.Rectangles(columns, list(places), more, label=_named(mark)).opts(
        line_width=mark.width, line_color=mark.edge, **options
    )


def _texts(mark: Texts, _ends: Any) -> hv.Labels:
    return hv.Labels((mark.x, mark.y, list(map(printable, mark.texts))), ["x", "y"], "text").opts(
        text_color=mark.colour, text_font_size="9pt", text_font_style="bold", text_align="left"
    )


def _rule(mark: Rule, ends: tuple[float, float, float, float]) -> hv.Segments:
    left, right, low, high = (np.array([end]) for end in ends)
    at = np.array([mark.at])
    across = (at, low, at, high) if mark.axis == "x" else (left, at, right, at)
    line = Segments(
        *across, mark.width, mark.dash, colour=mark.colour, alpha=mark.alpha, label=mark.label
    )
    return _segments(line, ends)


_PAINTED: dict[type[Mark], Callable[[Any, Any], hv.Element]] = {
    Points: _points,
    Line: _line,
    Band: _band,
    Segments: _segments,
    Boxes: _boxes,
    Texts: _texts,
    Rule: _rule,
}
