"""Progress bars and notes: a widget in a notebook, text in a terminal.

May import: options, tqdm.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

from genobit.engine.options import get_options

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN = __name__.partition(".")[0] + "."
DELAY = 1.0
"""Seconds before an unrequested progress bar appears."""
_TERMINAL = {"ncols": 80, "nrows": 24}
"""Size of a terminal that does not say how large it is."""
ROUNDING = 1e-6
"""Share of the total by which a sum of partial steps may fall short at the end."""


class _Blocks(threading.local):
    """Number of `bar` blocks that this thread is in, shown or not."""

    count = 0


_blocks = _Blocks()
_refused: set[object] = set()
"""The `bar` blocks of all threads with ``progress=False``."""


@contextlib.contextmanager
def bar(*, progress: bool | None, leave: bool = True, **settings: Any) -> Iterator[Any]:
    """Show a progress bar while the block runs; yields the bar for ``update``.

    ``progress=None`` follows ``get_options().progress`` and delays the bar by `DELAY`. With
    ``leave`` the bar stays when the block ends. ``settings`` are arguments of tqdm: ``total``,
    ``desc``, ``unit``. The bar shows nothing if it is not wanted.

    Examples
    --------
    >>> with bar(progress=False, total=3) as steps:
    ...     steps.update()
    """
    from tqdm.auto import tqdm

    if not in_kernel() and _width() == 0:
        # tqdm would print empty lines.
        settings = {**_TERMINAL, **settings}
    show = wanted() if progress is None else progress
    delay = DELAY if progress is None else 0
    # Voila shows an error message for a closed widget, so the bar is hidden instead.
    with tqdm(disable=not show, delay=delay, leave=leave or in_kernel(), **settings) as shown:
        _blocks.count += 1
        block = object()
        if progress is False:
            _refused.add(block)
        try:
            yield shown
            if shown.total and abs(shown.total - shown.n) <= ROUNDING * shown.total:
                # A notebook shows a bar that ends below its total in red.
                shown.n = shown.total
        finally:
            _blocks.count -= 1
            _refused.discard(block)
    if not leave and hasattr(shown, "container"):
        shown.container.layout.display = "none"


def _width() -> int | None:
    """Return the columns of the terminal, 0 if it does not say, or None without a terminal."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (AttributeError, OSError, ValueError):
        return None


def wanted() -> bool:
    """Return whether an unrequested bar is shown.

    The option decides; if it is None, notebooks and terminals show bars.
    """
    option = get_options().progress
    if option is not None:
        return option
    return threading.current_thread() is threading.main_thread() and _person_looks_on()


def _person_looks_on() -> bool:
    return in_kernel() or (sys.stderr is not None and sys.stderr.isatty())


def note(text: str, *, progress: bool | None = None) -> bool:
    """Write a line where bars are shown, from any thread; return False if nobody wants it.

    ``progress`` is that of a method; None follows ``get_options().progress``.
    """
    option = get_options().progress if progress is None else progress
    wanted_here = _person_looks_on() if option is None else option
    # Without standard error, tqdm would write to standard output.
    if _refused or sys.stderr is None or not wanted_here:
        return False
    from tqdm import tqdm

    # `tqdm.write` moves bars in a terminal down a line.
    tqdm.write(text, file=sys.stderr)
    return True


def say(text: str) -> None:
    """Write a line about a result, unless the option ``progress`` is False.

    It goes to standard error, as bars do, and in a notebook to the output of the cell.
    """
    file = sys.stdout if in_kernel() else sys.stderr
    if get_options().progress is not False and file is not None:
        from tqdm import tqdm

        tqdm.write(text, file=file)


def warn(text: str) -> None:
    """Raise a UserWarning at the line that called `genobit`."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_OWN):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, UserWarning, stacklevel=level)


def in_kernel() -> bool:
    """Return whether this process is the kernel of a notebook."""
    python = sys.modules.get("IPython")
    return python is not None and getattr(python.get_ipython(), "kernel", None) is not None


def warn_stopped(what: str, kept: str, checkpoint: object) -> None:
    """Warn the caller of a method that Ctrl-C stopped it, and say how the search goes on."""
    again = "repeat the call" if checkpoint is not None else "name a folder with checkpoint="
    text = f'Ctrl-C stopped {what}: the result has {kept} (attrs["partial"] is True). '
    warnings.warn(f"{text}To resume a stopped search, {again}", RuntimeWarning, stacklevel=3)


def within() -> bool:
    """Return whether this thread is inside a `bar`, shown or not, so that a step needs none."""
    return _blocks.count > 0
