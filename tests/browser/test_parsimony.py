"""The parsimony explorer in JupyterLab, as a reader uses it: branches, sites, roots, files."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.browser.jupyterlab import (
    Notebook,
    by_hand,
    click_at,
    drawn,
    place,
    redrawn,
    save,
    settled,
    until,
    within,
)

pytestmark = pytest.mark.browser

MAKE_DATA = """
import genobit as gb

aln = gb.sample_alignment()
tree = aln.attrs["tree"]
swapped = tree.replace("species_01", "x").replace("species_12", "species_01")
trees = [tree, swapped.replace("x", "species_12")]
"""
SHOW = "explorer = aln.genobit.explore.parsimony(trees)\nexplorer"
OPENS = Notebook("parsimony", (MAKE_DATA, SHOW))


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    for view in ("tree", "track"):
        figure(opened, view).wait_for()
    return opened


def figure(page: Any, view: str) -> Any:
    return page.locator(f".genobit-parsimony-{view} .bk-Figure").first


def text(page: Any, part: str) -> str:
    return str(page.locator(f".genobit-parsimony-{part}").inner_text())


def press(page: Any, part: str) -> None:
    page.locator(f".genobit-parsimony-{part}").click()


def choose(page: Any, trait: str, label: str) -> None:
    toggles = page.locator(f".genobit-parsimony-{trait}")
    toggles.get_by_role("button", name=label, exact=True).click()


def test_starts_with_the_first_tree(page: Any) -> None:
    until(lambda: text(page, "status").startswith("tree 1 of 2: "), "its length")
    for view in ("tree", "track"):
        # Texts alone are many colours, too: the branches and bars have to be there.
        until(
            lambda view=view: (np.ptp(drawn(figure(page, view)), axis=2) > 15).mean() > 0.01, view
        )
    page.locator(".genobit-parsimony-sites .slick-row").first.wait_for()


def test_branch_lists_its_changes(page: Any) -> None:
    before = settled(figure(page, "tree"))
    box = place(figure(page, "tree"))
    changes = page.locator(".genobit-parsimony-changes option")

    # Across the branches of the tips, until one is met.
    def click() -> None:
        for share in (0.3, 0.33, 0.36, 0.39, 0.42):
            page.mouse.click(box["x"] + 0.45 * box["width"], box["y"] + share * box["height"])
            if within(0.5, lambda: changes.count() > 0):
                return

    by_hand(click, lambda: changes.count() > 0, "the changes of a branch")
    redrawn(figure(page, "tree"), before, 0.0003)
    until(lambda: "branch to" in text(page, "branch-line"), "the branch by name")


def test_change_shows_its_site(page: Any) -> None:
    line = text(page, "site-line")
    options = page.locator(".genobit-parsimony-changes option")
    options.nth(options.count() - 1).click()
    until(lambda: text(page, "site-line") != line, "another site")


def test_next_site_colours_the_tree(page: Any) -> None:
    before = {view: settled(figure(page, view)) for view in ("tree", "track")}
    press(page, "next-homoplastic")
    for view, picture in before.items():
        redrawn(figure(page, view), picture, 0.0003)


def test_track_chooses_a_site(page: Any) -> None:
    line = text(page, "site-line")
    click = partial(click_at, figure(page, "track"), 0.5, 0.5)
    by_hand(click, lambda: text(page, "site-line") != line, "another site")


def test_number_chooses_a_site(page: Any) -> None:
    box = page.locator(".genobit-parsimony-site-box input")
    box.fill("17")
    box.press("Enter")
    until(lambda: text(page, "site-line").startswith("site 17 (codon_position 3)"), "site 17")


def test_root(page: Any) -> None:
    before = settled(figure(page, "tree"))
    press(page, "root-here")
    redrawn(figure(page, "tree"), before)
    press(page, "root-as-given")
    page.locator(".genobit-parsimony-root-as-given[disabled]").wait_for()


def test_radial(page: Any) -> None:
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
    until(lambda: "are not from a search" in text(page, "trace"), "a sentence")
    choose(page, "view", "tree")
    figure(page, "tree").wait_for()
    drawn(figure(page, "tree"))


def test_saves(page: Any) -> None:
    for part, what in (
        ("tree (Newick)", "Saved tree 1"),
        ("picture of the tree (SVG)", "Saved the picture of"),
        ("sites (CSV)", "Saved 600 sites"),
        ("changes (CSV)", "Saved 7"),
    ):
        save(page, "genobit-parsimony", part)
        until(lambda what=what: what in text(page, "status"), what)


def test_nothing_of_ours_complained(page: Any) -> None:
    assert page.complaints == []
