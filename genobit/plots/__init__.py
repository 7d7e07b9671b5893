"""Labelled results as pictures: pure functions that return HoloViews objects.

May import: genobit.accessor's results, xarray, holoviews, bokeh. No widgets, no statistics
beyond choosing, binning and colouring what is drawn.
"""

from __future__ import annotations

try:
    import holoviews.plotting.bokeh
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"genobit.plots draws with holoviews and bokeh, and {error.name} is not installed: "
        "pip install 'genobit[viz]'"
    ) from error

# Options need a backend, and without hv.extension() HoloViews names one that is not loaded.
if holoviews.Store.current_backend not in holoviews.Store.renderers:
    holoviews.Store.set_current_backend("bokeh")

from .ld import ld_heatmap, ld_triangle
from .ld_curves import allele_frequency_spectrum, ld_decay, ld_track

__all__ = [
    "allele_frequency_spectrum",
    "ld_decay",
    "ld_heatmap",
    "ld_track",
    "ld_triangle",
]
