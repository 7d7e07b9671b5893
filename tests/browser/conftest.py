from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.jupyterlab import ROOT, Lab, missing, server


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One JupyterLab server for all tests of a process; skips where something is missing."""
    if reason := missing():
        pytest.skip(reason)
    with server(tmp_path_factory.mktemp("lab"), ROOT) as started:
        yield started
