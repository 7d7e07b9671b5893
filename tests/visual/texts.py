"""The texts of a figure for papers, as they are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.visual.paper.page import style

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox


def texts_of(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return each text that is seen, with its box in pixels."""
    # Fonts are chosen when a figure is drawn.
    with style():
        figure.draw_without_rendering()
        return [
            (text.get_text(), text.get_window_extent())
            for axes in figure.axes
            for text in _texts(axes)
            if text.get_text() and text.get_visible()
        ]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Return the pairs of texts that overlap, and texts that leave the page, with ""."""
    found, page = texts_of(figure), figure.bbox
    return [
        (name, other)
        for k, (name, box) in enumerate(found)
        for other, there in found[k + 1 :]
        if box.overlaps(there)
    ] + [
        (name, "")
        for name, box in found
        if not (page.x0 <= box.x0 < box.x1 <= page.x1 and page.y0 <= box.y0 < box.y1 <= page.y1)
    ]


def _texts(axes: Axes) -> Iterator[Text]:
    yield from axes.texts
    yield from (axes.title, axes._left_title, axes._right_title)  # type: ignore[attr-defined]
    if axes.axison:
        for axis in (axes.xaxis, axes.yaxis):
            yield axis.label
            low, high = sorted(axis.get_view_interval())
            # Ticks beyond the limits exist but are not drawn.
            inside = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            yield from (tick.label1 for tick in inside)
    for child in axes.child_axes:
        yield from _texts(child)
