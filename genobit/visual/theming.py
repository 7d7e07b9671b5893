"""Colours of Bokeh documents: those of the light theme, and their change on dark pages."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from bokeh.models import HoverTool, Toolbar
from bokeh.themes import Theme

from genobit.visual.tokens import BANDS, DARK, DARK_BANDS, DARK_GROUPS, GROUPS, LIGHT, ramp

#: Colours of a ramp: colours in between are those of the nearest one.
STEPS = 512
#: JavaScript function that replaces the colours in the text of a document.
DARKENING = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


#: A row of a tooltip. Bokeh's own has a pale blue label, which is hard to read on white.
_ROW = (
    '<div style="display: table-row">'
    '<span style="display: table-cell; text-align: right; opacity: 0.75">{}:&nbsp;</span>'
    '<span style="display: table-cell">{}</span></div>'
)


def make_readable(model: Any) -> None:
    """Give the tooltips and toolbars of a Bokeh model colours that suit light and dark pages."""
    for hover in model.select({"type": HoverTool}):
        if isinstance(hover.tooltips, list):
            rows = (_ROW.format(escape(label), value) for label, value in hover.tooltips)
            hover.tooltips = "".join(rows)
    for toolbar in model.select({"type": Toolbar}):
        # Bokeh makes those within a figure white on dark pages, too.
        toolbar.styles = {"background-color": LIGHT.paper}


def dark_colours() -> dict[str, Any]:
    """Return how colours of the light theme look in the dark one."""
    names = [field.name for field in fields(LIGHT) if isinstance(getattr(LIGHT, field.name), str)]
    plain = {getattr(LIGHT, name): getattr(DARK, name) for name in names}
    plain |= dict(zip(LIGHT.r2_bins, DARK.r2_bins, strict=True))
    plain |= dict(zip(BANDS, DARK_BANDS, strict=True))
    plain |= dict(zip(GROUPS, DARK_GROUPS, strict=True))
    ramps = [
        [ramp(getattr(theme, name), STEPS) for theme in (LIGHT, DARK)]
        for name in ("sequential", "diverging")
    ]
    return {"plain": plain, "ramps": ramps}


@cache
def theme() -> Theme:
    """Return the light theme for Bokeh; the browser turns its colours into those of dark pages."""
    axis = {"axis_label_text_color": LIGHT.slate, "major_label_text_color": LIGHT.quiet}
    lines = ("axis_line_color", "major_tick_line_color", "minor_tick_line_color")
    axis |= dict.fromkeys(lines, LIGHT.slate) | {"axis_label_text_font_style": "normal"}
    texts = {"background_fill_color": LIGHT.paper, "border_line_color": None}
    return Theme(
        json={
            "attrs": {
                "Plot": {
                    "background_fill_color": LIGHT.paper,
                    "border_fill_color": LIGHT.paper,
                    "outline_line_color": LIGHT.rule,
                },
                "Axis": axis,
                "Grid": {"grid_line_color": LIGHT.rule},
                "Title": {"text_color": LIGHT.ink},
                "Legend": texts | {"label_text_color": LIGHT.ink, "title_text_color": LIGHT.slate},
                "ColorBar": texts
                | {"major_label_text_color": LIGHT.quiet, "title_text_color": LIGHT.slate},
            }
        }
    )
