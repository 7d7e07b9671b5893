"""Shared parts of figures and explorers: style, colours, controls, selection, pictures as widgets.

May import: `io`, `data` and the engine; HoloViews, Bokeh, matplotlib, ipywidgets, anywidget.
"""

from __future__ import annotations

from genobit.engine.extras import needed_by, require

with needed_by("genobit.plots"):
    import holoviews.plotting.bokeh
require("genobit.plots", "matplotlib")

# Options need a backend. Without hv.extension(), HoloViews names one that is not loaded.
if holoviews.Store.current_backend not in holoviews.Store.renderers:
    holoviews.Store.set_current_backend("bokeh")
