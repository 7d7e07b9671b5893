"""`genobit app` serves only who has its link: real requests to a real server."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("voila")
pytest.importorskip("ipykernel")

from genobit.launcher.app import App, serve

NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "source": source,
            "metadata": {"tags": tags},
            "outputs": [],
            "execution_count": None,
        }
        for source, tags in (("print('how to run')", ["notebook-only"]), ("print('served')", []))
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 4,
}
SERVE = """
import sys
from pathlib import Path
from genobit.launcher.app import serve
serve(Path(sys.argv[1]), ["--no-browser", f"--port={sys.argv[2]}", *sys.argv[3:]])
"""
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
NO_KERNEL = "12345678-1234-1234-1234-123456789012"


class Served(NamedTuple):
    address: str
    token: str


class Answer(NamedTuple):
    status: int
    text: str
    cookie: str


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("app")) as served:
        yield served


@contextlib.contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Served]:
    (folder / "tiny.ipynb").write_text(json.dumps(NOTEBOOK))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log.txt"
    command = [sys.executable, "-c", SERVE, str(folder / "tiny.ipynb"), str(port), *arguments]
    environment = {**os.environ, "IPYTHONDIR": str(folder), "JUPYTER_CONFIG_DIR": str(folder)}
    with (
        log.open("wb") as out,
        subprocess.Popen(
            command, stdout=out, stderr=out, cwd=Path(__file__).parents[2], env=environment
        ) as process,
    ):
        try:
            yield Served(f"http://127.0.0.1:{port}", _token(process, log))
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def _token(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"http://localhost:\d+/\?token=([0-9a-f]{32,})", log.read_text()):
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"no link with a token: {log.read_text()}")


def ask(address: str, **headers: str) -> Answer:
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            text = answer.read().decode()
            return Answer(answer.status, text, answer.headers.get("Set-Cookie", ""))
    except urllib.error.HTTPError as refused:
        return Answer(refused.code, refused.read().decode(), "")


def kernel_of(page: str) -> str:
    found = re.search(r'"kernelId":\s*"([0-9a-f-]{36})"', page)
    assert found, page[:2000]
    return found[1]


def shake(app: Served, path: str, **headers: str) -> int:
    """Status of a request for a websocket; 101 if it was opened."""
    host, port = app.address.removeprefix("http://").split(":")
    lines = [f"GET {path} HTTP/1.1"]
    lines += [f"{k}: {v}" for k, v in ({"Host": f"{host}:{port}"} | UPGRADE | headers).items()]
    with socket.create_connection((host, int(port)), timeout=120) as client:
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(client.recv(4096).split()[1])


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong"])
def test_without_the_token__nothing_is_served(app: Served, query: str) -> None:
    page = ask(f"{app.address}/{query}")
    assert page.status == 403
    assert "served" not in page.text
    for path in ("api/kernels/" + NO_KERNEL, "voila/render/tiny.ipynb"):
        assert ask(f"{app.address}/{path}{query}").status in {403, 404}
    for path in (f"/api/kernels/{NO_KERNEL}/channels", f"/voila/execution/{NO_KERNEL}"):
        assert shake(app, path + query) == 403


def test_a_foreign_host__is_refused_with_the_token_too(app: Served) -> None:
    link = f"{app.address}/?token={app.token}"
    port = app.address.rpartition(":")[2]
    for host in (f"evil.example:{port}", "evil.example", f"192.0.2.1:{port}"):
        assert ask(link, Host=host).status == 403
    path = f"/api/kernels/{NO_KERNEL}/channels?token={app.token}"
    assert shake(app, path, Host=f"evil.example:{port}") == 403


def test_the_link__opens_the_page_and_its_cookie_the_kernel(app: Served) -> None:
    page = ask(f"{app.address}/?token={app.token}")
    assert page.status == 200
    cookie = page.cookie.split(";")[0]
    assert cookie
    kernel = kernel_of(page.text)
    for path in (f"/api/kernels/{kernel}/channels", f"/voila/execution/{kernel}"):
        assert shake(app, path) == 403
        assert shake(app, path, Cookie=cookie) == 101
        # A page of another site, to which a browser would send the cookie.
        assert shake(app, path, Cookie=cookie, Origin="http://evil.example") == 403


def test_a_page_that_is_left__ends_its_kernel(app: Served) -> None:
    jar = CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    with browser.open(f"{app.address}/?token={app.token}", timeout=300) as answer:
        kernel = kernel_of(answer.read().decode())
    # What Voila's script sends.
    form = urllib.parse.urlencode({c.name: c.value for c in jar if c.name == "_xsrf"}).encode()
    with browser.open(f"{app.address}/voila/api/shutdown/{kernel}", form, timeout=300) as answer:
        assert answer.status == 204


def test_options__of_the_user_win_and_kernels_without_a_page_end(tmp_path: Path) -> None:
    culling = (f"--MappingKernelManager.cull_{name}=1" for name in ("idle_timeout", "interval"))
    with serving(tmp_path, "--progressive_rendering=False", *culling) as app:
        page = ask(f"{app.address}/?token={app.token}")
        # Without progressive rendering, the page comes with its outputs.
        assert "served" in page.text
        assert "how to run" not in page.text
        assert "//cdn." not in page.text
        kernel = f"{app.address}/api/kernels/{kernel_of(page.text)}?token={app.token}"
        end = time.monotonic() + 300
        while (status := ask(kernel).status) == 200 and time.monotonic() < end:
            time.sleep(0.2)
        assert status == 404


def test_kernels_without_a_page__end_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(App, "launch_instance", lambda _, config, **others: seen.append(config))
    serve(Path("tour.ipynb"), [])
    assert seen[0].MappingKernelManager.cull_idle_timeout == 1800
