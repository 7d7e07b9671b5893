"""An explorer in a page that is so busy that every model of anywidget is late."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.explorers import RANDOM
from tests.browser.jupyterlab import Notebook, drawn, redrawn, save, says, until

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
OPENS = Notebook("late-models", RANDOM.cells, script=LATE)


def test_the_picture_follows_python(opened: Any) -> None:
    figure = RANDOM.figure(opened, "plot")
    before = drawn(figure)
    RANDOM.search(opened, "0:100,000-200,000", "region")
    redrawn(figure, before)


def test_the_code_is_copied(opened: Any) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.bring_to_front()
    save(opened, "genobit-ld", "copy Python")
    says(lambda: RANDOM.status(opened), "Copied: ")
    code = RANDOM.status(opened).removeprefix("Copied: ")
    until(lambda: opened.evaluate("navigator.clipboard.readText()") == code, "the clipboard")
