"""Run work on a thread that another thread can stop."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


class Stopped(BaseException):
    """Raised inside work that was stopped.

    It is not an `Exception`, so code that continues after any error stops as well.
    """

    def __str__(self) -> str:
        """Return the message."""
        return "it was stopped"


class Stoppable:
    """Run one piece of work at a time, and stop it when another thread asks for that.

    Python raises the exception between two instructions of the working thread. A compiled kernel
    ends first. dask starts no further task, because the working thread hands out the tasks. Work
    therefore stops within milliseconds, when the current tiles are finished.
    """

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._thread: int | None = None

    def run(self, work: Callable[[], Result]) -> Result:
        """Run `work` on this thread and return its result.

        Raises Stopped if another thread called `stop`.
        """
        with self._gate:
            self._thread = threading.get_ident()
        try:
            try:
                return work()
            finally:
                self._end()
        except Stopped:
            # Stopped may have interrupted the first `_end`; it is raised only once.
            self._end()
            raise

    def _end(self) -> None:
        with self._gate:
            self._thread = None
            # A Stopped that has not arrived would hit the next work on this thread.
            _raise_in(threading.get_ident(), None)

    def stop(self) -> bool:
        """Stop the running work; return whether there was any."""
        with self._gate:
            thread, self._thread = self._thread, None
            if thread is None:
                return False
            _raise_in(thread, Stopped)
            return True


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Raise an exception in a thread; None withdraws one that has not arrived."""
    wanted = ctypes.py_object() if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), wanted)
