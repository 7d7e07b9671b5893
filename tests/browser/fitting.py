"""Checks that an explorer is whole within 620 pixels of height, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.browser.jupyterlab import place, until

# Whether the first and the last letter are what a reader sees there.
ON_TOP = """element => {
  const boxes = [...element.getClientRects()]
  const is_seen = (x, y) => element.contains(document.elementFromPoint(x, y))
  return boxes.length > 0 && [boxes[0], boxes.at(-1)].every(({left, top, right, bottom}) =>
    [left + 2, right - 2].every(x => is_seen(x, (top + bottom) / 2)))
}"""


@contextmanager
def widths(page: Any, frame: Any) -> Iterator[Any]:
    """A function that gives an explorer a width, until the window has its size again."""
    size = page.viewport_size
    more = size["width"] - round(place(frame)["width"])

    def widen(width: int) -> None:
        page.set_viewport_size({**size, "width": width + more})
        until(lambda: abs(place(frame)["width"] - width) < 2, f"a width of {width} pixels")

    try:
        yield widen
    finally:
        page.set_viewport_size(size)


def fits(page: Any, css: str) -> None:
    """Check that an explorer and its drawer fit into 620 pixels of height, wide and narrow."""
    frame, body = page.locator(f".{css}").first, page.locator(f".{css} .genobit-body").first
    opener = page.locator(f".{css} .genobit-open").first
    with widths(page, frame) as widen:
        for width in (1600, 1120, 700, 600):
            widen(width)
            for _ in range(2):
                opener.click()
                until(lambda: place(frame)["height"] <= 620, f"620 pixels at {width}: {css}")
                whole = partial(body.evaluate, "it => it.scrollWidth <= it.clientWidth")
                until(whole, f"a whole picture at {width}: {css}")


def errors_fit(page: Any, css: str) -> None:
    """Check that a long error is whole within 620 pixels of height, wide and narrow."""
    frame, line = page.locator(f".{css}").first, page.locator(f".{css} .genobit-line").first
    alert = line.locator("[role=alert]")
    search = page.locator(f".{css} .genobit-search input").first
    search.fill("no such name " * 30)
    search.press("Enter")
    alert.wait_for()
    with widths(page, frame) as widen:
        for width in (1120, 700, 600):
            widen(width)
            until(lambda: is_seen_whole(frame, line, alert), f"a whole error at {width}: {css}")


def is_seen_whole(frame: Any, line: Any, text: Any) -> bool:
    """Whether an explorer of up to 620 pixels shows all of a text, above all else."""
    inside, whole = place(line), place(frame)
    return bool(
        whole["height"] <= 620
        and inside["y"] >= whole["y"]
        and inside["y"] + inside["height"] <= whole["y"] + whole["height"]
        and line.evaluate("it => it.scrollHeight <= it.clientHeight")
        and text.evaluate(ON_TOP)
    )
