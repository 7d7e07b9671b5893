"""Explorers by their traits: no picture is drawn for a test that does not look at it."""

from __future__ import annotations

import ipywidgets
import pytest


@pytest.fixture
def drawn() -> None:
    """For tests that want real pictures, which take a second each."""


@pytest.fixture
def undrawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views are empty boxes, but in tests that ask for `drawn`."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr("genobit.visual.view.as_widget", lambda _view, _home: ipywidgets.HBox())


@pytest.fixture
def without_bokehjs(monkeypatch: pytest.MonkeyPatch) -> None:
    """An explorer does not load BokehJS: there is no page to load it into."""
    monkeypatch.setattr("genobit.visual.explorer.start_bokehjs", lambda: None)
