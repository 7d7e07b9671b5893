"""The part of explorers that computes on a worker thread and says so in a status line."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets
import traitlets

from genobit.visual.explorer.home import UiThread
from genobit.visual.explorer.stopping import Stoppable, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds between updates of the status line during a computation.
TICK = 1.0


@dataclass(frozen=True)
class Job:
    """A computation, its description, and the function that takes its result and seconds."""

    what: str
    work: Callable[[], Any]
    done: Callable[[Any, float], None]


class Computing(ipywidgets.VBox):
    """A widget that computes one job after another, with a status line."""

    #: Prefix of the CSS classes of this widget's parts.
    css: ClassVar[str] = "genobit"
    status = traitlets.Unicode("")
    busy = traitlets.Bool(False)  # noqa: FBT003  traitlets takes the default first

    def __init__(self, **initial: Any) -> None:
        self._home = UiThread()
        self._renew()
        self._jobs: list[Job] = []
        self._dropped: list[Job] = []
        self._began, self._ticking = 0.0, False
        self._said = self._aside = self._refusal = ""
        super().__init__(**initial)

    def try_to(self, action: Any, *arguments: Any) -> None:
        """Call ``action(*arguments)`` for the user, and report an error in the status line.

        The error of such a call leaves the status line at the next one.
        """
        self._home.run(self._act, action, *arguments)

    def _act(self, action: Any, *arguments: Any) -> None:
        self._forget_refusal()
        try:
            action(*arguments)
        except Exception as error:  # noqa: BLE001  a dead widget tells nobody why
            self._refuse(error)

    def _refuse(self, error: Exception) -> None:
        """Report the error of something that the user asked for."""
        self._complain(error)
        self._refusal = self.status

    def _forget_refusal(self) -> None:
        """Show the last computation again in place of what the user asked for in vain."""
        refusal, self._refusal = self._refusal, ""
        if refusal and refusal == self.status:
            self.status = self._said + self._aside

    def _try(self, action: Any, *arguments: Any) -> None:
        try:
            action(*arguments)
        except Exception as error:  # noqa: BLE001  a dead widget tells nobody why
            self._complain(error)

    def _complain(self, error: Exception) -> None:
        self.status = f"Error: {in_words(error)}"

    def _work(self, what: str, work: Callable[[], Any], done: Callable[[Any, float], None]) -> None:
        """Compute on the worker thread, one job after another, and draw the result at home.

        `done` gets the result or the exception, and the seconds it took. `_said` becomes the status
        when no job is left.
        """
        job = Job(what, work, done)
        self._dropped = [old for old in self._dropped if old.what != what]
        self._jobs.append(job)
        if len(self._jobs) == 1:
            self._began, self._aside = time.perf_counter(), ""
        self.busy = True
        self._say_what()
        if self._home.loop is None:
            self._finish(job, *_timed(work))
            return
        if not self._ticking:
            self._ticking = True
            self._home.loop.call_later(TICK, self._tick)
        self._worker.submit(self._run, job, self._running)

    def _renew(self) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=self.css)
        self._running = Stoppable()

    def _run(self, job: Job, running: Stoppable) -> None:
        try:
            # Check on the worker: a job that was stopped while it waited must not start.
            done = running.run(lambda: _timed(job.work) if job in self._jobs else None)
        except Stopped:
            done = None
        if done is not None:
            self._home.run(self._finish, job, *done)

    def _finish(self, job: Job, result: Any, seconds: float) -> None:
        if job not in self._jobs:
            return  # it was stopped just after it ended
        self._jobs.remove(job)
        self._try(job.done, result, seconds)
        self.busy = bool(self._jobs)
        if self.busy:
            self._began = time.perf_counter()
            self._say_what()
        elif not self.status.startswith("Error"):
            self.status = self._said + self._aside

    def _say_what(self) -> None:
        seconds = time.perf_counter() - self._began
        waited = f" {seconds:.0f} s" if seconds >= TICK else ""
        self.status = f"Computing {self._jobs[0].what} …{waited}{self._aside}"

    def _tick(self) -> None:
        self._ticking = bool(self._jobs)
        if self._jobs and self._home.loop is not None:
            self._say_what()
            self._home.loop.call_later(TICK, self._tick)

    def stop(self) -> None:
        """Stop the running and all waiting computations; `again` restarts them."""
        dropped, self._jobs = self._jobs, []
        if not dropped:
            return
        seconds = time.perf_counter() - self._began
        self._running.stop()
        self._worker.shutdown(wait=False)
        # A running kernel ends first, perhaps seconds later; a new worker does not wait for it.
        self._renew()
        for job in dropped:
            self._try(job.done, RuntimeError("it was stopped"), seconds)
        self._dropped = dropped
        self.busy = False
        what = " and ".join(job.what for job in dropped)
        self.status = f"Stopped after {seconds:.1f} s: {what}"

    def again(self) -> None:
        """Restart the computations that `stop` ended."""
        dropped, self._dropped = self._dropped, []
        for job in dropped:
            self._work(job.what, job.work, job.done)

    @property
    def stopped(self) -> bool:
        """True after `stop` ended computations, until `again` restarts them."""
        return bool(self._dropped)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    result: Any
    try:
        result = work()
    except Exception as error:  # noqa: BLE001  a dead thread tells nobody why
        result = error
    return result, time.perf_counter() - began


def in_words(error: BaseException) -> str:
    """Return the message of an error, or its name if it has none.

    Examples
    --------
    >>> in_words(KeyError("no such thing")), in_words(MemoryError())
    ('no such thing', 'MemoryError')
    """
    # str() of a KeyError puts its message in quotes.
    text = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
    return text or type(error).__name__
