"""Every explorer by axe-core, and by the Tab key alone, light and dark."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.jupyterlab import Notebook, open_drawer, until
from tests.browser.screenshots import SHOTS, THEMES, in_theme

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OPENS = [Notebook(f"names-{name}", shot.cells, 1366, 1900) for name, shot in SHOTS.items()]
# Visible controls that are enabled.
CONTROLS = """css => [...document.querySelectorAll(
  ['button', 'input', 'select', 'textarea', '[role=slider]'].map(kind => `.${css} ${kind}`).join()
)].filter(control => control.checkVisibility() && !control.disabled && control.tabIndex >= 0)"""
NAMES = f"css => ({CONTROLS})(css).map(control => control.outerHTML.slice(0, 200))"
FOCUSED = """css => {
  const control = document.activeElement
  if (!control.closest(`.${css}`)) return null
  let inner = control
  while (inner.shadowRoot?.activeElement) inner = inner.shadowRoot.activeElement
  return [control.outerHTML.slice(0, 200), getComputedStyle(inner).outlineStyle !== 'none']
}"""


@pytest.fixture(scope="module")
def shown(opened: Any) -> Iterator[tuple[Any, str]]:
    """The page with an explorer, and the explorer's class. Pages share the theme, light at last."""
    name = opened.url.rpartition("names-")[2].partition(".")[0]
    shot = SHOTS[name]
    status = opened.locator(f".{shot.css}-status").first
    until(lambda: shot.ready in status.inner_text(), shot.ready)
    yield opened, shot.css
    in_theme(opened, "light")


@pytest.mark.usefixtures("all_loaded")
@pytest.mark.parametrize("theme", THEMES)
def test_controls_have_names_and_contrast(shown: tuple[Any, str], theme: str) -> None:
    page, css = shown
    in_theme(page, theme)
    axe = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js")
    page.evaluate(axe.read_text(encoding="utf-8"))
    found = page.evaluate("css => axe.run(document.querySelector(`.${css}`))", css)
    assert len(found["passes"]) > 5
    said = [
        f"{fault['help']}: {node['html'][:200]}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]
    assert not said, "\n".join(said)


def test_the_tab_key_reaches_every_control(shown: tuple[Any, str]) -> None:
    page, css = shown
    if page.locator(f".{css} .genobit-open").count():
        open_drawer(page, css)
    expected = page.evaluate(NAMES, css)
    assert len(expected) > 4
    page.locator(f".{css} >> css=button, input, select").first.focus()
    # Backwards and forwards, as the first control may be anywhere.
    reached = {}
    for key in (["Shift+Tab"] * (len(expected) + 10)) + (["Tab"] * (2 * len(expected) + 20)):
        page.keyboard.press(key)
        focused = page.evaluate(FOCUSED, css)
        if focused:
            name, outlined = focused
            reached[name] = outlined
    assert set(expected) <= set(reached), set(expected) - set(reached)
    assert all(reached.values()), [name for name, outlined in reached.items() if not outlined]
