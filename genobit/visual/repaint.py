"""Fast updates of a drawn figure: only the columns that changed are sent to the browser.

For each frame of a DynamicMap HoloViews computes the options and the ranges of every layer: 100 ms
for an LD picture, a second for a tree. This file depends on the handles of HoloViews' bokeh plots,
and can be replaced as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.visual.style import hooks_of

if TYPE_CHECKING:
    import holoviews as hv


class Repaint:
    """Keeps the plot of an overlay; its hook goes on the overlay."""

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
            columns, _, _ = subplot.get_data(layer, {}, {})
            send(subplot, columns)
            for hook in hooks_of(layer):
                hook(subplot, layer)
        for hook in hooks_of(picture):
            hook(self._plot, picture)
        options = picture.opts.get("plot").kwargs
        self._name(options["title"], options.get("xlabel"), options.get("ylabel"))
        return True

    def _name(self, title: str, xlabel: str | None = None, ylabel: str | None = None) -> None:
        """Set the title and the names of the axes; None keeps a name."""
        figure = self._plot.state
        figure.title.text = title
        for label, axis in ((xlabel, figure.xaxis), (ylabel, figure.yaxis)):
            if label is not None and axis:
                axis[0].axis_label = label


def send(subplot: Any, columns: dict[str, Any]) -> bool:
    """Replace the columns of a layer, and return whether any of them has changed."""
    source = subplot.handles["source"]
    changed = not all(
        name in source.data and np.array_equal(np.asarray(source.data[name]), np.asarray(values))
        for name, values in columns.items()
    )
    if changed:
        source.data = columns
    return changed
