"""Layers of lines, dots and texts in screen pixels, drawn by HoloViews or written as SVG."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.visual.placing import backed
from genobit.visual.style import few_marks, plain_frame
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Screen pixels of one point, as in CSS.
_POINT = 4 / 3


@dataclass(frozen=True)
class Lines:
    """Straight lines: `ends` is (lines, 4), x0, y0, x1, y1."""

    label: str
    ends: Floats
    colour: Sequence[str]
    width: Sequence[float]
    about: dict[str, Sequence[Any]] = field(default_factory=dict)
    """Columns that the hover shows."""
    fields = MappingProxyType({"line_color": "color", "line_width": "line_width"})
    """Column for each property of bokeh's glyph."""

    def columns(self) -> dict[str, Any]:
        """Return the columns of bokeh's data source."""
        ends = np.reshape(self.ends, (-1, 4)).T
        columns: dict[str, Any] = dict(zip(("x", "y", "x1", "y1"), ends, strict=True))
        columns |= {"color": np.array(self.colour, dtype=object), "line_width": self.width}
        return {name: np.asarray(values) for name, values in (columns | self.about).items()}

    def element(self) -> hv.Segments:
        """Draw the lines with HoloViews."""
        columns = self.columns()
        lines = hv.Segments(columns, ["x", "y", "x1", "y1"], list(columns)[4:], label=self.label)
        return lines.opts(
            color="color", line_width="line_width", line_cap="round", **_hover(self.about)
        )

    def svg(self, height: float) -> Iterable[str]:
        """Write the lines as SVG, in which y points down."""
        for (x0, y0, x1, y1), colour, width in zip(
            np.reshape(self.ends, (-1, 4)).tolist(), self.colour, self.width, strict=True
        ):
            yield (
                f'<line x1="{x0:.2f}" y1="{height - y0:.2f}" x2="{x1:.2f}" y2="{height - y1:.2f}" '
                f'stroke="{colour}" stroke-width="{width:.2f}"/>'
            )


@dataclass(frozen=True)
class Dots:
    """Circles of diameter `size`."""

    label: str
    x: Floats
    y: Floats
    colour: Sequence[str]
    size: float
    about: dict[str, Sequence[Any]] = field(default_factory=dict)
    fields = MappingProxyType({"fill_color": "color"})

    def columns(self) -> dict[str, Any]:
        """Return the columns of bokeh's data source."""
        columns: dict[str, Any] = {"x": self.x, "y": self.y}
        columns |= {"color": np.array(self.colour, dtype=object)}
        return {name: np.asarray(values) for name, values in (columns | self.about).items()}

    def element(self) -> hv.Points:
        """Draw the circles with HoloViews."""
        columns = self.columns()
        dots = hv.Points(columns, ["x", "y"], list(columns)[2:], label=self.label)
        return dots.opts(
            color="color",
            size=self.size,
            line_color=LIGHT.slate,
            line_width=0.6,
            **_hover(self.about),
        )

    def svg(self, height: float) -> Iterable[str]:
        """Write the circles as SVG, in which y points down."""
        for x, y, colour in zip(self.x, self.y, self.colour, strict=True):
            yield (
                f'<circle cx="{x:.2f}" cy="{height - y:.2f}" r="{self.size / 2:.2f}" '
                f'fill="{colour}" stroke="{LIGHT.slate}" stroke-width="0.6"/>'
            )


@dataclass(frozen=True)
class Texts:
    """Texts: `align` is the part of the text at x, `angle` is in degrees, `size` in points."""

    label: str
    x: Floats
    y: Floats
    text: Sequence[str]
    size: float = 8.0
    colour: str = LIGHT.ink
    align: str = "center"
    angle: Floats | None = None
    style: str = "normal"
    backed: bool = False

    @property
    def fields(self) -> dict[str, str]:
        """Column for each property of bokeh's glyph."""
        return {} if self.angle is None else {"angle": "angle"}

    def columns(self) -> dict[str, Any]:
        """Return the columns of bokeh's data source, with angles in radians."""
        columns: dict[str, Any] = {
            "x": np.asarray(self.x, dtype="f8"),
            "y": np.asarray(self.y, dtype="f8"),
            "text": np.array(self.text, dtype=object),
        }
        return columns if self.angle is None else columns | {"angle": np.radians(self.angle)}

    def element(self) -> hv.Labels:
        """Draw the texts with HoloViews."""
        columns = self.columns()
        options: dict[str, Any] = {}
        if self.angle is not None:
            columns["angle"] = self.angle
            options["angle"] = "angle"
        if self.backed:
            options["hooks"] = [backed]
        return hv.Labels(columns, ["x", "y"], list(columns)[2:], label=self.label).opts(
            text_color=self.colour,
            text_font_size=f"{self.size:g}pt",
            text_font_style=self.style,
            text_align=self.align,
            text_baseline="middle",
            default_tools=[],
            **options,
        )

    def svg(self, height: float) -> Iterable[str]:
        """Write the texts as SVG, in which y and angles point down."""
        anchor = {"left": "start", "center": "middle", "right": "end"}[self.align]
        weight = {"bold": ' font-weight="bold"', "italic": ' font-style="italic"'}
        angles = np.zeros(len(self.text)) if self.angle is None else self.angle
        for x, y, text, angle in zip(self.x, self.y, self.text, angles, strict=True):
            turned = f' transform="rotate({-angle:.2f} {x:.2f} {height - y:.2f})"' if angle else ""
            yield (
                f'<text x="{x:.2f}" y="{height - y:.2f}" font-size="{self.size * _POINT:.2f}" '
                f'fill="{self.colour}" text-anchor="{anchor}" dominant-baseline="central"'
                f"{weight.get(self.style, '')}{turned}>{html.escape(text)}</text>"
            )


Layer = Lines | Dots | Texts


def overlay(layers: Sequence[Layer]) -> hv.Overlay:
    """Draw layers with HoloViews, the first one at the bottom; their labels must differ."""
    elements = [layer.element() for layer in layers]
    elements[0].opts(
        default_tools=["save"], tools=["pan", "wheel_zoom", "reset"], active_tools=["wheel_zoom"]
    )
    return hv.Overlay(elements)


def figure(layers: Sequence[Layer], width: float, height: float, title: str) -> hv.Overlay:
    """Draw layers in a frame of ``width`` and ``height`` screen pixels."""
    return overlay(layers).opts(
        title=title,
        fontsize={"title": "9pt"},
        frame_width=round(width),
        frame_height=round(height),
        xlim=(0, width),
        ylim=(0, height),
        xaxis=None,
        yaxis=None,
        toolbar="above",
        show_legend=False,
        hooks=[plain_frame, few_marks],
    )


def svg(layers: Sequence[Layer], width: float, height: float, title: str) -> str:
    """Return layers as the text of an SVG file, the first layer at the bottom.

    width, height: of the figure without its title, in pixels. Each line of the title is a row.

    Examples
    --------
    >>> dot = Dots("Tips", np.array([3.0]), np.array([4.0]), ["#000000"], 2.0)
    >>> 'cx="3.00" cy="6.00" r="1.00"' in svg([dot], 20, 10, "one dot")
    True
    """
    rows = title.splitlines()
    room = 16.0 * len(rows) + 6
    words = "\n".join(
        f'<text x="6" y="{16 * (k + 1):.0f}" font-size="12">{html.escape(row)}</text>'
        for k, row in enumerate(rows)
    )
    body = "\n".join(line for layer in layers for line in layer.svg(height))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height + room:g}" '
        f'viewBox="0 0 {width:g} {height + room:g}" font-family="Helvetica, Arial, sans-serif">\n'
        f'<rect width="100%" height="100%" fill="{LIGHT.paper}"/>\n{words}\n'
        f'<g transform="translate(0 {room:g})" stroke-linecap="round">\n{body}\n</g>\n</svg>\n'
    )


def _hover(about: dict[str, Sequence[Any]]) -> dict[str, Any]:
    if not about:
        return {"default_tools": []}
    rows = [(name.replace("_", " "), f"@{{{name}}}") for name in about]
    return {"default_tools": [], "tools": [HoverTool(tooltips=rows)]}
