"""An explorer after its page was reloaded: the kernel lives on, and BokehJS has to come again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.jupyterlab import Notebook, drawn, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MAKE = """
import genobit, numpy as np, xarray as xr

calls = np.random.default_rng(5).integers(0, 2, (60, 100, 2)).astype("int8")
ds = xr.Dataset({
    "call_genotype": (("variants", "samples", "ploidy"), calls),
    "variant_position": ("variants", 1_000 * np.arange(60)),
    "variant_contig": ("variants", np.zeros(60, "i4")),
})
"""
SHOW = "explorer = ds.genobit.explore.ld()\nexplorer"
OPENS = Notebook("reload", (MAKE, SHOW))


def is_sound(page: Any) -> None:
    drawn(page.locator(".genobit-ld-plot .bk-Figure").first)
    assert page.get_by_text("Failed to create view").count() == 0


def reload_and_run(page: Any) -> None:
    # The browser asks whether to leave a notebook that is not saved.
    page.once("dialog", lambda dialog: dialog.accept())
    page.reload(wait_until="commit")
    OPENS.wait(page)


def test_cells_that_run_again_after_a_reload_show_the_figure(opened: Any) -> None:
    is_sound(opened)
    for _ in range(2):
        reload_and_run(opened)
        is_sound(opened)


def test_cells_that_run_again_are_saved_and_the_page_is_reloaded(opened: Any) -> None:
    opened.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    is_sound(opened)
    opened.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    saved = "!window.jupyterapp.shell.currentWidget.context.model.dirty"
    until(lambda: opened.evaluate(saved), "the saved notebook")
    reload_and_run(opened)
    is_sound(opened)
