"""Colours of the cells of a triangle, as numbers of one byte."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import LinearColorMapper

from genobit.visual.style import NO_VALUE_COLOUR, WHITE, palette
from genobit.visual.tokens import ramp

if TYPE_CHECKING:
    from collections.abc import Callable

    from genobit.visual.style import Scale

#: Shades outside of the triangle, of pairs without a value, and of pairs below the threshold.
OUTSIDE, NO_VALUE, BELOW = range(3)
#: Shades in all: one for each number of a byte.
SHADES = 256
_FIRST = BELOW + 1
_TRANSPARENT = "#ffffff00"
#: Code of a missing value in the hover.
_MISSING = 2**16 - 1


def shades(values: np.ndarray, scale: Scale, threshold: float = 0.0) -> np.ndarray:
    """Return the shades of values within the limits of a scale, uint8 of the same shape.

    NaN has a shade of its own, and so have values closer to 0 than `threshold`.

    Examples
    --------
    >>> from genobit.visual.style import scale_of
    >>> shades(np.array([0.0, 1.0, 0.1, np.nan]), scale_of("r2"), threshold=0.05)
    array([  2, 255,  28,   1], dtype=uint8)
    """
    low, high = scale.limits
    count = SHADES - _FIRST
    with np.errstate(invalid="ignore"):
        at = np.floor((values - low) * (count / (high - low)))
    drawn = (_FIRST + np.clip(np.nan_to_num(at), 0, count - 1)).astype("u1")
    if threshold > 0:
        drawn[np.abs(values) < threshold] = BELOW
    drawn[np.isnan(values)] = NO_VALUE
    return drawn


def colours_of_shades(scale: Scale) -> list[str]:
    """Return the colour of each shade of a scale."""
    return [_TRANSPARENT, NO_VALUE_COLOUR, WHITE, *ramp(scale.stops, SHADES - _FIRST)]


def codes(values: np.ndarray, scale: Scale) -> np.ndarray:
    """Return the upper triangle of a square row by row, as uint16 over the limits of a scale.

    The hover shows three digits. Four bytes for each pair would double the data of a frame.
    """
    low, high = scale.limits
    with np.errstate(invalid="ignore"):
        at = np.rint((values[_upper(len(values))] - low) * ((_MISSING - 1) / (high - low)))
    return np.nan_to_num(at, nan=_MISSING).astype("u2")


@lru_cache(maxsize=2)
def _upper(n: int) -> np.ndarray:
    return ~np.tri(n, k=-1, dtype=bool)


def key_hook(scale: Scale, threshold: float) -> Callable[[Any, Any], None]:
    """Make a HoloViews hook that lets the colour bar show the statistic in place of shades."""
    colours = palette(scale, threshold)

    def hook(plot: Any, _element: Any) -> None:
        bar = plot.handles.get("colorbar")
        if bar is None:
            return
        if bar.color_mapper.high != scale.limits[1] or list(bar.color_mapper.palette) != colours:
            low, high = scale.limits
            bar.color_mapper = LinearColorMapper(palette=colours, low=low, high=high)

    return hook
