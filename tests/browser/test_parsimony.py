"""The parsimony explorer in JupyterLab, as a reader uses it: branches, sites, roots, files."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from genobit.visual.style import POINT_COLOUR
from tests.browser.explorers import PARSIMONY
from tests.browser.fitting import errors_fit, fits
from tests.browser.jupyterlab import (
    Notebook,
    by_hand,
    click_at,
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

OPENS = Notebook("parsimony", PARSIMONY.cells)
figure, press, text, show = PARSIMONY.figure, PARSIMONY.press, PARSIMONY.text, PARSIMONY.turn
find = partial(PARSIMONY.search, box="find")


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    for view in ("tree", "track"):
        figure(opened, view).wait_for()
    return opened


def choose(page: Any, trait: str, label: str) -> None:
    """Choose an entry of a list, in the toolbar or in the drawer."""
    page.locator(f".genobit-parsimony-{trait} select").select_option(label=label)


def share_of(image: np.ndarray, colour: str) -> float:
    """Share of the pixels that have about this colour."""
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return float((abs(image.astype("i4") - wanted).max(axis=2) < 12).mean())


def test_starts_with_the_first_tree(page: Any) -> None:
    until(lambda: text(page, "status").startswith("tree 0: "), "its length")
    # Texts alone are many colours, too: the branches and bars have to be there.
    tree, track = figure(page, "tree"), figure(page, "track")
    until(lambda: (np.ptp(drawn(tree), axis=2) > 30).mean() > 0.01, "branches")
    until(lambda: share_of(drawn(track), POINT_COLOUR) > 0.002, "bars")
    says(lambda: text(page, "card"), "site ", "fewest possible", "CI", "RI")


def test_fits_into_620_pixels(page: Any) -> None:
    fits(page, "genobit-parsimony")


def test_branch_lists_its_changes(page: Any) -> None:
    before = settled(figure(page, "tree"))
    box = place(figure(page, "tree"))

    def chosen() -> bool:
        return "branch to" in text(page, "card")

    # Across the branches of the tips, until one is met.
    def click() -> None:
        for share in (0.3, 0.33, 0.36, 0.39, 0.42):
            page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + share * box["height"])
            if within(1, chosen):
                return

    by_hand(click, chosen, "a branch on the card")
    redrawn(figure(page, "tree"), before, 0.0003)
    says(lambda: text(page, "card"), "changes on it", "site changes there")
    show(page, "changes")
    says(lambda: text(page, "branch-line"), "branch to", " changes")
    page.locator(".genobit-parsimony-changes .slick-row").first.wait_for()
    assert not page.locator(".genobit-parsimony-card").is_visible()


@pytest.mark.parametrize("tab", ["changes", "sites"])
def test_row_shows_its_site(page: Any, tab: str) -> None:
    show(page, tab)
    row = page.locator(f".genobit-parsimony-{tab} .slick-row").nth(2)
    site = row.locator(".slick-cell").first.inner_text()
    row.click()
    until(lambda: number(page) == site, "its number")
    show(page, "picture")
    says(lambda: text(page, "card"), f"site {site} ")


def number(page: Any) -> str:
    """The number of the site."""
    return str(page.locator(".genobit-parsimony-site-box input").input_value())


def test_next_site_colours_the_tree(page: Any) -> None:
    before = {view: settled(figure(page, view)) for view in ("tree", "track")}
    press(page, "next-homoplastic")
    for view, picture in before.items():
        redrawn(figure(page, view), picture, 0.0003)


def test_track_chooses_a_site(page: Any) -> None:
    card = text(page, "card")
    click = partial(click_at, figure(page, "track"), 0.5, 0.4)
    by_hand(click, lambda: text(page, "card") != card, "another site")


def test_search_finds_sites_and_taxa(page: Any) -> None:
    find(page, "17")
    says(lambda: text(page, "card"), "site 17 (codon_position 3)")
    before = settled(figure(page, "tree"))
    find(page, "species_03, species_07")
    redrawn(figure(page, "tree"), before, 0.0003)
    open_drawer(page, "genobit-parsimony")
    says(lambda: text(page, "selection"), "2 taxa", "species_03, species_07)")
    find(page, "species_99")
    says(lambda: text(page, "status"), "there is no taxon 'species_99'")
    find(page, "17")
    until(lambda: text(page, "status").startswith("tree 0: "), "what is in view")


def test_root(page: Any) -> None:
    open_drawer(page, "genobit-parsimony")
    before = settled(figure(page, "tree"))
    press(page, "root-here")
    redrawn(figure(page, "tree"), before)
    press(page, "root-as-given")
    page.locator(".genobit-parsimony-root-as-given[disabled]").wait_for()


def test_radial(page: Any) -> None:
    open_drawer(page, "genobit-parsimony")
    before = settled(figure(page, "tree"))
    choose(page, "layout-of-tree", "radial")
    redrawn(figure(page, "tree"), before, 0.02)
    before = settled(figure(page, "tree"))
    choose(page, "lengths", "equal")
    redrawn(figure(page, "tree"), before)


def test_face_to_face(page: Any) -> None:
    choose(page, "view", "two trees")
    figure(page, "faces").wait_for()
    drawn(figure(page, "faces"))
    choose(page, "view", "search")
    says(lambda: text(page, "trace"), "are not from a search")
    choose(page, "view", "tree")
    figure(page, "tree").wait_for()
    drawn(figure(page, "tree"))


def test_saves(page: Any) -> None:
    for part, what in (
        ("figure (PDF)", "Saved the figure"),
        ("tree (Newick)", "Saved tree 0"),
        ("picture of the tree (SVG)", "Saved the picture of"),
        ("sites (CSV)", "Saved 600 sites"),
        ("changes (CSV)", "Saved 7"),
    ):
        save(page, "genobit-parsimony", part)
        until(lambda what=what: what in text(page, "status"), what)


def test_errors_are_whole(page: Any) -> None:
    errors_fit(page, "genobit-parsimony")
