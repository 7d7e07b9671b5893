"""A server of gs:// on this machine: the JSON API as gcsfs calls it, one bucket, in memory."""

from __future__ import annotations

import json
import re
import zlib
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


class Google(BaseHTTPRequestHandler):
    """Get, list, download, upload, delete: https://cloud.google.com/storage/docs/json_api."""

    protocol_version = "HTTP/1.1"
    objects: dict[str, bytes]

    def log_message(self, *_: Any) -> None:
        pass

    def reply(self, data: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def json(self, found: dict[str, Any], status: int = 200) -> None:
        self.reply(json.dumps(found).encode(), status, Content_Type="application/json")

    def absent(self) -> None:
        self.json({"error": {"code": 404, "message": "Not Found"}}, 404)

    def about(self, name: str) -> dict[str, Any]:
        data = self.objects[name]
        times = dict.fromkeys(("timeCreated", "updated"), "2026-01-01T00:00:00.000Z")
        about = {"name": name, "bucket": "cohorts", "size": str(len(data)), **times}
        return {**about, "generation": str(zlib.crc32(data)), "etag": str(zlib.crc32(data))}

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        bucket = re.fullmatch(r"(/download)?/storage/v1/b/cohorts(/o/?)?(.*)", where.path)
        if bucket is None:
            self.absent()
        elif bucket[2] is None:
            self.json({"name": "cohorts", "kind": "storage#bucket"})
        elif not bucket[3]:
            self.list({k: v[0] for k, v in parse_qs(where.query).items()})
        elif (name := unquote(bucket[3])) not in self.objects:
            self.absent()
        elif bucket[1]:
            self.download(self.objects[name])
        else:
            self.json(self.about(name))

    def list(self, asked: dict[str, str]) -> None:
        prefix, folders, items = asked.get("prefix", ""), set(), []
        for name in sorted(self.objects):
            rest = name.removeprefix(prefix)
            if not name.startswith(prefix):
                continue
            if asked.get("delimiter") == "/" and "/" in rest:
                folders.add(prefix + rest.partition("/")[0] + "/")
            else:
                items.append(self.about(name))
        self.json({"items": items, "prefixes": sorted(folders)})

    def download(self, data: bytes) -> None:
        part = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if part is None:
            self.reply(data)
            return
        start = int(part[1]) if part[1] else max(len(data) - int(part[2]), 0)
        stop = min(int(part[2]) + 1, len(data)) if part[1] and part[2] else len(data)
        if start >= stop:
            self.reply(b"", 416)
            return
        self.reply(data[start:stop], 206, Content_Range=f"bytes {start}-{stop - 1}/{len(data)}")

    def do_DELETE(self) -> None:
        name = unquote(urlsplit(self.path).path.removeprefix("/storage/v1/b/cohorts/o/"))
        if self.objects.pop(name, None) is None:
            self.absent()
        else:
            self.reply(b"", 204)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        boundary = re.search(r'boundary="?([^";]+)', self.headers.get("Content-Type", ""))
        if not self.path.startswith("/upload/storage/v1/b/cohorts/o") or boundary is None:
            self.absent()
            return
        mark = b"--" + boundary[1].encode()
        _, about, rest = body.split(mark, 2)
        name = json.loads(about.partition(b"\n\n")[2])["name"]
        data = rest[: rest.rindex(b"\n" + mark + b"--")]
        self.objects[name] = data.partition(b"\n\n")[2]
        self.json(self.about(name))
