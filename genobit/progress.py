"""Bars for work that takes a while: the notebook's widget in a notebook, text in a terminal.

May import: options, tqdm.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from genobit.options import get_options

if TYPE_CHECKING:
    from collections.abc import Iterator

DELAY = 1.0
"""Seconds that work must take before a bar shows that nobody asked for in so many words."""

_shown: list[object] = []


@contextlib.contextmanager
def bar(*, progress: bool | None, **settings: Any) -> Iterator[Any]:
    """Show a bar while the block runs.

    Parameters
    ----------
    progress
        Whether to. None leaves it to ``get_options().progress``, and to work of over a second.
    **settings
        Of tqdm: ``total``, ``desc``, ``unit`` ...

    Yields
    ------
        The bar, to ``update``; one that shows nothing where none is wanted.

    Examples
    --------
    >>> with bar(progress=False, total=3) as steps:
    ...     steps.update()
    """
    from tqdm.auto import tqdm

    show = get_options().progress if progress is None else progress
    delay = DELAY if progress is None else 0
    with tqdm(disable=not show, delay=delay, **settings) as shown:
        if show:
            _shown.append(shown)
        try:
            yield shown
        finally:
            if show:
                _shown.remove(shown)


def showing() -> bool:
    """Whether a bar is there already, so that what it waits for needs none of its own."""
    return bool(_shown)
