"""Size and background of plots as `genobit.get_options()` has them.

What `genobit.plots` names is wrapped here. Explorers take the same functions from their modules, as
they are: an explorer has one size and one look.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import holoviews as hv

from genobit.engine.options import get_options

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

#: JupyterLab's dark layout and font colours.
_PAPER, _INK, _LINE = "#111111", "#e0e0e0", "#616161"
_SIZES = ("frame_width", "frame_height", "width", "height")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw as `draw` does, in the size and on the background that the options say."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        picture: Any = draw(*args, **kwargs)
        options = get_options()
        if options.plot_scale != 1.0:
            _resize(picture, options.plot_scale)
        if options.plot_theme == "dark":
            _darken(picture)
        return picture

    return drawn


def _resize(picture: Any, scale: float) -> None:
    for part in picture.traverse(specs=[hv.Overlay, hv.Element]):
        set_ = part.opts.get("plot").kwargs
        sizes = {name: round(set_[name] * scale) for name in _SIZES if set_.get(name)}
        if sizes:
            part.opts(**sizes)


def _darken(picture: Any) -> None:
    # A table is HTML and follows the page.
    if not isinstance(picture, hv.Table):
        earlier = picture.opts.get("plot").kwargs.get("hooks", [])
        picture.opts(hooks=[*earlier, dark])


def dark(plot: Any, _element: Any) -> None:
    """Put light letters round a plot (a HoloViews hook).

    The picture itself stays on white, which in its colours means "none".
    """
    figure = plot.state
    figure.border_fill_color = _PAPER
    figure.title.text_color = _INK
    for axis in figure.axis:
        axis.update(
            axis_label_text_color=_INK,
            major_label_text_color=_INK,
            major_tick_line_color=_LINE,
            minor_tick_line_color=_LINE,
            axis_line_color=_LINE,
        )
    for bar in figure.select({"type": _bokeh().ColorBar}):
        bar.update(background_fill_color=_PAPER, major_label_text_color=_INK, title_text_color=_INK)


def _bokeh() -> Any:
    from bokeh import models

    return models
