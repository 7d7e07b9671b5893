"""Results of LD to draw, and what figures for papers show."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg

from genobit.visual.paper.page import style


def ld_result(values: np.ndarray, position: np.ndarray | None = None, name: str = "r2"):
    n_rows, n_columns = values.shape
    along = np.arange(1, max(values.shape) + 1) * 1_000 if position is None else position
    return xr.DataArray(
        values.astype("f4"),
        dims=("variants_0", "variants_1"),
        coords={
            "variant_position_0": ("variants_0", along[:n_rows]),
            "variant_position_1": ("variants_1", along[:n_columns]),
            "variant_id_0": ("variants_0", [f"rs{k}" for k in range(n_rows)]),
            "variant_id_1": ("variants_1", [f"rs{k}" for k in range(n_columns)]),
        },
        name=name,
        attrs={"statistic": name},
    )


def symmetric(n: int, seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).random((n, n))
    values = (values + values.T) / 2
    np.fill_diagonal(values, 1.0)
    return values


def panels(figure):
    return figure.axes[0].child_axes


def texts_of(figure):
    """Every text that is drawn, with its box in pixels."""
    figure.set_dpi(300)
    with style():  # as `write` does: fonts are found when a figure is drawn
        FigureCanvasAgg(figure).draw()
        return [(text, text.get_window_extent()) for text in _visible(figure)]


def _visible(figure):
    found = []
    for axes in (figure.axes[0], *panels(figure)):
        named = [*axes.texts]
        if axes.axison:
            for axis in (axes.xaxis, axes.yaxis):
                low, high = sorted(axis.get_view_interval())
                slack = 1e-6 * (high - low)
                ticks = axis.get_major_ticks()
                inside = [t for t in ticks if low - slack <= t.get_loc() <= high + slack]
                named += [axis.label, *(x for t in inside for x in (t.label1, t.label2))]
        found += [x for x in named if x.get_text() and x.get_visible()]
    return found


def require_legible(figure):
    """Fail where a text leaves the page, or meets another one."""
    found = texts_of(figure)
    page = figure.bbox
    for k, (text, box) in enumerate(found):
        assert min(box.x0, box.y0) >= 0, text
        assert box.x1 <= page.x1, text
        assert box.y1 <= page.y1, text
        for other, theirs in found[:k]:
            # Boxes of texts include the height of letters that they do not have.
            assert not box.padded(-2).overlaps(theirs.padded(-2)), (text, other)
    return [text.get_text() for text, _ in found]
