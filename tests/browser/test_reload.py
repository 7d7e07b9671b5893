"""An explorer whose page is reloaded, in JupyterLab and Notebook 7, while its kernel lives on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.hosts import in_hosts
from tests.browser.jupyterlab import (
    Notebook,
    by_hand,
    changed,
    drawn,
    place,
    redrawn,
    settled,
    unlike,
    until,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MAKE = """
import genobit, numpy as np, xarray as xr

calls = np.random.default_rng(5).integers(0, 2, (600, 100, 2)).astype("int8")
ds = xr.Dataset({
    "call_genotype": (("variants", "samples", "ploidy"), calls),
    "variant_position": ("variants", 1_000 * np.arange(600)),
    "variant_contig": ("variants", np.zeros(600, "i4")),
})
"""
SHOW = "explorer = ds.genobit.explore.ld()\nexplorer"
AGAIN = "explorer"
CELLS = (MAKE, SHOW, AGAIN)
# Not Voila, which starts another kernel for each page.
OPENS = in_hosts("reload", CELLS, 1600, 2600)[:2]
COMMAND = "name => window.jupyterapp.commands.execute(name)"


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


def reload(page: Any) -> None:
    # The browser asks whether to leave a notebook that is not saved.
    page.once("dialog", lambda dialog: dialog.accept())
    page.reload(wait_until="commit")


def save(page: Any) -> None:
    page.evaluate(COMMAND, "docmanager:save")
    saved = "!window.jupyterapp.shell.currentWidget.context.model.dirty"
    until(lambda: page.evaluate(saved), "the saved notebook")


@pytest.fixture
def unrun(opened: Any) -> Any:
    """The page, whose next load does not run the cells."""
    opened.evaluate("sessionStorage.genobit_rest = 'yes'")
    yield opened
    opened.evaluate("sessionStorage.removeItem('genobit_rest')")


def test_cells_that_run_again_after_a_reload_show_the_figure(opened: Any) -> None:
    for _ in range(2):
        reload(opened)
        Notebook.wait(opened)
        are_sound(opened)
    follow_each_other(opened)


def test_a_saved_page_is_live_again_without_a_cell_run(unrun: Any) -> None:
    are_sound(unrun)
    save(unrun)
    there = region(unrun)
    reload(unrun)
    both = are_sound(unrun)
    assert region(unrun) == there
    for picture in both:
        zoom(picture)
    assert region(unrun) != there
    follow_each_other(unrun)


def test_a_page_that_is_not_saved_shows_where_the_reader_was(unrun: Any) -> None:
    moved = region(unrun)
    reload(unrun)
    are_sound(unrun)
    assert region(unrun) == moved
    follow_each_other(unrun)


def test_nothing_of_ours_complained_or_asked_another_host(opened: Any) -> None:
    assert opened.complaints == []
    assert opened.elsewhere == []
