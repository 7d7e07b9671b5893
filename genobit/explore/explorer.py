"""What all explorers have: one thread to draw on, and a line that says what happened."""

from __future__ import annotations

import html
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets
import traitlets

from .bridge import Home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SPINNER = '<i class="fa fa-spinner fa-spin"></i> '


class Explorer(ipywidgets.VBox):
    """A widget that says in words what it did last and what went wrong.

    Parameters
    ----------
    **initial
        Traits to begin with.

    Attributes
    ----------
    status
        What was computed last, or what went wrong, in words.
    busy
        Whether something is being computed.
    """

    #: Beginning of the CSS classes of this explorer's parts.
    css: ClassVar[str] = "genobit"
    status = traitlets.Unicode("")
    busy = traitlets.Bool(False)  # noqa: FBT003  traitlets takes the default first

    def __init__(self, **initial: Any) -> None:
        self._home = Home()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=self.css)
        self._jobs: list[str] = []
        self._said = ""
        super().__init__(**initial)
        self.add_class(self.css)
        self._status_line = ipywidgets.HTML().add_class(f"{self.css}-status")
        self.observe(self._say, ["status", "busy"])

    def _say(self, _change: Any) -> None:
        bad = self.status.startswith("Error")
        style = ' style="color:#b00020;font-weight:bold"' if bad else ""
        spinner = _SPINNER if self.busy else ""
        self._status_line.value = f"<span{style}>{spinner}{html.escape(self.status)}</span>"

    def try_to(self, action: Any, *arguments: Any) -> None:
        """Call a method for a button: what goes wrong is said in the status line.

        Parameters
        ----------
        action, *arguments
            The method and its arguments.
        """
        self._home.run(self._try, action, *arguments)

    def _try(self, action: Any, *arguments: Any) -> None:
        try:
            action(*arguments)
        except Exception as error:  # noqa: BLE001  a dead widget tells nobody why
            self._complain(error)

    def _work(self, what: str, work: Callable[[], Any], done: Callable[[Any, float], None]) -> None:
        """Compute on a thread of its own, one thing after another, and draw the result at home.

        `done` gets the result, or the exception, and the seconds it took; `_said` is the status
        once nothing is left to do.
        """
        self._jobs.append(what)
        self.busy, self.status = True, f"Computing {self._jobs[0]} …"

        def run() -> None:
            began = time.perf_counter()
            result: Any
            try:
                result = work()
            except Exception as error:  # noqa: BLE001  a dead thread tells nobody why
                result = error
            self._home.run(finish, result, time.perf_counter() - began)

        def finish(result: Any, seconds: float) -> None:
            self._jobs.remove(what)
            self._try(done, result, seconds)
            self.busy = bool(self._jobs)
            if self.busy:
                self.status = f"Computing {self._jobs[0]} …"
            elif not self.status.startswith("Error"):
                self.status = self._said

        if self._home.loop is None:
            run()
        else:
            self._worker.submit(run)

    def _complain(self, error: Exception) -> None:
        self.status = f"Error: {in_words(error)}"


def one_of(trait: str, value: str, known: Iterable[str]) -> str:
    """Check that a trait is one of what is known.

    Parameters
    ----------
    trait
        Its name.
    value
        What it is to be.
    known
        What it can be.

    Returns
    -------
    The value.

    Raises
    ------
    TraitError
        If it is another.
    """
    names = tuple(known)
    if value not in names:
        raise traitlets.TraitError(
            f"{trait} is {value!r}; use one of {', '.join(map(repr, names))}"
        )
    return value


def in_words(error: BaseException) -> str:
    """Take the message of an error; its name where it has none.

    Examples
    --------
    >>> in_words(KeyError("no such thing")), in_words(MemoryError())
    ('no such thing', 'MemoryError')
    """
    # str() of a KeyError puts its message in quotes.
    return str(error.args[0]) if error.args else type(error).__name__
