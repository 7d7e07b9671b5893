"""The launcher in JupyterLab, two explorers that share a selection, and the dark theme."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.browser.explorers import EPISTASIS, LD
from tests.browser.jupyterlab import Notebook, drawn, redrawn, says, settled, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHOW = """
import ipywidgets
seen = ipywidgets.Label().add_class("seen-in-python")
launcher = ds.genobit.explore()
launcher.selection.observe(lambda _: setattr(seen, "value", repr(launcher.selection.variants)))
ipywidgets.VBox([seen, launcher])
"""
OPENS = Notebook("linked", (EPISTASIS.data.rpartition("top =")[0], SHOW), height=2400)
picture_of_ld, rows = partial(LD.figure, view="plot"), EPISTASIS.rows


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    opened.locator(".genobit-launcher-ld").wait_for()
    return opened


def text(page: Any, part: str) -> str:
    return str(page.locator(f".genobit-{part}").first.inner_text())


def test_launcher_says_what_there_is(page: Any) -> None:
    says(lambda: text(page, "launcher-status"), "4 of 5 explorers can be opened")
    assert page.locator(".genobit-launcher-parsimony").is_disabled()
    says(lambda: text(page, "launcher"), "Not here: it needs haploid calls (here ploidy 2)")


def test_buttons_open_explorers_by_the_keyboard_too(page: Any) -> None:
    page.locator(".genobit-launcher-ld").click()
    picture_of_ld(page).wait_for()
    page.locator(".genobit-launcher-epistasis").focus()
    page.keyboard.press("Enter")
    EPISTASIS.turn(page, "ranking")
    rows(page).first.wait_for()
    says(lambda: text(page, "epistasis-status"), "1,770 searched")


def test_row_of_one_marks_in_the_other_and_is_seen_in_python(page: Any) -> None:
    rows(page).nth(2).click()
    until(lambda: "2 variants" in text(page, "ld-selection"), "the selection in LD", 120)
    names = text(page, "ld-selection").partition("(")[2].rstrip(")").split(", ")
    assert len(names) == 2
    says(page.locator(".seen-in-python").inner_text, *names)


def test_names_that_are_typed_filter_one_and_are_marked_in_the_other(page: Any) -> None:
    before = settled(picture_of_ld(page))
    box = page.locator(".genobit-launcher .genobit-epistasis-select input")
    box.fill("rs1000, rs1051")
    box.press("Enter")
    until(
        lambda: "with one of 2 selected variants" in text(page, "epistasis-count"),
        "a filtered table",
    )
    until(lambda: "'rs1051'" in page.locator(".seen-in-python").inner_text(), "Python to hear")
    redrawn(picture_of_ld(page), before, 0.0002)
    box.fill("rs0")
    box.press("Enter")
    until(lambda: "there is no 'rs0'" in text(page, "epistasis-status"), "a refusal")


@pytest.mark.usefixtures("all_loaded")
def test_dark_theme_reaches_pictures_and_tables(page: Any) -> None:
    light = drawn(picture_of_ld(page))
    assert np.median(light) > 240
    theme = "window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab %s'})"
    page.evaluate(theme % "Dark")
    page.wait_for_selector("body[data-jp-theme-light='false']", state="attached")
    dark = redrawn(picture_of_ld(page), light, 0.5)
    until(lambda: np.median(drawn(picture_of_ld(page))) < 40, "a dark picture")
    row = page.locator(".genobit-epistasis-table .slick-row").first

    def legible() -> bool:
        brightness = settled(row).mean(axis=2)
        # Texts stand out from what is behind them.
        return bool(np.median(brightness) < 90 and brightness.max() > 180)

    until(legible, "a dark table")
    page.evaluate(theme % "Light")
    redrawn(picture_of_ld(page), dark, 0.5)


def test_button_closes_again(page: Any) -> None:
    page.locator(".genobit-launcher-epistasis").click()
    until(lambda: page.locator(".genobit-epistasis").count() == 0, "the explorer to go")
    says(lambda: text(page, "launcher-status"), "Closed interactions")
