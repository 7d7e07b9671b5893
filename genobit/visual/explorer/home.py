"""The thread of an explorer, and calls that are throttled on it."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

#: Throttle interval in seconds: requests within it after a call become one call.
PATIENCE = 0.03
#: Seconds for which a thread counts as busy after it did not answer.
BUSY = 5.0


class UiThread:
    """Run functions on the thread and event loop that an explorer was made on.

    JupyterLab handles widget messages on a different thread from the one that runs cells. Bokeh
    and HoloViews share state between threads without a lock. Drawing on both threads stopped
    pictures from being sent.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._busy = 0.0
        self.loop: asyncio.AbstractEventLoop | None
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:  # a script or a test
            self.loop = None

    def run(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call `function` on the home thread: at once if already there, else soon."""
        if self.loop is None or threading.get_ident() == self._thread:
            function(*arguments)
        else:
            self.loop.call_soon_threadsafe(function, *arguments)

    def result(self, function: Callable[[], Result], seconds: float) -> Result:
        """Return the result of `function`, called on the home thread.

        If the home thread is busy for that many seconds, as in a long cell, call it here.
        """
        if self.loop is None or threading.get_ident() == self._thread:
            return function()
        # A page that opens asks for many results: wait for a busy thread once.
        if time.monotonic() < self._busy:
            seconds = 0.0
        asked: Future[Result] = Future()

        def answer() -> None:
            if not asked.set_running_or_notify_cancel():
                return
            try:
                asked.set_result(function())
            except Exception as error:  # noqa: BLE001  the thread that asks gets it
                asked.set_exception(error)

        self.loop.call_soon_threadsafe(answer)
        try:
            return asked.result(seconds)
        except TimeoutError:
            self._busy = time.monotonic() + BUSY
            return function() if asked.cancel() else asked.result()


class Throttled:
    """Throttle a function: requests that come close together become one call.

    The first call follows as soon as the current message is handled. Without an event loop, as
    in a script or a test, each request calls at once.
    """

    def __init__(self, home: UiThread, function: Callable[[], None]) -> None:
        self._home = home
        self._function = function
        self._pending = False
        self._called = -PATIENCE

    def __call__(self) -> None:
        """Request a call."""
        self._home.run(self._ask)

    def _ask(self) -> None:
        if self._home.loop is None:
            self._function()
        elif not self._pending:
            self._pending = True
            rest = self._called + PATIENCE - time.monotonic()
            self._home.loop.call_later(max(rest, 0.0), self._run)

    def _run(self) -> None:
        self._pending = False
        self._function()
        # Count from the end of the call: messages that arrived meanwhile are still queued.
        self._called = time.monotonic()
