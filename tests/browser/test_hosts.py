"""The LD and GRM explorers in JupyterLab, Notebook 7 and Voila: what a reader does by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.browser.explorers import GRM, LD
from tests.browser.exports import saved
from tests.browser.hosts import InVoila, in_hosts
from tests.browser.jupyterlab import by_hand, click_at, drawn, place, redrawn, says, settled, until
from tests.browser.selecting import (
    box_in_the_heatmap_selects_in_the_scatter,
    lasso_selects_everywhere,
)
from tests.browser.two_views import region, zoom

pytestmark = pytest.mark.browser

OPENS = in_hosts("hosts", (*LD.cells, *GRM.cells), 1500, 2600)
triangle = partial(LD.figure, view="plot")


@pytest.fixture
def page(opened: Any) -> Any:
    triangle(opened).wait_for()
    GRM.figure(opened, "scatter").wait_for()
    return opened


def test_zoom(page: Any) -> None:
    there = region(page)
    zoom(triangle(page))
    until(lambda: region(page) != there, "the region of the picture")


def test_tap(page: Any) -> None:
    track = page.locator(".genobit-ld-track .bk-Figure").first
    click = partial(click_at, triangle(page), 0.5, 70 / place(triangle(page))["height"])
    by_hand(click, track.is_visible, "the track")
    drawn(track)


test_lasso = lasso_selects_everywhere
test_box = box_in_the_heatmap_selects_in_the_scatter


def test_search(page: Any) -> None:
    GRM.search(page, "south")
    says(lambda: GRM.selection(page), "30 samples")
    before = settled(triangle(page))
    LD.search(page, "7:1,150,000-1,250,000", "region")
    redrawn(triangle(page), before)


def test_export(page: Any) -> None:
    saved(page, LD, "figure (PDF)")
    saved(page, GRM, "listed pairs (CSV)")


def in_theme(page: Any, theme: str) -> None:
    """See the page in another theme: an app takes it from its address, and starts again."""
    if "/voila/" in page.url:
        page.goto(f"{page.url.partition('?')[0]}?theme={theme.lower()}", wait_until="commit")
        InVoila.wait(page)
    else:
        change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
        page.evaluate(change, f"JupyterLab {theme}")


@pytest.mark.slow
@pytest.mark.usefixtures("all_loaded")
def test_dark_theme(page: Any) -> None:
    light = drawn(triangle(page))
    assert np.median(light) > 240
    in_theme(page, "Dark")
    until(lambda: np.median(drawn(triangle(page))) < 40, "a dark picture")
    in_theme(page, "Light")
    until(lambda: np.median(drawn(triangle(page))) > 240, "a light picture")
    zoom(triangle(page))
