"""`genobit app`, and a Chromium page on it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.browser.jupyterlab import Lab, missing, new_page, private_environment, serving

SERVE = """
import sys
from pathlib import Path
from genobit.launcher.app import serve
serve(Path(sys.argv[1]), sys.argv[2:])
"""
TOKEN = secrets.token_hex()


def missing_for_voila() -> str | None:
    return missing() or ("" if importlib.util.find_spec("voila") else "voila is not installed")


@contextlib.contextmanager
def server(home: Path, package: Path) -> Iterator[str]:
    """The address of the app; its files go into the folder `home`."""
    with serving_voila(("-m", "genobit", "app"), home, package) as address:
        yield f"{address}/?token={TOKEN}"


@contextlib.contextmanager
def folder_server(home: Path, package: Path) -> Iterator[Lab]:
    """The folder home/notebooks, served as the app is."""
    folder = home / "notebooks"
    folder.mkdir()
    with serving_voila(("-c", SERVE, str(folder)), home, package) as address:
        yield Lab(folder, address, TOKEN)


@contextlib.contextmanager
def serving_voila(program: Sequence[str], home: Path, package: Path) -> Iterator[str]:
    """The address of a Voila that Python runs; it ends with the context."""

    def command(port: int) -> list[str]:
        return [
            *(sys.executable, *program, "--no-browser", f"--port={port}", "--Voila.ip=127.0.0.1"),
            f"--Voila.token={TOKEN}",
        ]

    environment = private_environment(home, package)
    process, address = serving(
        command, "voila/static/voila.js", home, env=environment, start_new_session=True
    )
    try:
        yield address
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
        page.goto(address, wait_until="commit")
        return page

    @staticmethod
    def wait(page: Any) -> None:
        """Until the first of its explorers is near."""
        page.locator(".genobit-summary svg").first.wait_for(timeout=600_000)

    @staticmethod
    def close(page: Any, address: str) -> None:
        page.close()
