"""The relationship explorer in JupyterLab, as a reader uses it: lasso, boxes, tabs, methods."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from genobit.visual.style import SELECTED_COLOUR
from tests.browser.fitting import errors_fit, fits
from tests.browser.jupyterlab import (
    Notebook,
    by_hand,
    drawn,
    open_drawer,
    place,
    point_at,
    redrawn,
    says,
    settled,
    until,
)

pytestmark = pytest.mark.browser

MAKE_DATA = """
import numpy as np
import xarray as xr
import genobit

# Three populations, and in the first a family: parents 0 and 1, children 2 and 3, a copy of 3.
generator = np.random.default_rng(5)
n_variants, n_samples = 800, 90
base = generator.uniform(0.1, 0.9, n_variants)
frequency = np.clip(base[:, None] + generator.normal(0, 0.15, (n_variants, 3)), 0.02, 0.98)
population = np.repeat([0, 1, 2], n_samples // 3)
calls = generator.random((n_variants, n_samples, 2)) < frequency[:, population, None]
for child in (2, 3):
    for parent in (0, 1):
        which = generator.integers(0, 2, n_variants)
        calls[:, child, parent] = calls[np.arange(n_variants), parent, which]
calls[:, 4] = calls[:, 3]
ds = xr.Dataset(
    {
        "call_genotype": (("variants", "samples", "ploidy"), calls.astype("int8")),
        "sample_id": ("samples", np.array([f"s{k:02d}" for k in range(n_samples)])),
        "sample_population": ("samples", np.array(["north", "south", "west"])[population]),
        "sample_height": ("samples", generator.normal(size=n_samples)),
    }
)
"""
SHOW = "explorer = ds.genobit.explore.grm()\nexplorer"
OPENS = Notebook("grm", (MAKE_DATA, SHOW))


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    for view in ("heatmap", "scatter", "histogram"):
        figure(opened, view).wait_for()
    return opened


def figure(page: Any, view: str) -> Any:
    return page.locator(f".genobit-grm-{view} .bk-Figure").first


def status(page: Any) -> str:
    return str(page.locator(".genobit-grm-status").inner_text())


def selection(page: Any) -> str:
    return str(page.locator(".genobit-grm-selection").inner_text())


def drag(
    page: Any, view: str, *corners: tuple[float, float], answer: Callable[[], bool], what: str
) -> None:
    """Draw over a view, from corner to corner, in shares of its width and height."""
    by_hand(lambda: draw(page, view, *corners), answer, what)


def draw(page: Any, view: str, *corners: tuple[float, float]) -> None:
    # What is drawn over a picture that is just being replaced is lost with it.
    settled(figure(page, view))
    box = place(figure(page, view))
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for x, y in places[1:]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()


def press(page: Any, button: str) -> None:
    page.locator(f".genobit-grm-{button}").click()


def in_drawer(page: Any, use: Callable[[], Any]) -> None:
    """Use a control of the drawer, and close it again: it takes width from the pictures."""
    open_drawer(page, "genobit-grm")
    use()
    page.locator(".genobit-grm .genobit-open").click()
    page.locator(".genobit-grm .genobit-drawer").wait_for(state="hidden")


def tab(page: Any, name: str) -> None:
    press(page, f"tab-{name}")


def test_starts_with_pictures_and_says_what_was_computed(page: Any) -> None:
    says(lambda: status(page), "90 samples, 4,005 pairs over 800 variants")
    says(lambda: selection(page), "Selected: nothing")
    for view in ("heatmap", "scatter", "histogram"):
        drawn(figure(page, view))
    tab(page, "relatives")
    says(page.locator(".genobit-grm-table .slick-row").first.inner_text, "s03")
    tab(page, "picture")


def is_marked(picture: np.ndarray) -> np.ndarray:
    """Return the pixels in the colour of selected samples, bool (y, x)."""
    colour = [int(SELECTED_COLOUR[k : k + 2], 16) for k in (1, 3, 5)]
    return (picture[..., :3] == colour).all(axis=2)


def test_fits_into_620_pixels(page: Any) -> None:
    fits(page, "genobit-grm")


def test_lasso_selects_everywhere(page: Any) -> None:
    before = settled(figure(page, "heatmap"))
    drag(
        page,
        "scatter",
        *((0.2, 0.2), (0.85, 0.2), (0.85, 0.5), (0.2, 0.5)),
        answer=lambda: "samples (" in selection(page),
        what="the selection on the kernel",
    )
    assert 0 < int(re.search(r"(\d+) sample", selection(page))[1]) < 90
    marked = is_marked(before).sum()
    until(
        lambda: is_marked(drawn(figure(page, "heatmap"))).sum() > marked + 20,
        "marks beside the matrix",
    )


def test_box_in_the_heatmap_selects_in_the_scatter(page: Any) -> None:
    before, said = settled(figure(page, "scatter")), selection(page)
    drag(
        page,
        "heatmap",
        *((0.35, 0.75), (0.5, 0.6)),
        answer=lambda: selection(page) != said,
        what="another selection",
    )
    # Ninety small points: few pixels.
    redrawn(figure(page, "scatter"), before, share=0.0005)


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
    until(lambda: status(page).startswith("KING: 90 samples"), "kinship")
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
    box = page.locator(".genobit-grm-search input")
    box.fill("south")
    box.press("Enter")
    until(lambda: "30 samples" in selection(page), "the population")
    says(page.locator(".genobit-grm-card").inner_text, "30 samples")


def test_hover_names_the_pair(page: Any) -> None:
    point_at(
        figure(page, "heatmap"), 0.5, 0.5, page.locator("text=/^s\\d\\d$/ >> visible=true").first
    )


def test_errors_are_whole(page: Any) -> None:
    errors_fit(page, "genobit-grm")


def test_nothing_of_ours_complained(page: Any) -> None:
    assert page.complaints == []
