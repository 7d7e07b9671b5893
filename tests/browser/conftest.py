from __future__ import annotations

import contextlib
import importlib.util
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
def notebook7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One server of Notebook 7 for all files; skips where that is missing.

    JupyterLab's server shows it, too, but then it finds state of JupyterLab's and raises errors.
    """
    if importlib.util.find_spec("notebook") is None:
        pytest.skip("notebook is not installed")
    with jupyterlab.server(tmp_path_factory.mktemp("notebook7"), ROOT, "notebook") as started:
        yield started


@pytest.fixture(scope="package")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One Voila server for all files; skips where Voila is missing."""
    if reason := voila.missing_for_voila():
        pytest.skip(reason)
    with voila.folder_server(tmp_path_factory.mktemp("apps"), ROOT) as started:
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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of a file whose OPENS is a list with each of its members."""
    opens = getattr(metafunc.module, "OPENS", None)
    if isinstance(opens, list) and "opened" in metafunc.fixturenames:
        names = [what.name for what in opens]
        metafunc.parametrize("opened", opens, indirect=True, ids=names, scope="module")


def opens_of(item: Any) -> Any:
    """What the page of a test shows; None if it has no page."""
    if "opened" not in getattr(item, "fixturenames", ()):
        return None
    chosen = getattr(item, "callspec", None)
    return (chosen and chosen.params.get("opened")) or item.module.OPENS


@pytest.fixture(scope="module")
def opened(request: pytest.FixtureRequest, browser: Any, pages: dict[str, Any]) -> Iterator[Any]:
    """The page that a file's OPENS describes, and the next one begins to load.

    What takes long is a page of JupyterLab and the imports of a new kernel: both come ready
    while the tests before wait for pictures. In the end nothing of ours complained.
    """
    opens = getattr(request, "param", None) or request.module.OPENS
    in_turn = list(dict.fromkeys(filter(None, map(opens_of, request.session.items))))
    following = in_turn[in_turn.index(opens) + 1 :]

    def load(what: Any) -> None:
        if what.name not in pages:
            pages[what.name] = what.open(browser, request.getfixturevalue(what.server))

    load(opens)
    server = request.getfixturevalue(opens.server)
    opens.wait(pages[opens.name])
    # What fails here fails again when it is its turn.
    with contextlib.suppress(pytest.skip.Exception, RuntimeError):
        for what in following[:1]:
            load(what)
    yield pages[opens.name]
    complaints = pages[opens.name].complaints
    opens.close(pages.pop(opens.name), server)
    assert complaints == []


@pytest.fixture
def all_loaded(pages: dict[str, Any]) -> None:
    """No page of JupyterLab is on its way: they share its settings, such as the theme."""
    for page in pages.values():
        if "/lab/" in page.url:
            page.wait_for_selector("body[data-jp-theme-light]", state="attached")
