"""Layers of a picture that is there already, replaced in the browser without drawing it anew.

A DynamicMap works out the options and ranges of every layer for each frame, a second for a tree;
here the columns of the layers that changed are sent. Beside `selecting`, and as replaceable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genobit.parsimony.plots.pixel_layers import Layer


class Patches:
    """Holds the sources of a picture's layers by their labels; its hook goes on the overlay."""

    def __init__(self) -> None:
        self._plot: Any = None
        self._sources: dict[str, Any] = {}
        self._wanted: dict[str, Layer] = {}
        self._title = ""

    def hook(self, plot: Any, _element: Any) -> None:
        """Take hold of the sources on the first frame.

        Parameters
        ----------
        plot, _element
            As HoloViews calls hooks.
        """
        if self._plot is plot or not hasattr(plot, "subplots"):
            return
        self._plot = plot
        for subplot in plot.subplots.values():
            self._sources[subplot.current_frame.label] = subplot.handles
        self.show(self._wanted.values(), self._title)

    def show(self, layers: Iterable[Layer], title: str = "") -> None:
        """Show these layers in the place of those with the same labels.

        Parameters
        ----------
        layers
            Of `genobit.parsimony.plots.pixel_layers`.
        title
            Over the picture; "" leaves the one that is there.
        """
        if self._plot is None:
            self._wanted |= {layer.label: layer for layer in layers}
            self._title = title or self._title
            return
        for layer in layers:
            handles = self._sources[layer.label]
            columns = layer.columns()
            if _alike(handles["source"].data, columns):
                continue
            handles["source"].data = columns
            # HoloViews makes one value of a column that has the same one throughout.
            handles["glyph"].update(**layer.fields)
        if title:
            self._plot.state.title.text = title


def _alike(old: Any, new: dict[str, Any]) -> bool:
    return all(
        name in old and len(old[name]) == len(values) and np.all(np.asarray(old[name]) == values)
        for name, values in new.items()
    )
