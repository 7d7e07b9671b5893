"""An explorer whose page is reloaded, in JupyterLab and Notebook 7, while its kernel lives on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.hosts import in_hosts
from tests.browser.jupyterlab import (
    Notebook,
    until,
)
from tests.browser.two_views import CELLS, are_sound, follow_each_other, region, zoom

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Not Voila, which starts another kernel for each page.
OPENS = in_hosts("reload", CELLS, 1600, 2600)[:2]
COMMAND = "name => window.jupyterapp.commands.execute(name)"


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


def test_nothing_asked_another_host(opened: Any) -> None:
    assert opened.elsewhere == []
