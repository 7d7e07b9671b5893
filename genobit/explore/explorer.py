"""What all explorers have: one thread to draw on, and a line that says what happened."""

from __future__ import annotations

import html
from typing import Any, ClassVar

import ipywidgets
import traitlets

from .bridge import Home

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

    def _complain(self, error: Exception) -> None:
        self.status = f"Error: {in_words(error)}"


def in_words(error: BaseException) -> str:
    """Take the message of an error; its name where it has none.

    Examples
    --------
    >>> in_words(KeyError("no such thing")), in_words(MemoryError())
    ('no such thing', 'MemoryError')
    """
    # str() of a KeyError puts its message in quotes.
    return str(error.args[0]) if error.args else type(error).__name__
