"""The epistasis explorer in JupyterLab, as a reader uses it: rows, arcs, filter, classes, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from genobit.visual.placing import text_width
from genobit.visual.tokens import OTHER_GROUP
from tests.browser.explorers import EPISTASIS
from tests.browser.fitting import errors_fit, fits
from tests.browser.jupyterlab import (
    Notebook,
    by_hand,
    changed,
    drawn,
    open_drawer,
    place,
    redrawn,
    save,
    says,
    settled,
    until,
    within,
)

pytestmark = pytest.mark.browser

VIEWS = ("genome", "cells", "marginals")
OPENS = Notebook("epistasis", EPISTASIS.cells)
figure, rows, text, turn = EPISTASIS.figure, EPISTASIS.rows, EPISTASIS.text, EPISTASIS.turn


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    for view in VIEWS:
        figure(opened, view).wait_for()
    return opened


def test_starts_with_the_best(page: Any) -> None:
    says(lambda: text(page, "status"), "34,220 searched")
    for view in VIEWS:
        drawn(figure(page, view))
    # Texts alone are many colours, too: the cells and the grey bars have to be there.
    until(lambda: (np.ptp(drawn(figure(page, "cells")), axis=2) > 30).mean() > 0.05, "cells")
    grey = [int(OTHER_GROUP[k : k + 2], 16) for k in (1, 3, 5)]
    until(lambda: (drawn(figure(page, "marginals")) == grey).all(axis=2).mean() > 0.05, "bars")


def test_frame_is_whole(page: Any) -> None:
    frame, card = place(page.locator(".genobit-epistasis")), place(EPISTASIS.part(page, "card"))
    size = page.viewport_size
    assert frame["height"] <= 620
    assert card["x"] >= place(figure(page, "cells"))["x"] + place(figure(page, "cells"))["width"]
    try:
        # In less width the card would cover the cells.
        page.set_viewport_size({"width": 900, "height": size["height"]})
        EPISTASIS.part(page, "card").wait_for(state="hidden")
    finally:
        page.set_viewport_size(size)
    EPISTASIS.part(page, "card").wait_for()
    fits(page, "genobit-epistasis")


def test_permutations(page: Any) -> None:
    turn(page, "permutations")
    drawn(figure(page, "permutations"))


def test_table_is_whole(page: Any) -> None:
    turn(page, "ranking")
    rows(page).first.wait_for()
    assert text(page, "count") == "100 combinations"
    table = page.locator(".genobit-epistasis-table")
    size = page.viewport_size
    try:
        for width in (1366, 1920):
            page.set_viewport_size({"width": width, "height": size["height"]})
            # The browser lays out in its own time.
            until(lambda: sees_all_columns(table), f"all columns in {width} pixels")
            seen = place(table.locator(".slick-viewport").first)
            heights = [place(row)["height"] for row in rows(page).all()[:3]]
            assert seen["height"] % heights[0] == 0
            assert len(set(heights)) == 1
    finally:
        page.set_viewport_size(size)


def sees_all_columns(table: Any) -> bool:
    last, box = place(table.locator(".slick-header-column").last), place(table)
    said = table.locator(".slick-header-column").last.inner_text()
    return bool(said == "sparse" and last["x"] + last["width"] <= box["x"] + box["width"])


def test_texts_are_no_wider_than_room_is_left_for(page: Any) -> None:
    measure = """([text, font]) => {
        const context = document.createElement("canvas").getContext("2d")
        context.font = font
        return context.measureText(text).width
    }"""
    texts = (
        "497 / 1,021",
        "n = 1,021",
        "1:86682",
        "rs4988235",
        "A/G",
        "AFFX-07",
        "MI (nats)",
        "9.15e-63",
    )
    for words in texts:
        for bold in (False, True):
            font = f"{'bold' if bold else 'normal'} 8pt helvetica"
            assert page.evaluate(measure, [words, font]) <= text_width(words, bold=bold)


def test_row_draws_its_combination(page: Any) -> None:
    turn(page, "picture")
    before = {view: settled(figure(page, view)) for view in VIEWS}
    turn(page, "ranking")
    row = rows(page).nth(3)
    # A table that is laid out anew while the button is down hears no click. Once the row is marked
    # it was heard, and then all views have to follow.
    settled(page.locator(".genobit-epistasis-table"))
    by_hand(row.click, lambda: row.locator(".selected").count() > 0, "a marked row")
    turn(page, "picture")
    for view, picture in before.items():
        redrawn(figure(page, view), picture, 0.0005)
    says(lambda: text(page, "card"), "4 of 100")


def test_step_chooses_the_next(page: Any) -> None:
    page.locator(".genobit-epistasis-after").click()
    says(lambda: text(page, "card"), "5 of 100")
    page.locator(".genobit-epistasis-before").click()
    says(lambda: text(page, "card"), "4 of 100")


def test_arc_chooses(page: Any) -> None:
    before = settled(figure(page, "cells"))
    settled(figure(page, "genome"))
    box = place(figure(page, "genome"))
    cells = figure(page, "cells")

    def chosen() -> bool:
        return changed(cells, before)

    # Down the middle, until an arc is met: one farther down may be the chosen one again.
    def click() -> None:
        for share in (0.15, 0.2, 0.25, 0.3, 0.35, 0.4):
            page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + share * box["height"])
            if within(2, chosen):
                return

    by_hand(click, chosen, "another combination")
    drawn(cells)


def test_hover_names_an_arc(page: Any) -> None:
    words = page.locator("text=/^rs\\d{4}  at/").first
    patience = iter((0.05, 0.2, 1.0, 5.0))

    # Down a line, until an arc is met and has answered.
    def move() -> None:
        settled(figure(page, "genome"))
        box, seconds = place(figure(page, "genome")), next(patience)
        for k in range(60):
            x, y = box["x"] + 0.45 * box["width"], box["y"] + (0.1 + 0.01 * k) * box["height"]
            page.mouse.move(x, y)
            if within(seconds, words.is_visible):
                return

    by_hand(move, words.is_visible, "the name of an arc")


def test_filter(page: Any) -> None:
    turn(page, "ranking")
    open_drawer(page, "genobit-epistasis")
    box = page.locator(".genobit-epistasis-filter input")
    box.fill("x:5,000,000-5,000,000")
    box.press("Enter")
    until(lambda: "of 100 combinations with" in text(page, "count"), "fewer rows")
    box.fill("nothing like it")
    box.press("Enter")
    until(lambda: "No combination is left" in text(page, "table"), "a sentence")
    box.fill("")
    box.press("Enter")
    rows(page).first.wait_for()
    page.locator(".genobit-epistasis .genobit-open").click()


def test_class(page: Any) -> None:
    turn(page, "picture")
    before = settled(figure(page, "cells"))
    page.locator(".genobit-epistasis-shown-class select").select_option(label="0")
    redrawn(figure(page, "cells"), before)


def test_saves(page: Any) -> None:
    save(page, "genobit-epistasis", "ranking (CSV)")
    until(lambda: "Saved 100 combinations" in text(page, "status"), "the ranking")
    save(page, "genobit-epistasis", "cells (CSV)")
    until(lambda: "Saved the cells" in text(page, "status"), "the table")
    save(page, "genobit-epistasis", "figure (PDF)")
    until(lambda: "Saved the figure" in text(page, "status"), "the figure")
    save(page, "genobit-epistasis", "copy Python")
    says(lambda: text(page, "status"), "ds.genobit.explore.epistasis(result=top, ")
    save(page, "genobit-epistasis", "all pictures (HTML)")
    until(lambda: "Saved the pictures" in text(page, "status"), "the page")


def test_errors_are_whole(page: Any) -> None:
    errors_fit(page, "genobit-epistasis")
