"""Fast update of a drawn picture with the data of another picture of the same layers.

For each frame of a DynamicMap HoloViews computes the options and the ranges of every layer: 100 ms
for an LD picture. This module sends only the columns that changed. It holds all code that depends
on the handles of HoloViews' bokeh plots, so it can be replaced as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.ld.plots.heatmap import ENDS
from genobit.visual.style import hooks_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import holoviews as hv

    from genobit.ld.plots.drawing import Drawing
    from genobit.ld.plots.outlines import Lines


class Repaint:
    """Keeps the plots of an overlay's layers; its hook goes on the overlay."""

    def __init__(self) -> None:
        self._plot: Any = None

    def hook(self, plot: Any, _element: Any) -> None:
        """Keep the plot on the first frame (a HoloViews hook)."""
        if hasattr(plot, "subplots"):
            self._plot = plot

    def show(self, picture: hv.Overlay) -> bool:
        """Draw a picture of the same layers and axes in the existing plot; keeps the ranges.

        Returns False if there is no plot yet.
        """
        if self._plot is None:
            return False
        for subplot, layer in zip(self._plot.subplots.values(), picture, strict=True):
            _paint(subplot, layer)
            for hook in hooks_of(layer):
                hook(subplot, layer)
        for hook in hooks_of(picture):
            hook(self._plot, picture)
        options = picture.opts.get("plot").kwargs
        self._name(options["title"], options.get("xlabel"), options.get("ylabel"))
        return True

    def paint(self, drawing: Drawing, *hooks: Callable[[Any, Any], None]) -> bool:
        """Draw an LD drawing of the same shape in the existing plot, without HoloViews objects.

        Runs the hooks with the plot and None. Returns False if there is no plot yet.
        """
        if self._plot is None:
            return False
        image, *layers = self._plot.subplots.values()
        _paint_image(image, drawing)
        drawing.hook(image, None)
        lines = (drawing.blocks, drawing.selected, drawing.lead)
        for subplot, some in zip(layers, lines, strict=True):
            _send(subplot, _columns(some))
        self._name(drawing.title, drawing.xlabel, drawing.ylabel)
        for hook in hooks:
            hook(self._plot, None)
        return True

    def _name(self, title: str, xlabel: str | None, ylabel: str | None) -> None:
        figure = self._plot.state
        figure.title.text = title
        for label, axis in ((xlabel, figure.xaxis), (ylabel, figure.yaxis)):
            if label is not None and axis:
                axis[0].axis_label = label


def _paint_image(subplot: Any, drawing: Drawing) -> None:
    left, bottom, right, top = drawing.bounds
    place = {"x": [left], "y": [bottom], "dw": [right - left], "dh": [top - bottom]}
    # bokeh counts rows from the bottom.
    subplot.handles["source"].data = {**place, "image": [drawing.pixels[::-1]]}
    mapper = subplot.handles["glyph"].color_mapper
    if list(mapper.palette) != drawing.colours:
        mapper.palette = drawing.colours


def _columns(lines: Lines) -> dict[str, Any]:
    return dict(zip(ENDS, np.array(lines, "f8").reshape(-1, len(ENDS)).T, strict=True))


def _paint(subplot: Any, layer: Any) -> None:
    columns, _, _ = subplot.get_data(layer, {}, {})
    _send(subplot, columns)


def _send(subplot: Any, columns: dict[str, Any]) -> None:
    source = subplot.handles["source"]
    if not _alike(source.data, columns):
        source.data = columns


def _alike(old: Any, new: dict[str, Any]) -> bool:
    return old.keys() == new.keys() and all(
        np.array_equal(np.asarray(old[name]), np.asarray(values)) for name, values in new.items()
    )
