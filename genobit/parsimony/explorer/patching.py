"""Updates of single layers of a figure in the browser, without drawing the figure again.

For each frame, a DynamicMap computes the options and ranges of every layer, which takes a second
for a tree. Here, only the columns of changed layers are sent. This file depends on bokeh's sources
and can be replaced, like `genobit.visual.selecting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genobit.parsimony.plots.pixel_layers import Layer


class Patches:
    """Data sources of a figure's layers by label; `hook` is a hook of the overlay."""

    def __init__(self) -> None:
        self._plot: Any = None
        self._sources: dict[str, Any] = {}
        self._wanted: dict[str, Layer] = {}
        self._title = ""

    def hook(self, plot: Any, _element: Any) -> None:
        """Store the data sources at the first frame; HoloViews calls this hook."""
        if self._plot is plot or not hasattr(plot, "subplots"):
            return
        self._plot = plot
        for subplot in plot.subplots.values():
            self._sources[subplot.current_frame.label] = subplot.handles
        self.show(self._wanted.values(), self._title)

    def show(self, layers: Iterable[Layer], title: str = "") -> None:
        """Replace the layers with the same labels; an empty ``title`` keeps the old title."""
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
            # HoloViews turns a column with equal values into a single value of the glyph.
            handles["glyph"].update(**layer.fields)
        if title:
            self._plot.state.title.text = title


def _alike(old: Any, new: dict[str, Any]) -> bool:
    return all(
        name in old and len(old[name]) == len(values) and np.all(np.asarray(old[name]) == values)
        for name, values in new.items()
    )
