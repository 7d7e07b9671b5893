"""Draw the elements of HoloViews with matplotlib, in the colours and sizes of their options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.palettes import Viridis256
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import (
    Colormap,
    ListedColormap,
    Normalize,
    is_color_like,
    to_rgba_array,
)

from genobit.visual.style import NO_VALUE_COLOUR, POINT_COLOUR
from genobit.visual.tokens import NOTE_PT

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

#: Marks above this number are drawn as pixels inside of a PDF.
MANY = 5_000
_DASHES = {"dashed": (0, (4, 2)), "dotted": (0, (1, 1.5)), "dotdash": (0, (4, 1.5, 1, 1.5))}
_MARKERS = {"x": "x", "diamond": "D"}
_ALIGN = {"left": "left", "right": "right", "center": "center"}
_BASELINE = {"middle": "center", "top": "top", "bottom": "bottom", "alphabetic": "baseline"}


@dataclass(frozen=True)
class Look:
    """An element with its options, and the points of the page for a pixel of the screen."""

    element: Any
    points: float

    def style(self, *names: str, default: Any = None) -> Any:
        """Return the first of these options of the glyph that is set."""
        found = self.element.opts.get("style").kwargs
        # A cycle is the default of HoloViews.
        values = (found.get(name) for name in names)
        set_ = (v for v in values if v is not None and not isinstance(v, hv.Cycle))
        return next(set_, default)

    def plot(self, name: str, default: Any = None) -> Any:
        """Return an option of the plot."""
        return self.element.opts.get("plot").kwargs.get(name, default)

    def column(self, name: Any) -> np.ndarray | None:
        """Return the column that an option names, None if the option is a value."""
        if not isinstance(name, str) or self.element.get_dimension(name) is None:
            return None
        return np.asarray(self.element.dimension_values(name))

    def sizes(self, *names: str, default: float) -> Any:
        """Return an option in points: a number, or one for each mark."""
        value = self.style(*names, default=default)
        column = self.column(value)
        return self.points * (np.asarray(value if column is None else column, dtype="f8"))

    def colours(
        self, *names: str, default: str = POINT_COLOUR
    ) -> tuple[Any, ScalarMappable | None]:
        """Return a colour, or one for each mark, and the map that a colour bar shows."""
        value = self.style(*names, default=default)
        column = self.column(value)
        if column is None:
            return value, None
        given = self.style("cmap")
        if isinstance(given, dict):
            return [given[text] for text in column.tolist()], None
        if column.dtype.kind in "OUT" and all(is_color_like(text) for text in column.tolist()):
            return to_rgba_array(column.tolist()), None
        shades = colour_map(given)
        low, high = self.plot("clim") or (np.nanmin(column), np.nanmax(column))
        mapped = _mappable(shades, float(low), float(high))
        return mapped.to_rgba(np.ma.masked_invalid(column.astype("f8"))), mapped


def colour_map(given: Any, nan: str = NO_VALUE_COLOUR, low: str | None = None) -> Colormap:
    """Return matplotlib's form of a colour map: a list of colours, or None for viridis."""
    colours = list(Viridis256) if given is None or isinstance(given, str) else list(given)
    return ListedColormap(colours).with_extremes(bad=nan, under=low)


def _mappable(shades: Colormap, low: float, high: float) -> ScalarMappable:
    from matplotlib.cm import ScalarMappable

    return ScalarMappable(Normalize(low, high if high > low else low + 1e-9), shades)


def _dash(look: Look) -> Any:
    return _DASHES.get(str(look.style("line_dash", default="solid")), "solid")


def _curve(axes: Axes, look: Look) -> ScalarMappable | None:
    x, y = (look.element.dimension_values(k) for k in (0, 1))
    colour, _ = look.colours("line_color", "color")
    axes.plot(
        x,
        y,
        color=colour,
        linewidth=look.sizes("line_width", default=1.6),
        linestyle=_dash(look),
        alpha=look.style("line_alpha", "alpha"),
        label=look.element.label or None,
    )
    return None


def _points(axes: Axes, look: Look) -> ScalarMappable | None:
    x, y = (np.asarray(look.element.dimension_values(k), dtype="f8") for k in (0, 1))
    fill, mapped = look.colours("fill_color", "color")
    edge, _ = look.colours("line_color", default="none")
    marker = _MARKERS.get(str(look.style("marker")), "o")
    if marker == "x":
        edge = fill
    drawn = axes.scatter(
        x,
        y,
        s=look.sizes("size", default=5) ** 2,
        c=fill if mapped is None or len(x) else "none",
        marker=marker,
        edgecolors=edge if look.style("line_color") is not None else None,
        linewidths=look.sizes("line_width", default=0.4),
        alpha=look.style("fill_alpha", "alpha"),
        label=look.element.label or None,
        zorder=2.5,
    )
    drawn.set_rasterized(len(x) > MANY)
    return mapped


def _segments(axes: Axes, look: Look) -> ScalarMappable | None:
    x0, y0, x1, y1 = (np.asarray(look.element.dimension_values(k), dtype="f8") for k in range(4))
    colour, mapped = look.colours("line_color", "color")
    lines = LineCollection(
        list(np.stack([np.column_stack([x0, y0]), np.column_stack([x1, y1])], axis=1)),
        colors=colour,
        linewidths=look.sizes("line_width", default=1.0),
        linestyles=_dash(look),
        alpha=look.style("line_alpha", "alpha"),
        capstyle="round" if look.style("line_cap") == "round" else "butt",
        label=look.element.label or None,
    )
    lines.set_rasterized(len(x0) > MANY)
    axes.add_collection(lines, autolim=True)
    return mapped


def _rectangles(axes: Axes, look: Look) -> ScalarMappable | None:
    x0, y0, x1, y1 = (np.asarray(look.element.dimension_values(k), dtype="f8") for k in range(4))
    fill, mapped = look.colours("fill_color", "color")
    edge, _ = look.colours("line_color", default="none")
    corners = np.stack([x0, y0, x1, y0, x1, y1, x0, y1], axis=1).reshape(-1, 4, 2)
    alpha = look.style("fill_alpha", "alpha")
    faces = to_rgba_array(fill, alpha) if len(corners) else "none"
    boxes = PolyCollection(
        list(corners),
        facecolors=faces,
        edgecolors=edge,
        linewidths=look.sizes("line_width", default=0.5) if look.style("line_color") else 0,
        label=look.element.label or None,
    )
    boxes.set_rasterized(len(x0) > MANY)
    axes.add_collection(boxes, autolim=True)
    return mapped


def _histogram(axes: Axes, look: Look) -> ScalarMappable | None:
    edges, counts = look.element.edges, look.element.dimension_values(1)
    colour, _ = look.colours("fill_color", "color")
    lowest = 0.5 if look.plot("logy") else 0.0
    axes.bar(
        edges[:-1],
        np.maximum(counts - lowest, 0),
        np.diff(edges),
        bottom=lowest,
        align="edge",
        color=colour,
        edgecolor=look.style("line_color", default="none"),
        linewidth=0.25,
        alpha=look.style("fill_alpha", "alpha"),
        label=look.element.label or None,
    )
    return None


def _bars(axes: Axes, look: Look) -> ScalarMappable | None:
    names = [str(name) for name in look.element.dimension_values(0)]
    colour, _ = look.colours("fill_color", "color")
    axes.bar(
        np.arange(len(names)),
        look.element.dimension_values(1),
        look.style("bar_width", default=look.plot("bar_width", 0.8)),
        color=colour,
        alpha=look.style("fill_alpha", "alpha"),
    )
    axes.set_xticks(np.arange(len(names)), names)
    return None


def _labels(axes: Axes, look: Look) -> ScalarMappable | None:
    x, y, texts = (look.element.dimension_values(k) for k in range(3))
    colour, _ = look.colours("text_color", default="#1a1d21")
    each = [colour] * len(x) if isinstance(colour, str) else list(colour)
    size = float(str(look.style("text_font_size", default="8pt")).removesuffix("pt"))
    turned = look.style("angle", default=0.0)
    angles = look.column(turned)
    bold = "bold" in str(look.style("text_font_style", default=""))
    for k, text in enumerate(texts):
        axes.text(
            x[k],
            y[k],
            str(text),
            color=each[k],
            # A pixel of the screen is 3/4 of a point, so that 8 points are 6 at half the size.
            fontsize=min(max(size * look.points / 0.75, 5.2), NOTE_PT + 1),
            fontweight="bold" if bold else "normal",
            ha=_ALIGN[str(look.style("text_align", default="center"))],
            va=_BASELINE[str(look.style("text_baseline", default="middle"))],
            rotation=float(turned if angles is None else angles[k]),
            rotation_mode="anchor",
            clip_on=False,
        )
    return None


def _image(axes: Axes, look: Look) -> ScalarMappable | None:
    values = np.asarray(look.element.dimension_values(2, flat=False), dtype="f8")
    left, bottom, right, top = look.element.bounds.lbrt()
    clipped = look.plot("clipping_colors") or {}
    under = _named(clipped["min"]) if "min" in clipped else None
    shades = colour_map(look.style("cmap"), _named(clipped.get("NaN", NO_VALUE_COLOUR)), under)
    low, high = look.plot("clim") or (np.nanmin(values), np.nanmax(values))
    return axes.imshow(
        np.ma.masked_invalid(values),
        cmap=shades,
        norm=Normalize(low, high),
        extent=(left, right, bottom, top),
        origin="lower",
        aspect="auto",
        interpolation="none",
    )


def _named(colour: str) -> str:
    return "none" if colour == "transparent" else colour


def _line(axes: Axes, look: Look) -> ScalarMappable | None:
    colour, _ = look.colours("line_color", "color")
    axes.axhline(
        float(look.element.data),
        color=colour,
        linewidth=look.sizes("line_width", default=1.0),
        linestyle=_dash(look),
    )
    return None


def _paths(axes: Axes, look: Look) -> ScalarMappable | None:
    lines = [part.array() for part in look.element.split()]
    colour, mapped = _of_paths(look, "line_color", "color")
    drawn = LineCollection(
        [np.asarray(line[:, :2], dtype="f8") for line in lines],
        colors=colour,
        linewidths=look.sizes("line_width", default=1.0),
        alpha=look.style("line_alpha", "alpha"),
        label=look.element.label or None,
    )
    axes.add_collection(drawn, autolim=True)
    return mapped


def _of_paths(look: Look, *names: str) -> tuple[Any, ScalarMappable | None]:
    """Return the colours of paths, of which each has one value."""
    value = look.style(*names, default=POINT_COLOUR)
    if not isinstance(value, str) or look.element.get_dimension(value) is None:
        return value, None
    values = np.asarray(look.element.dimension_values(value, expanded=False), dtype="f8")
    low, high = look.plot("clim") or (values.min(), values.max())
    mapped = _mappable(colour_map(look.style("cmap")), float(low), float(high))
    return mapped.to_rgba(values), mapped


#: Functions that draw each element, and return the mapping for a colour bar.
DRAWN: dict[type, Callable[[Axes, Look], ScalarMappable | None]] = {
    hv.Curve: _curve,
    hv.Points: _points,
    hv.Segments: _segments,
    hv.Rectangles: _rectangles,
    hv.Histogram: _histogram,
    hv.Bars: _bars,
    hv.Labels: _labels,
    hv.Image: _image,
    hv.HLine: _line,
    hv.Path: _paths,
    hv.Contours: _paths,
}
