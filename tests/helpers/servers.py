"""Servers on this machine: files over HTTP, with ranges and without, and S3."""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


class Whole(SimpleHTTPRequestHandler):
    """Sends whole files only, and lists no folders."""

    def list_directory(self, path: Any) -> None:  # type: ignore[override]
        self.send_error(403)

    def log_message(self, *_: Any) -> None:
        pass


class Ranges(Whole):
    """Sends parts of files, and keeps the names and sizes of what it has sent."""

    sent: list[tuple[str, int]]

    def do_GET(self) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        file = Path(self.translate_path(self.path))
        if not file.is_file():
            self.send_error(404)
            return
        data = file.read_bytes()
        first, last = (int(asked[1]), int(asked[2])) if asked else (0, len(data) - 1)
        part = data[first : last + 1]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Accept-Ranges", "bytes")
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        if self.command == "GET":
            self.sent.append((file.name, len(part)))
            self.wfile.write(part)

    do_HEAD = do_GET  # noqa: N815


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], folder: Path | None = None) -> Iterator[str]:
    """Yield the address of a server, of the files of a folder if one is given."""
    made = handler if folder is None else partial(handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), made) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def s3() -> Iterator[str]:
    """Yield the address of a server of S3, or skip the test without moto."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    running = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


def close_sessions() -> None:
    """Close what fsspec keeps open until the end of the process."""
    from fsspec.registry import registry

    for name in {"http", "s3", "memory"} & registry.keys():
        registry[name].clear_instance_cache()
    gc.collect()
