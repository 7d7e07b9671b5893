"""Samples that are selected by hand in the GRM explorer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from genobit.visual.style import SELECTED_COLOUR
from tests.browser.explorers import GRM
from tests.browser.jupyterlab import by_hand, drawn, place, redrawn, settled, until


def drag(
    page: Any, view: str, *corners: tuple[float, float], answer: Callable[[], bool], what: str
) -> None:
    """Draw over a view, from corner to corner, in shares of its width and height."""
    by_hand(lambda: draw(page, view, *corners), answer, what)


def draw(page: Any, view: str, *corners: tuple[float, float]) -> None:
    # What is drawn over a picture that is just being replaced is lost with it.
    settled(GRM.figure(page, view))
    box = place(GRM.figure(page, view))
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for x, y in places[1:]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()


def is_marked(picture: np.ndarray) -> np.ndarray:
    """Return the pixels in the colour of selected samples, bool (y, x)."""
    colour = [int(SELECTED_COLOUR[k : k + 2], 16) for k in (1, 3, 5)]
    return (picture[..., :3] == colour).all(axis=2)


def lasso_selects_everywhere(page: Any) -> None:
    before = settled(GRM.figure(page, "heatmap"))
    drag(
        page,
        "scatter",
        *((0.2, 0.2), (0.85, 0.2), (0.85, 0.5), (0.2, 0.5)),
        answer=lambda: "samples (" in GRM.selection(page),
        what="the selection on the kernel",
    )
    assert 0 < int(re.search(r"(\d+) sample", GRM.selection(page))[1]) < 90
    marked = is_marked(before).sum()
    until(
        lambda: is_marked(drawn(GRM.figure(page, "heatmap"))).sum() > marked + 20,
        "marks beside the matrix",
    )


def box_in_the_heatmap_selects_in_the_scatter(page: Any) -> None:
    before, said = settled(GRM.figure(page, "scatter")), GRM.selection(page)
    drag(
        page,
        "heatmap",
        *((0.35, 0.75), (0.5, 0.6)),
        answer=lambda: GRM.selection(page) != said,
        what="another selection",
    )
    # Ninety small points: few pixels.
    redrawn(GRM.figure(page, "scatter"), before, share=0.0005)
