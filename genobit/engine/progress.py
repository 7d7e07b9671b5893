"""Progress bars: the notebook's widget in a notebook, text in a terminal.

May import: options, tqdm.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import TYPE_CHECKING, Any

from genobit.engine.options import get_options

if TYPE_CHECKING:
    from collections.abc import Iterator

DELAY = 1.0
"""Seconds before a bar appears that was not asked for by ``progress=True``."""
ROUNDING = 1e-6
"""Share of the total that sums of parts of steps may lack at the end."""


class _Blocks(threading.local):
    """Blocks of this thread that have a bar, or were asked to have none."""

    count = 0


_blocks = _Blocks()


@contextlib.contextmanager
def bar(*, progress: bool | None, leave: bool = True, **settings: Any) -> Iterator[Any]:
    """Show a bar while the block runs.

    Parameters
    ----------
    progress
        Whether to show it. None leaves it to ``get_options().progress``, after one second.
    leave
        Whether the bar stays when the block ends.
    **settings
        Of tqdm: ``total``, ``desc``, ``unit`` ...

    Yields
    ------
        The bar, to ``update``. It shows nothing where none is wanted.

    Examples
    --------
    >>> with bar(progress=False, total=3) as steps:
    ...     steps.update()
    """
    from tqdm.auto import tqdm

    show = wanted() if progress is None else progress
    delay = DELAY if progress is None else 0
    # A widget that is closed is an error message in Voila: there the bar is hidden instead.
    with tqdm(disable=not show, delay=delay, leave=leave or in_kernel(), **settings) as shown:
        _blocks.count += 1
        try:
            yield shown
            if shown.total and abs(shown.total - shown.n) <= ROUNDING * shown.total:
                # A bar that ends below its total is red in a notebook.
                shown.n = shown.total
        finally:
            _blocks.count -= 1
    if not leave and hasattr(shown, "container"):
        shown.container.layout.display = "none"


def wanted() -> bool:
    """Return whether a bar is shown that was not asked for, by the option or by who can see it."""
    option = get_options().progress
    if option is not None:
        return option
    if threading.current_thread() is not threading.main_thread():
        return False
    return in_kernel() or (sys.stderr is not None and sys.stderr.isatty())


def in_kernel() -> bool:
    """Return whether this is the kernel of a notebook."""
    python = sys.modules.get("IPython")
    return python is not None and getattr(python.get_ipython(), "kernel", None) is not None


def within() -> bool:
    """Return whether this thread is within a `bar`, shown or not, so that a step needs none."""
    return _blocks.count > 0
