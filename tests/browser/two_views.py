"""An explorer of LD that a page shows twice."""

from __future__ import annotations

from typing import Any

from tests.browser.explorers import RANDOM
from tests.browser.jupyterlab import by_hand, changed, drawn, place, redrawn, settled, unlike, until

CELLS = (*RANDOM.cells, "explorer")


def pictures(page: Any) -> list[Any]:
    """The pictures of both views of the explorer."""
    plots = page.locator(".genobit-ld-plot")
    until(lambda: plots.count() == 2, "two views of the explorer")
    return [plots.nth(k).locator(".bk-Figure").first for k in range(2)]


def are_sound(page: Any) -> list[Any]:
    both = pictures(page)
    for picture in both:
        drawn(picture)
    assert page.locator(".jupyter-widgets-error-widget").count() == 0
    assert page.get_by_text("Failed to create view").count() == 0
    return both


def zoom(picture: Any, notches: int = -1) -> Any:
    """Turn the wheel over a picture until it is another one, and return its pixels."""
    before = settled(picture)
    page = picture.page

    def turn() -> None:
        box = place(picture)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)
        page.mouse.wheel(0, 250 * notches)

    by_hand(turn, lambda: changed(picture, before), "another picture")
    return redrawn(picture, before)


def region(page: Any) -> str:
    return str(page.locator(".genobit-ld-region input").first.input_value())


def follow_each_other(page: Any) -> None:
    """A wheel on either view moves both, and Python hears of it."""
    for k, notches in ((0, -1), (1, -1), (0, 1)):
        both, there = pictures(page), region(page)
        other = settled(both[1 - k])
        zoom(both[k], notches)
        redrawn(both[1 - k], other)
        until(lambda there=there: region(page) != there, "the region of the new picture")
        page.mouse.move(2, 2)  # a picture under the mouse shows words and its tools
        until(lambda both=both: not unlike(*map(settled, both)), "two views of one picture", 20)
