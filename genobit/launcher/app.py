"""Serve the tour as a Voila app that asks for a token, which is part of the link.

`Voila` answers everybody who reaches its port. As in JupyterLab, this app exchanges the token for a
cookie. It also refuses requests with a foreign Host header. This prevents DNS rebinding, in which
another site points its own name at this machine.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import re
import tempfile
import threading
import webbrowser
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_server import DEFAULT_STATIC_FILES_PATH
from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError
from traitlets import default
from traitlets.config import Config
from voila.app import Voila
from voila.tornado.handler import TornadoVoilaHandler

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Extensions of JupyterLab that the page loads. Voila's default is every installed extension. The
#: extensions of Notebook 7 and HoloViews raise errors, because they need parts of
#: JupyterLab that Voila lacks.
EXTENSIONS = (
    "@jupyter-widgets/jupyterlab-manager",
    "@voila-dashboards/widgets-manager8",
    "anywidget",
)

#: Links to Font Awesome on another site. Voila's own style sheet has the icons already.
_ELSEWHERE = re.compile(r'<link [^>]*href="https://cdn\.jsdelivr\.net/[^>]*>')


def serve(notebook: Path, arguments: Sequence[str]) -> None:
    """Serve a notebook until Ctrl-C; `arguments` are passed to voila's command line."""
    # Voila goes on writing to a page that was closed while its cells run.
    logging.getLogger("tornado.application").addFilter(_is_news)
    defaults = {
        # With progressive rendering, each cell appears when it is done.
        "VoilaConfiguration": {
            "progressive_rendering": True,
            "extension_allowlist": list(EXTENSIONS),
            "prelaunch_hook": without_notebook_only,
        },
        # A page that is left ends its kernel. A page whose browser is closed or killed does not. A
        # page that lost its connection, as on a laptop that sleeps, has half an hour.
        "MappingKernelManager": {"cull_idle_timeout": 1800, "cull_interval": 60},
    }
    # Voila reads no answers to its pings while a cell runs. With pings it would hang up in a cell
    # of 90 s, which compiling may take.
    with contextlib.suppress(KeyboardInterrupt):
        App.launch_instance(
            [str(notebook), *arguments],
            config=Config(defaults),
            tornado_settings={"ws_ping_interval": 0},
        )


def without_notebook_only(_request: object, notebook: Any, **_: Any) -> Any:
    """Return the notebook without the cells that explain how to run cells.

    A preprocessor of the page would not do. Progressive rendering runs the cells of the notebook,
    and puts each output under the cell of the page with the same number.
    """
    notebook.cells = [
        cell for cell in notebook.cells if "notebook-only" not in cell.metadata.get("tags", ())
    ]
    return notebook


def _is_news(record: logging.LogRecord) -> bool:
    return record.exc_info is None or record.exc_info[0] is not WebSocketClosedError


class Page(TornadoVoilaHandler):
    """The page of the notebook.

    Without the token it answers 403, instead of asking for the token in a form.
    """

    async def prepare(self) -> None:
        """Set the cookie without which the server refuses to end the kernel of a closed page."""
        await super().prepare()
        _ = self.xsrf_token

    def write(self, chunk: str | bytes | dict[str, Any]) -> None:
        """Write a part of the page without links to other sites, so that it works offline."""
        super().write(_ELSEWHERE.sub("", chunk) if isinstance(chunk, str) else chunk)

    def get_login_url(self) -> str:
        """Raise HTTPError 403, whose message says where to find the link."""
        raise HTTPError(403, reason="Open the link that genobit app printed, with its token")


class App(Voila):
    """Voila with a token and a check of the Host header."""

    @default("auto_token")
    def _auto_token(self) -> bool:
        return True

    def init_settings(self) -> dict[str, Any]:
        """Check Host headers, unless the server's address can be reached from other machines."""
        settings: dict[str, Any] = super().init_settings()
        settings["allow_remote_access"] = not _is_loopback(self.ip)
        # Close handlers that forget to ask for a login, too.
        settings["allow_unauthenticated_access"] = False
        # jupyter_server's pages that explain a refusal use it.
        settings["static_path"] = DEFAULT_STATIC_FILES_PATH
        return settings

    def init_handlers(self) -> list[Any]:
        """Replace Voila's handler of notebooks by `Page`."""
        return [
            tuple(Page if part is TornadoVoilaHandler else part for part in handler)
            for handler in super().init_handlers()
        ]

    def launch_browser(self) -> None:
        """Open the link through a file that only this user can read: command lines are public."""
        try:
            browser = webbrowser.get(self.browser or None)
        except webbrowser.Error as error:
            self.log.info("No web browser found (%s); open the link yourself.", error)
            return
        token = self.identity_provider.token
        link = escape(f"{self.connection_url}?token={token}" if token else self.connection_url)
        number, path = tempfile.mkstemp(".html", "genobit-app-")
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(f'<meta http-equiv="refresh" content="1;url={link}"><a href="{link}">Go</a>')
        threading.Thread(
            target=browser.open, args=(Path(path).as_uri(), self.webbrowser_open_new)
        ).start()


def _is_loopback(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
