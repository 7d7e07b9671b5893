"""A private JupyterLab server and a Chromium page that drives a notebook in it."""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import io
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    # The widgets have to work where there is no network.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]
QUIET = {
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
}
EXPOSED = {"jupyterlab": "LabApp", "notebook": "JupyterNotebookApp"}
PATIENCE = 180.0
"""Seconds after which something is not coming any more: a busy machine takes minutes for pictures
that an idle one draws at once."""
# Once there are cells and a kernel, whoever looks at the page then. Not after a test's reload that
# sets genobit_rest.
RUN_ALL = """
const look = setInterval(async () => {
  if (sessionStorage.genobit_rest) return clearInterval(look)
  const app = window.jupyterapp
  const kernel = app?.shell?.currentWidget?.sessionContext?.session?.kernel
  if (kernel?.status !== 'idle' || !document.querySelector('.jp-Notebook .jp-CodeCell')) return
  clearInterval(look)
  await app.restored
  await app.commands.execute('notebook:run-all-cells')
  window.genobit_ran = true
}, 50)
"""
# In whole pixels of the page, scrolled to as a reader would.
PLACE = """element => {
  const seen = () => element.getBoundingClientRect()
  if (seen().top < 0 || seen().bottom > innerHeight) element.scrollIntoView({block: 'center'})
  const {left, top, right, bottom} = seen()
  const [x, y] = [Math.floor(left + scrollX), Math.floor(top + scrollY)]
  const [width, height] = [Math.ceil(right + scrollX) - x, Math.ceil(bottom + scrollY) - y]
  return {x, y, width, height, scale: 1}
}"""


def chromium() -> str | None:
    """The browser's path, if there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


def write_notebook(path: Path, *cells: str) -> None:
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "genobit-test", "display_name": "test", "language": "python"}
        },
        "cells": [
            {
                "cell_type": "code",
                "id": f"cell{k}",
                "metadata": {},
                "execution_count": None,
                "outputs": [],
                "source": source,
            }
            for k, source in enumerate(cells)
        ],
    }
    path.write_text(json.dumps(notebook), encoding="utf-8")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def private_environment(home: Path, package: Path) -> dict[str, str]:
    environment = dict(os.environ)
    for variable, folder in (
        ("JUPYTER_CONFIG_DIR", "config"),
        ("JUPYTER_DATA_DIR", "data"),
        ("JUPYTER_RUNTIME_DIR", "runtime"),
        ("IPYTHONDIR", "ipython"),
    ):
        (home / folder).mkdir()
        environment[variable] = str(home / folder)
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(package), environment.get("PYTHONPATH")])
    )
    settings = home / "config" / "labconfig"
    settings.mkdir()
    (settings / "default_setting_overrides.json").write_text(json.dumps(QUIET), encoding="utf-8")
    kernel = home / "data" / "kernels" / "genobit-test"
    kernel.mkdir(parents=True)
    # The same Python as the test, whatever kernels the machine has.
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "test", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    return environment


class Lab(NamedTuple):
    """A running server of notebooks, as a rule JupyterLab."""

    folder: Path
    """Where its notebooks are."""
    address: str
    token: str

    def notebook(self, name: str) -> str:
        """Address of a notebook in a workspace of its own, where no other is open."""
        return f"{self.address}/lab/workspaces/{name}/tree/{name}.ipynb?token={self.token}"

    def shut_down(self, name: str) -> None:
        """End the kernel of a notebook."""
        # Where the server ends before, or in the middle of its answer.
        with contextlib.suppress(OSError, HTTPException):
            for session in json.loads(self._ask("GET", "sessions")):
                if session["path"] == f"{name}.ipynb":
                    self._ask("DELETE", f"sessions/{session['id']}")

    def _ask(self, method: str, what: str) -> bytes:
        headers = {"Authorization": f"token {self.token}"}
        asked = urllib.request.Request(f"{self.address}/api/{what}", method=method, headers=headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return bytes(answer.read())


@contextlib.contextmanager
def server(home: Path, package: Path, app: str = "jupyterlab") -> Iterator[Lab]:
    """A server of JupyterLab, or of `notebook`, over the folder home/notebooks."""
    folder = home / "notebooks"
    folder.mkdir()
    token = secrets.token_hex(16)

    def command(port: int) -> list[str]:
        return [
            sys.executable,
            *("-m", app, "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
            *(f"--ServerApp.root_dir={folder}", f"--IdentityProvider.token={token}"),
            f"--{EXPOSED[app]}.expose_app_in_browser=True",
        ]

    environment = private_environment(home, package)
    process, address = serving(command, f"api/status?token={token}", home, env=environment)
    try:
        yield Lab(folder, address, token)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def serving(
    command: Callable[[int], list[str]], page: str, home: Path, **settings: Any
) -> tuple[subprocess.Popen[bytes], str]:
    """A server that answers, and its address: at another port where the first was just taken."""
    for last in (False, False, True):
        port = free_port()
        with (home / "server.log").open("ab") as log:
            process = subprocess.Popen(command(port), stdout=log, stderr=log, **settings)
        try:
            wait_for(f"http://127.0.0.1:{port}/{page}", process, home)
        except RuntimeError:
            ended = process.poll() is not None
            process.kill()
            process.wait()
            if last or not ended:
                raise
        else:
            break
    return process, f"http://127.0.0.1:{port}"


def wait_for(address: str, process: subprocess.Popen[bytes], home: Path) -> None:
    end = time.monotonic() + 2 * PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=20):
            return
        time.sleep(0.2)
    log = (home / "server.log").read_text(encoding="utf-8", errors="replace")
    raise RuntimeError(f"the server did not start:\n{log[-2000:]}")


class Notebook(NamedTuple):
    """A notebook that a page opens, and whose cells it runs."""

    name: str
    cells: tuple[str, ...]
    width: int = 1600
    height: int = 1300
    server: str = "lab"
    """The fixture of what serves it."""
    script: str = ""
    """JavaScript that runs before the page loads."""

    def open(self, browser: Any, lab: Lab) -> Any:
        """A page that loads the notebook and runs its cells by itself."""
        write_notebook(lab.folder / f"{self.name}.ipynb", *self.cells)
        page = new_page(browser, self.width, self.height)
        page.folder = lab.folder
        page.add_init_script(RUN_ALL + self.script)
        page.goto(self.address(lab), wait_until="commit")
        return page

    def address(self, lab: Lab) -> str:
        """Where the server shows it."""
        return lab.notebook(self.name)

    @staticmethod
    def wait(page: Any) -> None:
        """Until all cells have run."""
        page.wait_for_function("window.genobit_ran", timeout=1_200_000)

    def close(self, page: Any, lab: Lab) -> None:
        page.close()
        # A kernel takes seconds to end.
        threading.Thread(target=lab.shut_down, args=(self.name,)).start()


def new_page(browser: Any, width: int, height: int) -> Any:
    """A page in a window of its own, whose errors are collected: ``page.complaints``.

    Failed requests to other hosts are in ``page.elsewhere``.
    """
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(1000 * PATIENCE)
    page.devtools = page.context.new_cdp_session(page)
    page.complaints, page.elsewhere = [], []
    page.on("requestfailed", lambda request: note_elsewhere(page, request.url))
    page.on("console", lambda message: note(page, message.type, message.text))
    page.on("pageerror", lambda error: note(page, "error", str(error)))
    return page


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Chromium without a page."""
    from playwright.sync_api import sync_playwright

    # Not for longer than it is needed: playwright keeps an event loop in this thread.
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_OPTIONS)
        yield started
        started.close()


@contextlib.contextmanager
def notebook(lab: Lab, name: str, *cells: str, width: int, height: int) -> Iterator[Any]:
    """A page on a new notebook whose cells have run."""
    opened = Notebook(name, cells, width, height)
    with browser() as started:
        page = opened.open(started, lab)
        opened.wait(page)
        yield page
        opened.close(page, lab)


def picture(element: Any) -> Any:
    """The element's pixels, shape (height, width, 3).

    Asked of Chromium at once: playwright waits for frames in which nothing moves before it looks,
    which is half of the time of a picture and what `settled` is for.
    """
    from PIL import Image

    shot = {"format": "png", "optimizeForSpeed": True, "clip": element.evaluate(PLACE)}
    taken = element.page.devtools.send("Page.captureScreenshot", shot)["data"]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(taken))).convert("RGB"))


def missing() -> str | None:
    for module in ("playwright", "jupyterlab", "anywidget", "PIL"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    return None if chromium() else "no chromium on the PATH"


NOT_OURS = (
    # Voila and nbconvert ask a CDN, which this browser cannot reach: `page.elsewhere` has the URLs.
    "ERR_NAME_NOT_RESOLVED",
    # SlickGrid looks for its own a moment late: not there if the table is replaced by then.
    "SlickGrid Cannot find stylesheet.",
    # anywidget on a busy page: a model was not ready after 2 s. Messages of ours do not need it.
    "[anywidget] Failed to initialize model.",
)
# Notebook 7.6 of its list of shortcuts, also in a notebook without widgets: another setting
# changed before the list was there.
NOTEBOOK_7 = "Cannot read properties of undefined (reading 'schema')"


def note(page: Any, kind: str, text: str) -> None:
    known = (*NOT_OURS, NOTEBOOK_7) if "/notebooks/" in page.url else NOT_OURS
    if kind == "error" and not any(part in text for part in known):
        page.complaints.append(text)


def note_elsewhere(page: Any, url: str) -> None:
    if url.startswith("http") and "//127.0.0.1:" not in url:
        page.elsewhere.append(url)


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def until(condition: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    assert within(seconds, condition), f"waited {seconds} s for {what}"


def says(read: Callable[[], str], *words: str) -> None:
    """Wait for words on the page: each widget hears of a change by a message of its own."""
    if not within(PATIENCE, lambda: all(word in read() for word in words)):
        what = " and ".join(words)
        raise AssertionError(f"waited {PATIENCE} s for {what}; there is {read()!r}")


def by_hand(gesture: Callable[[], None], answer: Callable[[], bool], what: str) -> None:
    """Do something with the mouse, as a reader does: again where nothing answers.

    BokehJS takes a button that is down for 0.3 s without a move (UIGestures.press_threshold) for
    a press, which nothing listens to. With six busy programs on two cores three drags of forty
    came that late, each between others that were answered.
    """
    for seconds in (15, 15, 15, PATIENCE):
        gesture()
        if within(seconds, answer):
            return
    raise AssertionError(f"four times nothing answered: {what}")


def place(element: Any) -> dict[str, float]:
    """Where an element is on the page: nowhere for a moment, while it is being replaced."""
    end = time.monotonic() + PATIENCE
    while (box := element.bounding_box()) is None:
        assert time.monotonic() < end, "an element is nowhere"
        time.sleep(0.05)
    return dict(box)


def click_at(element: Any, x: float, y: float) -> None:
    """Click on a settled view, in shares of its width and height."""
    settled(element)
    box = place(element)
    element.page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def point_at(element: Any, x: float, y: float, words: Any) -> None:
    """Move to a place of a view, in shares of its width and height, until there are words."""
    page = element.page

    def move() -> None:
        settled(element)
        box = place(element)
        # From beside it: a mouse that stays where it was tells nothing.
        for aside in (4, 0):
            page.mouse.move(box["x"] + x * box["width"] + aside, box["y"] + y * box["height"])

    by_hand(move, words.is_visible, "words beside the mouse")


def at_rest(page: Any) -> bool:
    """Whether no explorer of the page computes, as far as the page has heard."""
    return bool(page.locator(".genobit-line .fa-spinner").count() == 0)


def settled(element: Any) -> np.ndarray:
    """The picture of an element once two in a row are alike, and nothing is computed."""
    from playwright.sync_api import Error

    last, end = None, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(Error):  # just being replaced
            now = picture(element)
            if last is not None and np.array_equal(now, last) and at_rest(element.page):
                return now
            last = now
        time.sleep(0.15)
    raise AssertionError(f"a picture that does not change was not to be had in {PATIENCE} s")


def drawn(element: Any) -> np.ndarray:
    """The settled picture, once there is something to see."""
    found: list[np.ndarray] = []

    def seen() -> bool:
        found[:] = [settled(element)]
        return not_blank(found[0])

    until(seen, "something to see")
    return found[0]


def unlike(before: np.ndarray, after: np.ndarray, share: float = 0.005) -> bool:
    """Whether more than a share of the pixels differ."""
    return before.shape != after.shape or float((before != after).any(axis=2).mean()) > share


def changed(element: Any, before: np.ndarray, share: float = 0.005) -> bool:
    """Whether the picture differs from the one before."""
    from playwright.sync_api import Error

    try:
        return unlike(before, picture(element), share)
    except Error:  # just being replaced
        return False


def redrawn(element: Any, before: np.ndarray, share: float = 0.005) -> np.ndarray:
    """The settled picture, once it differs from the one before and shows something."""
    until(lambda: changed(element, before, share), "another picture")
    return drawn(element)


def save(page: Any, css: str, what: str) -> None:
    """Save something that the menu of an explorer offers."""
    page.locator(f".{css}-export select").select_option(label=what)


def open_drawer(page: Any, css: str) -> None:
    """Open the drawer of an explorer, which has most of its controls."""
    opener = page.locator(f".{css} .genobit-open").first
    if "mod-active" not in (opener.get_attribute("class") or ""):
        opener.click()
    page.locator(f".{css} .genobit-drawer").first.wait_for(state="visible")


def not_blank(image: np.ndarray) -> bool:
    return len(np.unique(image.reshape(-1, 3), axis=0)) > 50
