"""The LD explorer in JupyterLab, as a reader uses it: sliders, wheel, drag, click."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.browser.explorers import LD
from tests.browser.fitting import errors_fit, fits
from tests.browser.jupyterlab import (
    Notebook,
    by_hand,
    click_at,
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


# Bytes that go to the kernel.
COUNT_SENT = """() => {
  window.genobit_sent = 0
  const {send} = WebSocket.prototype
  WebSocket.prototype.send = function (data) {
    window.genobit_sent += data.length ?? data.byteLength
    return send.call(this, data)
  }
}"""
OPENS = Notebook("ld", LD.cells, width=1500, height=1400)
_status, _plot = LD.status, partial(LD.figure, view="plot")


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    opened.wait_for_selector(".genobit-ld-plot .bk-Figure")
    return opened


def test_starts_with_a_picture_and_says_what_was_computed(page: Any) -> None:
    says(lambda: _status(page), "300 variants, 44,850 pairs")
    drawn(_plot(page))


def test_fits_into_620_pixels(page: Any) -> None:
    fits(page, "genobit-ld")


def test_frequency_slider_recomputes(page: Any) -> None:
    before, status = settled(_plot(page)), _status(page)
    page.locator(".genobit-ld-min-maf .noUi-handle").focus()
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    until(lambda: _status(page) != status, "the status line")
    redrawn(_plot(page), before)
    # Of the last of these steps, as the next test begins there.
    says(lambda: _status(page), "219 variants, 23,871 pairs")


def test_threshold_whitens_without_computing(page: Any) -> None:
    open_drawer(page, "genobit-ld")
    before, status = settled(_plot(page)), _status(page)
    page.locator(".genobit-ld-threshold .noUi-handle").focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    white = (before == 255).all(axis=2).mean()
    until(lambda: (drawn(_plot(page)) == 255).all(axis=2).mean() > white, "a whiter picture")
    assert _status(page) == status


def test_the_browser_does_not_send_pictures_back(page: Any) -> None:
    page.evaluate(COUNT_SENT)
    before = settled(_plot(page))
    page.locator(".genobit-ld-region input").fill("7:1,150,000-1,250,000")
    page.keyboard.press("Enter")
    redrawn(_plot(page), before)
    assert 0 < page.evaluate("genobit_sent") < 10_000


def test_wheel_and_drag_move_the_region(page: Any) -> None:
    region = page.locator(".genobit-ld-region input")
    for gesture in ("wheel", "drag"):
        before, where = settled(_plot(page)), region.input_value()
        box = place(_plot(page))
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 3

        def move(x: float = x, y: float = y, gesture: str = gesture) -> None:
            page.mouse.move(x, y)
            if gesture == "wheel":
                page.mouse.wheel(0, -250)
            else:
                page.mouse.down()
                page.mouse.move(x - 120, y, steps=4)
                page.mouse.up()

        by_hand(move, lambda where=where: region.input_value() != where, f"the region, {gesture}")
        redrawn(_plot(page), before)


def test_hover_names_the_pair(page: Any) -> None:
    height = place(_plot(page))["height"]
    for said in ("/^v\\d+ +at 1,\\d+,\\d+/", "/\\d bp|\\d kb/"):
        point_at(_plot(page), 0.5, 70 / height, page.locator(f"text={said}").first)


def test_click_draws_the_track_of_a_lead(page: Any) -> None:
    height = place(_plot(page))["height"]
    track = page.locator(".genobit-ld-track .bk-Figure").first
    click = partial(click_at, _plot(page), 0.5, 70 / height)
    by_hand(click, track.is_visible, "the track")
    drawn(track)


def test_square_view_and_another_statistic(page: Any) -> None:
    open_drawer(page, "genobit-ld")
    before = settled(_plot(page))
    page.locator(".genobit-ld-view select").select_option(label="square")
    before, status = redrawn(_plot(page), before, 0.05), _status(page)
    page.locator(".genobit-ld-statistic select").select_option(label="D′")
    until(lambda: _status(page) != status and "D′" in _status(page), "D′ in the status line")
    redrawn(_plot(page), before)


def test_bad_region_is_explained(page: Any) -> None:
    LD.search(page, "99:1-2", "region")
    until(lambda: "no contig '99'" in _status(page), "an explanation")


def test_errors_are_whole(page: Any) -> None:
    errors_fit(page, "genobit-ld")
