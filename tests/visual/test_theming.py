"""Colours of tooltips and toolbars on light and dark pages."""

from __future__ import annotations

import holoviews as hv
from bokeh.models import HoverTool, Toolbar

from genobit.visual.explorer.picture import document_of
from genobit.visual.figure import drawn
from genobit.visual.tokens import LIGHT


def test_tooltips_and_toolbars__have_the_colours_of_the_page() -> None:
    for shown in (drawn, lambda view: document_of(view).roots[0]):
        hover = HoverTool(tooltips=[("r² < 1", "@y{0.00}")])
        model = shown(hv.Points([(1, 2)]).opts(tools=[hover]))
        (found,) = model.select({"type": HoverTool})
        # Bokeh's rows have labels in pale blue, and no text of theirs is markup.
        assert "r² &lt; 1:" in found.tooltips
        assert "@y{0.00}" in found.tooltips
        assert {bar.styles["background-color"] for bar in model.select({"type": Toolbar})} == {
            LIGHT.paper
        }
