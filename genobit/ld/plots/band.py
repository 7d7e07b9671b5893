"""Linkage disequilibrium of the pairs of a window, as a band below the chromosome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import holoviews as hv
import numpy as np

from genobit.visual.differences import scale_with
from genobit.visual.style import WIDTH, bar_title, margins, number, palette, scale_of

if TYPE_CHECKING:
    import xarray as xr

#: Most pixels along the variants and along their distance.
_ACROSS, _DOWN = 640, 160


def ld_band(band: xr.DataArray) -> hv.Image:
    """Draw the result of `.genobit.ld(window=)`.

    Each cell is a pair of variants, placed midway between them; its depth is the number of variants
    from one to the other. White cells are pairs outside the window, or without a value. A lazy
    result is computed.

    Raises ValueError for an empty band.

    Examples
    --------
    >>> import xarray as xr
    >>> band = xr.DataArray([[0.5], [np.nan]], dims=("variants", "offsets"), name="r2")
    >>> ld_band(band).opts.get().kwargs["title"]
    'r² of 2 variants, up to 1 apart'
    """
    if not band.size:
        raise ValueError("the band has no pair of variants, so there is nothing to draw")
    band = band.compute()
    scale = scale_with(band.values, scale_of(str(band.attrs.get("statistic", band.name))))
    first = int(band["offsets"].values[0]) if "offsets" in band.coords else 1
    n_variants, window = band.shape
    across, down = -(-n_variants // _ACROSS), -(-window // _DOWN)
    pixels = band_pixels(band.values, first, across, down)
    title = (
        f"{scale.key.label} of {number(n_variants, 'variant')}, up to {first + window - 1:,} apart"
    )
    if max(across, down) > 1:
        title += f"\npixel: strongest of {across} × {down} pairs"
    low = first - 0.5
    bounds = (-0.5, low, across * pixels.shape[1] - 0.5, low + down * len(pixels))
    value = hv.Dimension("value", label=scale.label)
    image = hv.Image(pixels, ["x", "y"], value, bounds=bounds, rtol=1)
    height = max(160, min(WIDTH // 3, 4 * window))
    return image.opts(
        cmap=palette(scale),
        clim=scale.limits,
        clipping_colors={"NaN": "transparent"},
        colorbar=True,
        clabel=bar_title(scale, height),
        colorbar_opts=scale.bar,
        title=title,
        xlabel="index of the variant",
        ylabel="variants apart",
        invert_yaxis=True,
        frame_width=WIDTH,
        frame_height=height,
        default_tools=["save"],
        tools=["hover", "xpan", "xwheel_zoom", "xbox_zoom", "reset"],
        hooks=[margins],
    )


def band_pixels(values: np.ndarray, first: int, across: int, down: int) -> np.ndarray:
    """Return the pixels of a band (variants, offsets), largest offset in the first row.

    ``first`` is the first offset; a pixel is ``across`` variants wide and ``down`` offsets high.

    Examples
    --------
    >>> band_pixels(np.array([[0.5, 0.25], [1.0, np.nan], [np.nan] * 2]), 1, 1, 1)
    array([[ nan, 0.25,  nan],
           [0.5 , 1.  ,  nan]])
    """
    n_variants, window = values.shape
    shape = -(-window // down), -(-n_variants // across)
    high, low = np.full(shape, np.nan, values.dtype), np.full(shape, np.nan, values.dtype)
    for k in range(window):
        middle = (np.arange(n_variants) + (first + k) / 2).astype(np.intp) // across
        inside = middle < shape[1]
        at, column = middle[inside], values[inside, k]
        np.fmax.at(high[k // down], at, column)
        np.fmin.at(low[k // down], at, column)
    return np.where(-low > high, low, high)[::-1]
