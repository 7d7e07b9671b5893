from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import jupyterlab, voila
from tests.browser.jupyterlab import ROOT, Lab


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """One Chromium for all files; skips where something is missing."""
    if reason := jupyterlab.missing():
        pytest.skip(reason)
    with jupyterlab.browser() as started:
        yield started


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One JupyterLab server for all files."""
    with jupyterlab.server(tmp_path_factory.mktemp("lab"), ROOT) as started:
        yield started


@pytest.fixture(scope="package")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the tour as an app; skips where Voila is missing."""
    if reason := voila.missing_for_voila():
        pytest.skip(reason)
    with voila.server(tmp_path_factory.mktemp("tour"), ROOT) as address:
        yield address


@pytest.fixture(scope="package")
def pages() -> dict[str, Any]:
    """Pages that are open, by the name of what they show."""
    return {}


@pytest.fixture(scope="module")
def opened(request: pytest.FixtureRequest, browser: Any, pages: dict[str, Any]) -> Iterator[Any]:
    """The page that a file's OPENS describes, and the next file's begins to load.

    What takes long is a page of JupyterLab and the imports of a new kernel: both come ready
    while the tests of the file before wait for pictures.
    """
    modules = [getattr(item, "module", None) for item in request.session.items]
    files = [file for file in dict.fromkeys(modules) if hasattr(file, "OPENS")]
    opens, *following = [file.OPENS for file in files[files.index(request.module) :]]

    def load(what: Any) -> None:
        if what.name not in pages:
            pages[what.name] = what.open(browser, request.getfixturevalue(what.server))

    load(opens)
    server = request.getfixturevalue(opens.server)
    opens.wait(pages[opens.name])
    # What fails here fails again when it is that file's turn.
    with contextlib.suppress(pytest.skip.Exception, RuntimeError):
        for what in following[:1]:
            load(what)
    yield pages[opens.name]
    opens.close(pages.pop(opens.name), server)


@pytest.fixture
def all_loaded(pages: dict[str, Any]) -> None:
    """No page of JupyterLab is on its way: they share its settings, such as the theme."""
    for page in pages.values():
        if "/lab/" in page.url:
            page.wait_for_selector("body[data-jp-theme-light]", state="attached")
