"""What Bokeh has of a picture: the glyphs that a browser draws, and their colours."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np


def glyph_of(picture: hv.core.Dimensioned, kind: str, name: str | None = None) -> Any:
    """The renderer of a picture's only glyph of a kind, among those of a name if one is given."""
    found = [
        renderer
        for renderer in hv.render(picture).renderers
        if type(getattr(renderer, "glyph", None)).__name__ == kind and name in (None, renderer.name)
    ]
    assert len(found) == 1, found
    return found[0]


def colours_of_image(picture: hv.core.Dimensioned) -> np.ndarray:
    """The colour of each pixel of a picture's image, the lowest row first.

    As Bokeh's LinearColorMapper: the interval between the limits is cut into as many parts as
    there are colours.
    """
    renderer = glyph_of(picture, "Image")
    (values,), mapper = renderer.data_source.data["image"], renderer.glyph.color_mapper
    values = np.asarray(values, dtype="f8")
    share = (np.nan_to_num(values) - mapper.low) / (mapper.high - mapper.low)
    at = np.clip(share * len(mapper.palette), 0, len(mapper.palette) - 1).astype(int)
    colours = np.array(mapper.palette, dtype=object)[at]
    if mapper.low_color is not None:
        colours[values < mapper.low] = mapper.low_color
    colours[np.isnan(values)] = mapper.nan_color
    return colours
