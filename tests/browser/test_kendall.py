"""The Kendall explorer in JupyterLab, as a reader uses it: slider, edges, rows, bubbles."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from tests.browser.jupyterlab import (
    Notebook,
    at_rest,
    by_hand,
    changed,
    click_at,
    drawn,
    point_at,
    redrawn,
    save,
    says,
    settled,
    until,
)

pytestmark = pytest.mark.browser

MAKE_DATA = "import genobit as gb\n\nexpr = gb.sample_expression()"
SHOW = "explorer = expr.genobit.explore.kendall(threshold=0.7)\nexplorer"
OPENS = Notebook("kendall", (MAKE_DATA, SHOW))


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    for view in ("network", "heatmap", "histogram"):
        figure(opened, view).wait_for()
    return opened


def figure(page: Any, view: str) -> Any:
    return page.locator(f".genobit-kendall-{view} .bk-Figure").first


def text(page: Any, part: str) -> str:
    return str(page.locator(f".genobit-kendall-{part}").inner_text())


def edges(page: Any, part: str = "count") -> int:
    """Edges that a line begins with; -1 where it says nothing yet."""
    found = re.match(r"([\d,]+) edge", text(page, part))
    return int(found[1].replace(",", "")) if found else -1


def arranged(page: Any) -> None:
    """Wait until what is drawn and listed is what was counted."""
    until(
        lambda: edges(page) == edges(page, "table-line") and at_rest(page),
        "the network of the count",
    )


def press(page: Any, key: str, times: int) -> None:
    handle = page.locator(".genobit-kendall-threshold .noUi-handle").first
    for _ in range(times):
        handle.focus()
        page.keyboard.press(key)


def test_starts_with_pictures_and_says_what_is_held(page: Any) -> None:
    until(lambda: edges(page) == 198, "the edges")
    arranged(page)
    says(lambda: text(page, "status"), "1,124,250 pairs tested", "weaker ones are not shown")
    says(lambda: text(page, "scatter"), "Click an edge")
    for view in ("network", "heatmap", "histogram"):
        drawn(figure(page, view))


def test_slider_counts_and_draws(page: Any) -> None:
    before = {view: settled(figure(page, view)) for view in ("network", "heatmap", "histogram")}
    press(page, "ArrowLeft", 5)
    until(lambda: "0.65" in text(page, "count"), "the count")
    assert edges(page) > 500
    arranged(page)
    for view, picture in before.items():
        redrawn(figure(page, view), picture)


def test_row_shows_its_two_variables(page: Any) -> None:
    row = page.locator(".genobit-kendall-table .slick-row").nth(1)
    row.click()
    figure(page, "scatter").wait_for()
    drawn(figure(page, "scatter"))


def test_cell_shows_another_pair(page: Any) -> None:
    before = settled(figure(page, "scatter"))
    scatter = figure(page, "scatter")
    click = partial(click_at, figure(page, "heatmap"), 0.3, 0.6)
    by_hand(click, lambda: changed(scatter, before), "the pair")
    drawn(scatter)


def test_colours(page: Any) -> None:
    before = settled(figure(page, "network"))
    page.locator(".genobit-kendall-colour-by select").select_option(label="loading")
    redrawn(figure(page, "network"), before)
    before = settled(figure(page, "scatter"))
    page.locator(".genobit-kendall-colour-points-by select").select_option(label="condition")
    redrawn(figure(page, "scatter"), before)


def test_hover_names_the_pair(page: Any) -> None:
    point_at(figure(page, "heatmap"), 0.3, 0.5, page.locator("text=/^G\\d{4}$/").first)


def test_bubbles_open_and_close(page: Any) -> None:
    before = settled(figure(page, "network"))
    press(page, "ArrowLeft", 20)
    until(lambda: "0.45" in text(page, "count"), "the count")
    arranged(page)
    bubbles = redrawn(figure(page, "network"), before)
    # The largest community stands in the middle of the free stretch beside the key.
    click = partial(click_at, figure(page, "network"), 0.37, 0.5)
    by_hand(click, lambda: "of this community" in text(page, "table-line"), "the community")
    opened = redrawn(figure(page, "network"), bubbles)
    page.locator(".genobit-kendall-all-communities").click()
    redrawn(figure(page, "network"), opened)


def test_nothing_left_says_what_to_do(page: Any) -> None:
    arranged(page)
    page.locator(".genobit-kendall-threshold .noUi-handle").first.focus()
    page.keyboard.press("End")
    until(lambda: "move the slider to the left" in text(page, "network"), "a sentence")
    press(page, "ArrowLeft", 30)
    figure(page, "network").wait_for()


def test_fdr(page: Any) -> None:
    arranged(page)
    page.locator(".genobit-kendall-threshold-by button", has_text="FDR").click()
    until(lambda: "FDR ≤ 0.01 and" in text(page, "count"), "edges by FDR")
    assert edges(page) > 10_000


def test_saves(page: Any) -> None:
    arranged(page)
    save(page, "genobit-kendall", "edges (CSV)")
    until(lambda: "Saved" in text(page, "status"), "the file")


def test_nothing_of_ours_complained(page: Any) -> None:
    assert page.complaints == []
