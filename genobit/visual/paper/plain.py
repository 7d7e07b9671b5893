"""The form for papers of any HoloViews plot: its elements on one axes, then the furniture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from genobit.visual.paper.marks import DRAWN, Look
from genobit.visual.paper.page import INCH, Paper, shows, size_of
from genobit.visual.paper.table import draw_table
from genobit.visual.tokens import NOTE_PT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Millimetres of title, labels and margins above, below and beside the axes of a page.
_AROUND, _BESIDE = 16.0, 18.0
_DEFAULT = (640, 300)


def paper_of(picture: Any) -> Paper:
    """Return the form for papers of a HoloViews element or overlay.

    Examples
    --------
    >>> paper_of(hv.Curve([1, 3, 2])).height(90)
    49.75
    """
    if isinstance(picture, hv.Table):
        return draw_table(picture)
    width, height = _frame(picture)

    def tall(width_mm: float) -> float:
        return _AROUND + (width_mm - _BESIDE) * height / width

    return Paper(lambda axes: draw_plain(axes, picture), tall)


def _elements(picture: Any) -> list[Any]:
    return list(picture) if isinstance(picture, hv.Overlay) else [picture]


def _options(picture: Any) -> dict[str, Any]:
    """Return the options of a plot; those of an overlay go before those of its elements."""
    merged: dict[str, Any] = {}
    for part in (*reversed(_elements(picture)), picture):
        found = part.opts.get("plot").kwargs
        merged |= {name: value for name, value in found.items() if value is not None}
        # None says that there is no axis.
        merged |= {name: None for name in ("xaxis", "yaxis") if found.get(name, "") is None}
    return merged


def _frame(picture: Any) -> tuple[float, float]:
    options = _options(picture)
    width = options.get("frame_width") or options.get("width") or _DEFAULT[0]
    height = options.get("frame_height") or options.get("height") or _DEFAULT[1]
    return float(width), float(height)


def draw_plain(axes: Axes, picture: Any) -> None:
    """Draw a HoloViews element or overlay into an empty axes."""
    options = _options(picture)
    points = size_of(axes)[0] / INCH * 72 / _frame(picture)[0]
    # Marks for a screen are a bit larger than marks on paper.
    points = float(np.clip(0.9 * points, 0.45, 0.75))
    bar = None
    for element in _elements(picture):
        drawn = DRAWN.get(type(element))
        if drawn is None:
            raise TypeError(
                f"a {type(element).__name__} has no form for papers; save the figure as .html"
            )
        if len(element) or isinstance(element, hv.HLine):
            mapped = drawn(axes, Look(element, points))
            if mapped is not None and element.opts.get("plot").kwargs.get("colorbar"):
                bar = mapped, element.opts.get("plot").kwargs
    _limits(axes, picture, options)
    _ticks(axes, options)
    _texts(axes, picture, options)
    if bar is not None:
        _colour_bar(axes, *bar)
    _legend(axes, picture, options)


def _limits(axes: Axes, picture: Any, options: dict[str, Any]) -> None:
    axes.autoscale_view()
    for name in ("x", "y"):
        if options.get(f"log{name}"):
            getattr(axes, f"set_{name}scale")("log")
        low, high = options.get(f"{name}lim") or (None, None)
        getattr(axes, f"set_{name}lim")(low, high)
        if options.get(f"invert_{name}axis"):
            getattr(axes, f"invert_{name}axis")()
    images = [part for part in _elements(picture) if isinstance(part, hv.Image)]
    if images and not options.get("xlim"):
        left, bottom, right, top = images[0].bounds.lbrt()
        axes.set_xlim(left, right)
        if not options.get("ylim"):
            axes.set_ylim(*((top, bottom) if options.get("invert_yaxis") else (bottom, top)))
    if options.get("aspect") == "equal" or options.get("data_aspect"):
        axes.set_aspect("equal")


def _ticks(axes: Axes, options: dict[str, Any]) -> None:
    for name, spine in (("x", "bottom"), ("y", "left")):
        axis = getattr(axes, f"{name}axis")
        ticks = options.get(f"{name}ticks")
        if f"{name}axis" in options and options[f"{name}axis"] in {None, "bare"}:
            axis.set_ticks([])
            axes.spines[spine].set_visible(options[f"{name}axis"] is not None)
        elif isinstance(ticks, (list, tuple)):
            _set_ticks(axes, name, list(ticks))
        elif isinstance(ticks, int) and ticks:
            axis.set_major_locator(MaxNLocator(ticks))
        elif options.get(f"log{name}"):
            low, high = axis.get_view_interval()
            narrow = high < 40 * low
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,), numticks=8))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
            axis.minorticks_off()
        else:
            _plain_numbers(axis)
    if options.get("xrotation"):
        axes.tick_params(axis="x", rotation=options["xrotation"])


def _set_ticks(axes: Axes, name: str, ticks: list[Any]) -> None:
    """Set given ticks, as far as they are inside of the limits."""
    pairs = [tick if isinstance(tick, tuple) else (tick, f"{tick:,}") for tick in ticks]
    low, high = sorted(getattr(axes, f"get_{name}lim")())
    inside = [(at, text) for at, text in pairs if low <= at <= high]
    axis = getattr(axes, f"{name}axis")
    axis.set_ticks([at for at, _ in inside], [str(text) for _, text in inside])
    axis.minorticks_off()


def _plain_numbers(axis: Any) -> None:
    """Write thousands with commas, and no offset."""
    if type(axis.get_major_formatter()).__name__ != "ScalarFormatter":
        return
    low, high = axis.get_view_interval()
    if max(abs(low), abs(high)) >= 1e4:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    else:
        axis.get_major_formatter().set_useOffset(False)


def _texts(axes: Axes, picture: Any, options: dict[str, Any]) -> None:
    title = str(options.get("title", "")).strip()
    if title and shows("notes"):
        axes.set_title(_wrapped(title, size_of(axes)[0]), fontweight="bold")
    first = _elements(picture)[0]
    for k, name in enumerate(("x", "y")):
        if options.get(f"{name}axis", "") is None:
            continue
        dimension = first.get_dimension(k)
        known = dimension.pprint_label if dimension is not None else ""
        getattr(axes, f"set_{name}label")(options.get(f"{name}label", known))


def _wrapped(title: str, width_mm: float) -> str:
    """Break the lines of a title at the width of the page."""
    import textwrap

    letters = max(int(width_mm / 1.45), 20)
    lines = [line for part in title.split("\n") for line in textwrap.wrap(part, letters) or [""]]
    return "\n".join(lines)


def _colour_bar(axes: Axes, mapped: Any, options: dict[str, Any]) -> None:
    figure = axes.get_figure()
    bar = figure.colorbar(mapped, ax=axes, fraction=0.03, pad=0.02, aspect=24)  # type: ignore[union-attr]
    bar.outline.set_linewidth(0.3)
    bar.ax.tick_params(labelsize=NOTE_PT)
    label = str(options.get("clabel") or "")
    bar.set_label(_wrapped(label, 0.8 * size_of(axes)[1]), fontsize=NOTE_PT)
    given = options.get("colorbar_opts") or {}
    bar.ax.set_ylim(given.get("display_low"))
    if "ticker" in given:
        ticks = list(given["ticker"].ticks)
        texts = given.get("major_label_overrides") or {}
        bar.set_ticks(ticks, labels=[str(texts.get(tick, f"{tick:g}")) for tick in ticks])


def _legend(axes: Axes, picture: Any, options: dict[str, Any]) -> None:
    """Draw the key of categories, or of the labels of several layers."""
    entries = [entry for part in _elements(picture) for entry in _categories(part)]
    handles: list[Any] = [
        axes.scatter([], [], s=12, color=colour, label=text) for text, colour in entries
    ]
    title = None
    if not handles and options.get("show_legend", True):
        found, texts = axes.get_legend_handles_labels()
        pairs = [(h, t) for h, t in zip(found, texts, strict=True) if not t.startswith("_")]
        handles = [handle for handle, _ in pairs] if len(pairs) > 1 else []
    if entries:
        title = str((options.get("legend_opts") or {}).get("title", "")) or None
    if handles:
        axes.legend(
            handles=handles,
            title=title,
            title_fontsize=NOTE_PT,
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0,
            handletextpad=0.4,
        )


def _categories(element: Any) -> list[tuple[str, str]]:
    """Return the key of an element whose colours are categories."""
    colours = element.opts.get("style").kwargs.get("cmap")
    if not isinstance(colours, dict) or not element.opts.get("plot").kwargs.get("show_legend"):
        return []
    return [(str(text), colour) for text, colour in colours.items()]
