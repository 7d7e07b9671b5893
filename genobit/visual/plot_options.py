"""Apply the size and background of `genobit.get_options()` to plots.

`genobit.plots` wraps its functions with `styled`. Explorers call the functions without it: an
explorer has one size and one look.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec

import holoviews as hv
from bokeh.models.annotations import ColorBar
from holoviews.core import Dimensioned

from genobit.engine.options import get_options
from genobit.engine.own_words import explained
from genobit.visual.picture.screen import paint
from genobit.visual.picture.spec import Picture
from genobit.visual.style import with_hooks
from genobit.visual.tokens import DARK

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")

_SIZES = ("frame_width", "frame_height", "width", "height")


def styled(draw: Callable[P, Any]) -> Callable[P, Any]:
    """Return `draw` with its pictures as HoloViews objects, as `on_screen` makes them.

    An unknown argument raises a TypeError with the closest names.
    """

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Any:
        return on_screen(draw(*args, **kwargs))

    return explained(drawn, f"plots.{draw.__name__}")


def on_screen(picture: Any) -> Any:
    """Return a picture as a HoloViews object in the size and on the background of the options."""
    painted = paint(picture) if isinstance(picture, Picture) else picture
    if not isinstance(painted, Dimensioned):  # a table of pandas
        return painted
    options = get_options()
    if options.plot_scale != 1.0:
        _resize(painted, options.plot_scale)
    if options.plot_theme == "dark":
        _darken(painted)
    return painted


def _resize(picture: Any, scale: float) -> None:
    for part in picture.traverse(specs=[hv.Overlay, hv.Element]):
        set_ = part.opts.get("plot").kwargs
        sizes = {name: round(set_[name] * scale) for name in _SIZES if set_.get(name)}
        if sizes:
            part.opts(**sizes)


def _darken(picture: Any) -> None:
    # A table is HTML and follows the theme of the page.
    for part in picture if isinstance(picture, hv.Layout) else [picture]:
        if not isinstance(part, hv.Table):
            with_hooks(part, dark)


def dark(plot: Any, _element: Any) -> None:
    """Draw the border, title and axes of a plot in dark-theme colours (a HoloViews hook).

    The picture keeps its white background, because white means "none" in its colours.
    """
    figure = plot.state
    figure.border_fill_color = DARK.paper
    figure.title.text_color = DARK.ink
    for axis in figure.axis:
        axis.update(
            axis_label_text_color=DARK.ink,
            major_label_text_color=DARK.ink,
            major_tick_line_color=DARK.edge,
            minor_tick_line_color=DARK.edge,
            axis_line_color=DARK.edge,
        )
    for bar in figure.select({"type": ColorBar}):
        bar.update(
            background_fill_color=DARK.paper,
            major_label_text_color=DARK.ink,
            title_text_color=DARK.ink,
        )
