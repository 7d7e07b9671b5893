"""The tour as an app: Voila runs it, shows every explorer, and their widgets reach the kernel."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from tests.browser.jupyterlab import drawn, redrawn, settled, until
from tests.browser.voila import Tour

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OPENS = Tour()
EXPLORERS = ("ld", "grm", "kendall", "epistasis", "parsimony")


# Headings, and the classes of widgets, in the order of the page.
IN_ORDER = """() => [...document.querySelectorAll("#rendered_cells :is(h2, .widget-box)")]
  .flatMap(one => one.localName === "h2" ? one.innerText : [...one.classList])"""
EXPLORER = re.compile(rf"genobit-(launcher|{'|'.join(EXPLORERS)})-")
SECTIONS = [
    "A cohort",
    "Which variants are inherited together?",
    "ld",
    "Who is related to whom?",
    "grm",
    "Which genes rise and fall together?",
    "kendall",
    "Which variants interact?",
    "epistasis",
    "Which tree explains a gene?",
    "parsimony",
    "All explorers in one place",
    "launcher",
]


def shown(page: Any, explorer: str) -> Any:
    return page.locator(f"[class*=genobit-{explorer}-] .bk-Figure").first


def test_explorers__stand_under_their_own_headings(opened: Any) -> None:
    opened.locator(".genobit-launcher-opened").wait_for(state="attached", timeout=600_000)
    found = [EXPLORER.match(name) or name for name in opened.evaluate(IN_ORDER)]
    names = [name if isinstance(name, str) else name[1] for name in found]
    known = [name for name in names if name in SECTIONS]
    assert [name for name, _ in itertools.groupby(known)] == SECTIONS


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
    assert page.elsewhere == []
    assert page.complaints == []
    assert page.locator(".jupyter-widgets-error-widget").count() == 0
