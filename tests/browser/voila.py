"""`genobit app`, and a Chromium page on it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.browser.jupyterlab import (
    free_port,
    missing,
    new_page,
    private_environment,
    wait_for,
)

# A plugin of JupyterLab that comes with panel and looks for JupyterLab's file manager.
NOT_IN_VOILA = "Shared module @jupyterlab/docmanager doesn't exist"


def missing_for_voila() -> str | None:
    return missing() or ("" if importlib.util.find_spec("voila") else "voila is not installed")


@contextlib.contextmanager
def server(home: Path, package: Path) -> Iterator[str]:
    """The address of the app; its files go into the folder `home`."""
    port = free_port()
    command = [
        sys.executable,
        *("-m", "genobit", "app", "--no-browser", f"--port={port}", "--Voila.ip=127.0.0.1"),
    ]
    with (home / "server.log").open("wb") as log:
        environment = private_environment(home, package)
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/voila/static/voila.js", process, home)
            yield f"http://127.0.0.1:{port}"
        finally:
            # The command and the Voila that it started, as Ctrl-C in a terminal reaches both.
            for how in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, how)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(15)


class Tour(NamedTuple):
    """The app, which its server makes for each page."""

    name: str = "tour"
    server: str = "tour"
    """The fixture of what serves it."""

    @staticmethod
    def open(browser: Any, address: str) -> Any:
        page = new_page(browser, 1400, 1200)
        page.goto(address, wait_until="commit", timeout=60_000)
        return page

    @staticmethod
    def wait(page: Any) -> None:
        """Until the first of its explorers is near."""
        page.locator(".genobit-summary svg").first.wait_for(timeout=120_000)

    @staticmethod
    def close(page: Any, address: str) -> None:
        page.close()
