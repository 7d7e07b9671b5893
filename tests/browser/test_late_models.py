"""An explorer in a page that is so busy that every model of anywidget is late."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.jupyterlab import Notebook, drawn, redrawn, save, says, until
from tests.browser.test_reload import MAKE, SHOW

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# anywidget gives a model 2 s to initialize. Here no model gets any time.
LATE = """
const timeout = AbortSignal.timeout
AbortSignal.timeout = (milliseconds) => {
  if (milliseconds !== 2000) return timeout.call(AbortSignal, milliseconds)
  const late = new AbortController()
  queueMicrotask(() => late.abort())
  return late.signal
}
"""
OPENS = Notebook("late-models", (MAKE, SHOW), script=LATE)


def status(page: Any) -> str:
    return str(page.locator(".genobit-ld-status").inner_text())


def test_the_picture_follows_python(opened: Any) -> None:
    figure = opened.locator(".genobit-ld-plot .bk-Figure").first
    before = drawn(figure)
    opened.locator(".genobit-ld-region input").fill("0:100,000-200,000")
    opened.keyboard.press("Enter")
    redrawn(figure, before)


def test_the_code_is_copied(opened: Any) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.bring_to_front()
    save(opened, "genobit-ld", "copy Python")
    says(lambda: status(opened), "Copied: ")
    code = status(opened).removeprefix("Copied: ")
    until(lambda: opened.evaluate("navigator.clipboard.readText()") == code, "the clipboard")


def test_nothing_of_ours_complained(opened: Any) -> None:
    assert opened.complaints == []
