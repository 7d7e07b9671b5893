"""The Kendall explorer in JupyterLab, as a reader uses it: slider, edges, rows, bubbles."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from tests.browser.jupyterlab import (
    Notebook,
    by_hand,
    changed,
    not_blank,
    redrawn,
    save,
    says,
    settled,
    until,
)

pytestmark = pytest.mark.browser

MAKE_DATA = "import genobit as gb\n\nexpr = gb.sample_expression()"
SHOW = "explorer = expr.genobit.explore.kendall(min_abs=0.7)\nexplorer"
OPENS = Notebook("kendall", (MAKE_DATA, SHOW))


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    for view in ("network", "heatmap", "histogram"):
        figure(opened, view).wait_for(timeout=120_000)
    return opened


def figure(page: Any, view: str) -> Any:
    return page.locator(f".genobit-kendall-{view} .bk-Figure").first


def text(page: Any, part: str) -> str:
    return str(page.locator(f".genobit-kendall-{part}").inner_text())


def edges(page: Any) -> int:
    return int(re.match(r"([\d,]+) edge", text(page, "count"))[1].replace(",", ""))


def at_rest(page: Any) -> None:
    until(lambda: "Computing" not in text(page, "status"), "the end of computing")


def press(page: Any, key: str, times: int) -> None:
    handle = page.locator(".genobit-kendall-min-abs .noUi-handle").first
    for _ in range(times):
        handle.focus()
        page.keyboard.press(key)


def click_at(page: Any, view: str, x: float, y: float) -> None:
    settled(figure(page, view))
    box = figure(page, view).bounding_box()
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_starts_with_pictures_and_says_what_is_held(page: Any) -> None:
    at_rest(page)
    until(lambda: edges(page) == 198, "the edges")
    says(lambda: text(page, "status"), "1,124,250 pairs tested", "weaker ones are not shown")
    says(lambda: text(page, "scatter"), "Click an edge")
    for view in ("network", "heatmap", "histogram"):
        assert not_blank(settled(figure(page, view))), view


def test_slider_counts_and_draws(page: Any) -> None:
    before = {view: settled(figure(page, view)) for view in ("network", "heatmap", "histogram")}
    press(page, "ArrowLeft", 5)
    until(lambda: "0.65" in text(page, "count"), "the count")
    assert edges(page) > 500
    at_rest(page)
    for view, picture in before.items():
        assert not_blank(redrawn(figure(page, view), picture)), view


def test_row_shows_its_two_variables(page: Any) -> None:
    row = page.locator(".genobit-kendall-table .slick-row").nth(1)
    row.click()
    figure(page, "scatter").wait_for(timeout=60_000)
    assert not_blank(settled(figure(page, "scatter")))


def test_cell_shows_another_pair(page: Any) -> None:
    before = settled(figure(page, "scatter"))
    scatter = figure(page, "scatter")
    click = partial(click_at, page, "heatmap", 0.3, 0.6)
    by_hand(click, lambda: changed(scatter, before), "the pair")
    assert not_blank(settled(scatter))


def test_colours(page: Any) -> None:
    before = settled(figure(page, "network"))
    page.locator(".genobit-kendall-colour-by select").select_option(label="loading")
    redrawn(figure(page, "network"), before)
    before = settled(figure(page, "scatter"))
    page.locator(".genobit-kendall-colour-points-by select").select_option(label="condition")
    redrawn(figure(page, "scatter"), before)


def test_hover_names_the_pair(page: Any) -> None:
    settled(figure(page, "heatmap"))
    box = figure(page, "heatmap").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
    page.locator("text=/^G\\d{4}$/").first.wait_for(timeout=60_000)


def test_bubbles_open_and_close(page: Any) -> None:
    before = settled(figure(page, "network"))
    press(page, "ArrowLeft", 20)
    until(lambda: "0.45" in text(page, "count"), "the count")
    at_rest(page)
    bubbles = redrawn(figure(page, "network"), before)
    # The largest community stands in the middle of the free stretch beside the key.
    click = partial(click_at, page, "network", 0.37, 0.5)
    by_hand(click, lambda: "of this community" in text(page, "table-line"), "the community")
    opened = redrawn(figure(page, "network"), bubbles)
    at_rest(page)
    page.locator(".genobit-kendall-all-communities").click()
    redrawn(figure(page, "network"), opened)


def test_nothing_left_says_what_to_do(page: Any) -> None:
    at_rest(page)
    page.locator(".genobit-kendall-min-abs .noUi-handle").first.focus()
    page.keyboard.press("End")
    until(lambda: "move the slider to the left" in text(page, "network"), "a sentence")
    press(page, "ArrowLeft", 30)
    figure(page, "network").wait_for(timeout=60_000)


def test_fdr(page: Any) -> None:
    at_rest(page)
    page.locator(".genobit-kendall-threshold-by button", has_text="FDR").click()
    until(lambda: "FDR ≤ 0.01 and" in text(page, "count"), "edges by FDR")
    assert edges(page) > 10_000


def test_saves(page: Any) -> None:
    at_rest(page)
    save(page, "genobit-kendall", "edges (CSV)")
    until(lambda: "Saved" in text(page, "status"), "the file")


def test_nothing_of_ours_complained(page: Any) -> None:
    assert page.complaints == []
