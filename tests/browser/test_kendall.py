"""The Kendall explorer in JupyterLab, as a reader uses it: slider, edges, rows, bubbles."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from tests.browser.explorers import KENDALL
from tests.browser.fitting import errors_fit, fits, widths
from tests.browser.jupyterlab import (
    Notebook,
    at_rest,
    by_hand,
    changed,
    click_at,
    drawn,
    open_drawer,
    place,
    point_at,
    redrawn,
    save,
    says,
    settled,
    until,
)

pytestmark = pytest.mark.browser

OPENS = Notebook("kendall", KENDALL.cells)
figure, text, turn = KENDALL.figure, KENDALL.text, KENDALL.turn


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    for view in ("network", "heatmap", "histogram"):
        figure(opened, view).wait_for()
    return opened


def edges(page: Any) -> int:
    """Edges that the line over the network counts; -1 where it says nothing yet."""
    found = re.match(r"([\d,]+) edge", text(page, "count"))
    return int(found[1].replace(",", "")) if found else -1


def arranged(page: Any) -> None:
    """Wait until the network of what was counted is drawn."""
    until(lambda: " · " in text(page, "count") and at_rest(page), "the network of the count")


def press(page: Any, key: str, times: int) -> None:
    handle = page.locator(".genobit-kendall-threshold .noUi-handle").first
    for _ in range(times):
        handle.focus()
        page.keyboard.press(key)


def test_starts_with_pictures_and_says_what_is_held(page: Any) -> None:
    until(lambda: edges(page) == 198, "the edges")
    arranged(page)
    says(lambda: text(page, "status"), "1,124,250 pairs tested", "weaker pairs are not shown")
    for view in ("network", "heatmap", "histogram"):
        drawn(figure(page, view))


def test_fits_into_620_pixels(page: Any) -> None:
    fits(page, "genobit-kendall")


def test_condition_stays_on_one_line(page: Any) -> None:
    condition = page.locator(".genobit-kendall-status .genobit-unbroken")
    assert condition.inner_text() == "|τ| ≥ 0.15"
    with widths(page, page.locator(".genobit-kendall")) as widen:
        for width in (1120, 700, 600):
            widen(width)
            assert condition.evaluate("it => it.getClientRects().length") == 1


def test_slider_counts_and_draws(page: Any) -> None:
    before = {view: settled(figure(page, view)) for view in ("network", "heatmap", "histogram")}
    press(page, "ArrowLeft", 5)
    until(lambda: "0.65" in text(page, "count"), "the count")
    assert edges(page) > 500
    arranged(page)
    for view, picture in before.items():
        redrawn(figure(page, view), picture)


def test_row_shows_its_two_variables(page: Any) -> None:
    turn(page, "edges")
    page.locator(".genobit-kendall-table .slick-row").nth(1).click()
    until(lambda: page.locator(".genobit-kendall-search input").input_value() != "", "the pair")
    turn(page, "picture")
    figure(page, "scatter").wait_for()
    drawn(figure(page, "scatter"))
    pair = page.locator(".genobit-kendall-search input").input_value()
    assert pair.replace(", ", " × ") in text(page, "card")


def test_card_covers_no_picture(page: Any) -> None:
    card = page.locator(".genobit-kendall-card")
    with widths(page, page.locator(".genobit-kendall")) as widen:
        for width in (1600, 1120, 700, 600):
            widen(width)
            for view in ("network", "heatmap", "scatter"):
                beside = partial(are_apart, card, figure(page, view))
                until(beside, f"the card beside the {view} at {width}")


def are_apart(one: Any, other: Any) -> bool:
    """Whether two elements that a reader sees do not overlap."""
    a, b = place(one), place(other)
    sides = (("x", "width"), ("y", "height"))
    return any(a[at] + a[size] <= b[at] or b[at] + b[size] <= a[at] for at, size in sides)


def test_table_of_variables(page: Any) -> None:
    turn(page, "variables")
    row = page.locator(".genobit-kendall-variables .slick-row").first
    row.wait_for()
    assert re.match("[\\d,]+ variables with an edge", text(page, "variables-line"))
    turn(page, "picture")


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
    open_drawer(page, "genobit-kendall")
    before = settled(figure(page, "scatter"))
    page.locator(".genobit-kendall-colour-points-by select").select_option(label="condition")
    redrawn(figure(page, "scatter"), before)
    page.locator(".genobit-kendall .genobit-open").click()


def test_hover_names_the_pair(page: Any) -> None:
    point_at(
        figure(page, "heatmap"), 0.3, 0.5, page.locator("text=/^G\\d{4}$/ >> visible=true").first
    )


def close_community(page: Any, opened: Any) -> None:
    open_drawer(page, "genobit-kendall")
    page.locator(".genobit-kendall-all-communities").click()
    redrawn(figure(page, "network"), opened)
    page.locator(".genobit-kendall .genobit-open").click()


def test_three_names_open_their_network(page: Any) -> None:
    """Fewer nodes come with sizes that no column gives any more, in one patch."""
    before = settled(figure(page, "network"))
    KENDALL.search(page, "G0142 G0950 G1275")
    until(lambda: "opened: 3 variables" in text(page, "count"), "the network of three")
    close_community(page, redrawn(figure(page, "network"), before))
    assert page.complaints == []


def test_bubbles_open_and_close(page: Any) -> None:
    before = settled(figure(page, "network"))
    press(page, "ArrowLeft", 20)
    until(lambda: "0.45" in text(page, "count"), "the count")
    arranged(page)
    bubbles = redrawn(figure(page, "network"), before)
    # The largest community stands in the middle of the free stretch beside the key.
    click = partial(click_at, figure(page, "network"), 0.37, 0.5)
    by_hand(click, lambda: "opened: " in text(page, "count"), "the community")
    close_community(page, redrawn(figure(page, "network"), bubbles))


def test_search_chooses_a_variable(page: Any) -> None:
    arranged(page)
    KENDALL.search(page, "G0002")
    until(lambda: text(page, "card").startswith("G0002"), "the card of the variable")


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
    save(page, "genobit-kendall", "figure (PDF)")
    until(lambda: "Saved the figure" in text(page, "status"), "the figure")
    save(page, "genobit-kendall", "copy Python")
    until(lambda: "expr.genobit.explore.kendall(" in text(page, "status"), "the code")


def test_errors_are_whole(page: Any) -> None:
    errors_fit(page, "genobit-kendall")
