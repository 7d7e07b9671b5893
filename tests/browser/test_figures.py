"""Figures of results in a fresh notebook, after a reload, and in a static page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.browser.jupyterlab import Lab, Notebook, drawn, new_page, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MAKE = """
import genobit as gb
ds = gb.sample_dataset().isel(samples=slice(0, None, 20), variants=slice(0, 200))
r2 = ds.genobit.ld("r2")
r2.genobit.plot()
"""
SHOW = (
    "ds.genobit.pca(3).genobit.plot(colour_by='population')",
    "gb.plots.ld_triangle(r2)",
    "ds.genobit.grm('king').genobit.plot('pairs')",
)
OPENS = Notebook("figures", (MAKE, *SHOW), 1300, 2200)


def are_drawn(page: Any) -> None:
    figures = page.locator(".genobit-figure")
    until(lambda: figures.count() == 1 + len(SHOW), "all figures")
    for k in range(figures.count()):
        drawn(figures.nth(k))
    assert page.locator(".genobit-figure canvas").count() >= 3
    assert page.locator(".genobit-figure .slick-row").count() > 3
    assert page.get_by_text("This figure is drawn by JavaScript").count() == 0
    assert page.complaints == []


def test_a_fresh_notebook_shows_figures(opened: Any) -> None:
    are_drawn(opened)


def test_cells_that_run_again_after_a_reload(opened: Any) -> None:
    # The browser asks whether to leave a notebook that is not saved.
    opened.once("dialog", lambda dialog: dialog.accept())
    opened.reload(wait_until="commit")
    OPENS.wait(opened)
    are_drawn(opened)


def test_saved_notebooks_and_static_pages_show_figures(opened: Any, lab: Lab, browser: Any) -> None:
    # The output that has BokehJS is replaced.
    opened.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    are_drawn(opened)
    opened.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    saved = "!window.jupyterapp.shell.currentWidget.context.model.dirty"
    until(lambda: opened.evaluate(saved), "the saved notebook")
    source = lab.folder / f"{OPENS.name}.ipynb"
    assert source.read_text(encoding="utf-8").count('\\"bokeh\\": \\"H4sI') == 1
    assert source.stat().st_size < 1_500_000
    command = [sys.executable, "-m", "nbconvert", "--to", "html", str(source)]
    subprocess.run(command, check=True, capture_output=True)
    page = new_page(browser, 1300, 2200)
    page.goto(Path(source.with_suffix(".html")).as_uri())
    are_drawn(page)
    page.close()


def test_saved_figures_need_no_notebook(browser: Any, tmp_path: Path) -> None:
    code = (
        "import genobit as gb\n"
        "ds = gb.sample_dataset().isel(samples=slice(0, None, 20), variants=slice(0, 200))\n"
        f"ds.genobit.ld('r2').genobit.plot().save({str(tmp_path / 'figure.html')!r})\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    page = new_page(browser, 1000, 700)
    page.goto((tmp_path / "figure.html").as_uri())
    drawn(page.locator(".genobit-figure"))
    assert page.complaints == []
    page.close()
