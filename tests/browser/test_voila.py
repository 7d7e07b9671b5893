"""The tour as an app: Voila runs it, shows every explorer, and their widgets reach the kernel."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.jupyterlab import drawn, redrawn, settled, until
from tests.browser.voila import OF_VOILA, Tour

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OPENS = Tour()
EXPLORERS = ("ld", "grm", "kendall", "epistasis", "parsimony")


def shown(page: Any, explorer: str) -> Any:
    return page.locator(f"[class*=genobit-{explorer}-] .bk-Figure").first


def test_the_tour__is_an_app_with_every_explorer_live(opened: Any) -> None:
    page = opened
    page.locator(".genobit-summary svg").first.wait_for(timeout=600_000)
    for explorer in EXPLORERS:
        shown(page, explorer).wait_for(timeout=600_000)
    # An app has no code, and no cells to run. Tables of genotypes have cells.
    text = page.inner_text("body")
    assert "sample_dataset()\n" not in text
    assert "Which tree explains a gene?" in text
    assert [line for line in text.splitlines() if "cell" in line.lower()] == ["cells\u00a0(CSV)"]
    drawn(shown(page, "ld"))
    figure = page.locator(".genobit-parsimony-tree .bk-Figure").first
    before = settled(figure)
    line = page.locator(".genobit-parsimony-card").first
    first = line.inner_text()
    page.locator(".genobit-parsimony-next-homoplastic").click()
    until(lambda: line.inner_text() != first, "the kernel's answer")
    redrawn(figure, before)
    assert [url for url in page.elsewhere if not url.startswith(OF_VOILA)] == []
    assert page.complaints == []
    assert page.locator(".jupyter-widgets-error-widget").count() == 0
