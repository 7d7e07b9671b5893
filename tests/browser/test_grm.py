"""The relationship explorer in JupyterLab, as a reader uses it: lasso, boxes, tabs, methods."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.browser.explorers import GRM
from tests.browser.fitting import errors_fit, fits
from tests.browser.jupyterlab import (
    Notebook,
    by_hand,
    drawn,
    open_drawer,
    point_at,
    redrawn,
    says,
    settled,
    until,
)
from tests.browser.selecting import (
    box_in_the_heatmap_selects_in_the_scatter,
    drag,
    lasso_selects_everywhere,
)

pytestmark = pytest.mark.browser

OPENS = Notebook("grm", GRM.cells)
figure, press, tab, selection = GRM.figure, GRM.press, GRM.turn, GRM.selection


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    for view in ("heatmap", "scatter", "histogram"):
        figure(opened, view).wait_for()
    return opened


def in_drawer(page: Any, use: Callable[[], Any]) -> None:
    """Use a control of the drawer, and close it again: it takes width from the pictures."""
    open_drawer(page, "genobit-grm")
    use()
    page.locator(".genobit-grm .genobit-open").click()
    page.locator(".genobit-grm .genobit-drawer").wait_for(state="hidden")


def test_starts_with_pictures_and_says_what_was_computed(page: Any) -> None:
    says(lambda: GRM.status(page), "90 samples, 4,005 pairs over 800 variants")
    says(lambda: selection(page), "Selected: nothing")
    for view in ("heatmap", "scatter", "histogram"):
        drawn(figure(page, view))
    tab(page, "relatives")
    says(page.locator(".genobit-grm-table .slick-row").first.inner_text, "s03")
    tab(page, "picture")


def test_fits_into_620_pixels(page: Any) -> None:
    fits(page, "genobit-grm")


test_lasso_selects_everywhere = lasso_selects_everywhere
test_box_in_the_heatmap_selects_in_the_scatter = box_in_the_heatmap_selects_in_the_scatter


def test_row_of_the_table_selects_its_samples(page: Any) -> None:
    # Not always the closest pair: the table scrolls to what is selected, perhaps just now.
    tab(page, "relatives")
    row = page.locator(".genobit-grm-table .slick-row").first
    pair: list[str] = []

    def click() -> None:
        pair[:] = re.findall(r"s\d\d", row.inner_text())
        row.click()

    by_hand(
        click, lambda: f"2 samples ({', '.join(pair)})" in selection(page), "the pair of the row"
    )
    tab(page, "picture")
    says(page.locator(".genobit-grm-card").inner_text, f"{pair[0]} × {pair[1]}")


def test_zoom_and_back(page: Any) -> None:
    before = settled(figure(page, "heatmap"))
    press(page, "zoom-to-selection")
    zoomed = redrawn(figure(page, "heatmap"), before)
    press(page, "all-samples")
    redrawn(figure(page, "heatmap"), zoomed)
    in_drawer(page, lambda: press(page, "clear-selection"))
    until(lambda: "Selected: nothing" in selection(page), "no selection")


def test_range_of_the_histogram_filters_the_table(page: Any) -> None:
    line = page.locator(".genobit-grm-table-line")
    before = line.text_content()
    drag(
        page,
        "histogram",
        *((0.55, 0.4), (0.95, 0.7)),
        answer=lambda: line.text_content() != before and "from" in line.text_content(),
        what="fewer pairs",
    )
    in_drawer(page, lambda: press(page, "any-relationship"))
    until(lambda: line.text_content() == before, "all pairs")


@pytest.mark.parametrize("label", ["height", "none", "population"])
def test_colours(page: Any, label: str) -> None:
    before = settled(figure(page, "scatter"))
    page.locator(".genobit-grm-colour-by select").select_option(label=label)
    redrawn(figure(page, "scatter"), before)


def test_another_method(page: Any) -> None:
    before = settled(figure(page, "heatmap"))
    page.locator(".genobit-grm-method select").select_option(label="KING")
    until(lambda: GRM.status(page).startswith("KING: 90 samples"), "kinship")
    redrawn(figure(page, "heatmap"), before)
    tab(page, "relatives")
    first = page.locator(".genobit-grm-table .slick-row").first
    until(lambda: "0.5000" in first.inner_text(), "the kinship of a copy")
    tab(page, "picture")


def test_kinship_in_place_of_the_histogram(page: Any) -> None:
    plot = page.locator(".genobit-grm-pairs-as select")
    in_drawer(page, lambda: plot.select_option(label="KING kinship"))
    figure(page, "kinship").wait_for()
    drawn(figure(page, "kinship"))
    said = selection(page)
    drag(
        page,
        "kinship",
        *((0.2, 0.05), (0.4, 0.4)),
        answer=lambda: selection(page) != said,
        what="the samples of close pairs",
    )
    assert "s03" in selection(page)
    in_drawer(page, lambda: plot.select_option(label="histogram"))
    figure(page, "histogram").wait_for()


def test_components(page: Any) -> None:
    before = settled(figure(page, "scatter"))
    chosen = page.locator(".genobit-grm-component-y select")
    in_drawer(page, lambda: chosen.select_option(label="PC3"))
    after = redrawn(figure(page, "scatter"), before)
    assert not np.array_equal(before, after)


def test_samples_and_components_have_tables(page: Any) -> None:
    tab(page, "samples")
    says(page.locator(".genobit-grm-samples .slick-row").first.inner_text, "north")
    tab(page, "components")
    says(page.locator(".genobit-grm-components .slick-row").first.inner_text, "PC1")
    tab(page, "picture")


def test_search_selects_a_population(page: Any) -> None:
    GRM.search(page, "south")
    until(lambda: "30 samples" in selection(page), "the population")
    says(page.locator(".genobit-grm-card").inner_text, "30 samples")


def test_hover_names_the_pair(page: Any) -> None:
    point_at(
        figure(page, "heatmap"), 0.5, 0.5, page.locator("text=/^s\\d\\d$/ >> visible=true").first
    )


def test_errors_are_whole(page: Any) -> None:
    errors_fit(page, "genobit-grm")
