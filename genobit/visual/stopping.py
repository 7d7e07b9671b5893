"""Work on a thread that another thread can stop."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


class Stopped(BaseException):
    """Raised in the midst of work that was stopped.

    No `Exception`: code that goes on after any error is to stop, too.
    """

    def __str__(self) -> str:
        """Say what happened."""
        return "it was stopped"


class Stoppable:
    """Runs one piece of work at a time, and stops it when another thread asks for that.

    Python raises an exception in the thread that works, between two of its instructions. A compiled
    kernel ends first; dask starts no further task, because the thread that hands them out is this
    one. So work stops after the tiles that are being computed, milliseconds later.
    """

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._thread: int | None = None

    def run(self, work: Callable[[], Result]) -> Result:
        """Work on this thread.

        Parameters
        ----------
        work
            Called without arguments.

        Returns
        -------
        What it gives.

        Raises
        ------
        Stopped
            If another thread called `stop`.
        """
        with self._gate:
            self._thread = threading.get_ident()
        try:
            try:
                return work()
            finally:
                self._end()
        except Stopped:
            # It may have come within the line above, and comes once.
            self._end()
            raise

    def _end(self) -> None:
        with self._gate:
            self._thread = None
            # One that has not arrived would reach whoever works here next.
            _raise_in(threading.get_ident(), None)

    def stop(self) -> bool:
        """Stop what is running.

        Returns
        -------
        Whether something was.
        """
        with self._gate:
            thread, self._thread = self._thread, None
            if thread is None:
                return False
            _raise_in(thread, Stopped)
            return True


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Raise an exception in a thread; None takes back one that has not arrived."""
    wanted = ctypes.py_object() if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), wanted)
