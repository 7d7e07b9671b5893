"""A picture that is there already, painted anew with the data of another of the same layers.

For each frame of a DynamicMap HoloViews works out the options and the ranges of every layer, 100 ms
for an LD picture; here the columns that changed are sent. Beside `patching`, and as replaceable:
whatever depends on the handles of HoloViews' bokeh plots is here.
"""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np

from .view import hooks_of


class Repaint:
    """Holds the plots of an overlay's layers; its hook goes on the overlay."""

    def __init__(self) -> None:
        self._plot: Any = None

    def hook(self, plot: Any, _element: Any) -> None:
        """Take hold of the plot on the first frame.

        Parameters
        ----------
        plot, _element
            As HoloViews calls hooks.
        """
        if hasattr(plot, "subplots"):
            self._plot = plot

    def show(self, picture: hv.Overlay) -> bool:
        """Paint a picture where the first one is; ranges stay as they are.

        Parameters
        ----------
        picture
            Of the same layers, colours apart from those of an image, and axes.

        Returns
        -------
        Whether there was a first one.
        """
        if self._plot is None:
            return False
        for subplot, layer in zip(self._plot.subplots.values(), picture, strict=True):
            (_paint_image if isinstance(layer, hv.Image) else _paint)(subplot, layer)
            for hook in hooks_of(layer):
                hook(subplot, layer)
        for hook in hooks_of(picture):
            hook(self._plot, picture)
        options = picture.opts.get("plot").kwargs
        figure = self._plot.state
        figure.title.text = options["title"]
        for name, axis in (("xlabel", figure.xaxis), ("ylabel", figure.yaxis)):
            if name in options and axis:
                axis[0].axis_label = options[name]
        return True


def _paint_image(subplot: Any, image: hv.Image) -> None:
    left, bottom, right, top = image.bounds.lbrt()
    place = {"x": [left], "y": [bottom], "dw": [right - left], "dh": [top - bottom]}
    values = image.dimension_values(2, flat=False)
    subplot.handles["source"].data = {**place, "image": [values]}
    mapper = subplot.handles["glyph"].color_mapper
    palette = image.opts.get("style").kwargs["cmap"]
    if list(mapper.palette) != palette:
        mapper.palette = palette


def _paint(subplot: Any, layer: Any) -> None:
    columns, _, _ = subplot.get_data(layer, {}, {})
    source = subplot.handles["source"]
    if not _alike(source.data, columns):
        source.data = columns


def _alike(old: Any, new: dict[str, Any]) -> bool:
    return old.keys() == new.keys() and all(
        np.array_equal(np.asarray(old[name]), np.asarray(values)) for name, values in new.items()
    )
