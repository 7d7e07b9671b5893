"""User settings: kernel, chunks, memory limit, progress bars and plots; and size formatting.

May import: the standard library, `spelling`.
"""

from __future__ import annotations

import contextlib
import numbers
import os
import re
import threading
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from genobit.engine.spelling import did_you_mean
from genobit.engine.synonyms import own_name

KERNELS = ("auto", "matrix", "sums", "table", "popcount", "scalar")
THEMES = ("light", "dark")
LARGEST_SCALE = 8.0
CHUNK_ROWS = 2048
"""Within 10% of the fastest tile edge on one machine (`genobit.engine.schedule.costs`)."""


@dataclass(frozen=True)
class Options:
    """The current settings."""

    kernel: str = "auto"
    """Kernel for products of bit planes: "matrix", "sums", "table", "popcount", "scalar", or
    "auto" for the fastest on this CPU."""
    chunk_rows: int | str = CHUNK_ROWS
    """Rows (variants or samples) per packed chunk, and rows and columns per tile.

    "auto" uses the number with the lowest estimated cost for a matrix of all pairs. The methods of
    ``estimate`` report this number.
    """
    eager_limit: int = 2**31
    """Largest number of bytes that an eager call may allocate; a larger result raises an error.

    It also limits readers that hold a file in memory.
    """
    spill_to: str | os.PathLike[str] | None = None
    """Folder for temporary files. Every worker must be able to read it.

    `epistasis` writes its genotypes there if they exceed ``eager_limit``; with None it raises an
    error. A tree search with ``bootstrap=`` keeps one number for each site: the index of its column
    among the distinct columns of the alignment. It writes these numbers there if they could exceed
    ``eager_limit`` bytes; with None it keeps them in memory.
    """
    longest_search: float | None = 3600.0
    """Longest estimated time of a search in seconds; a longer search is refused.

    The default is one hour. Text may have a unit: "90s", "30min", "2h", "1d". None means no limit.
    """
    progress: bool | None = None
    """Whether calls longer than a second show a progress bar, if ``progress=`` is not given.

    None shows it in notebooks and terminals, but not if standard error is a file. The note about
    compilation follows this option, too. False also switches off the lines of `filter`.
    """
    plot_theme: str = "light"
    """Theme of the page around the plots of `genobit.plots`: "light" or "dark"."""
    plot_scale: float = 1.0
    """Scale factor for the size of the plots of `genobit.plots`."""

    @property
    def chunk_rows_is_default(self) -> bool:
        """Whether ``chunk_rows`` has its default, so that an analysis may choose wider chunks."""
        return self.chunk_rows == CHUNK_ROWS

    @property
    def edge(self) -> int:
        """Rows per chunk: ``chunk_rows``, or the default number if ``chunk_rows`` is "auto"."""
        return CHUNK_ROWS if isinstance(self.chunk_rows, str) else self.chunk_rows


_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    # A child forked while another thread sets an option inherits the lock.
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )
_current = Options()


def get_options() -> Options:
    """Return the current settings.

    Examples
    --------
    >>> import genobit as gb
    >>> gb.get_options().kernel
    'auto'
    """
    return _current


_CHOICES = {"kernel": KERNELS, "plot_theme": THEMES}


def _checked(name: str, value: Any) -> Any:
    """Return a valid setting in stored form (integers as int, folder without ``~``); else raise."""
    kept = value
    if name in _CHOICES:
        choices = _CHOICES[name]
        fits = value in choices
        wanted = f"is not one of {', '.join(choices)}{did_you_mean(value, choices)}"
    elif name == "progress":
        fits = value is None or isinstance(value, bool)
        wanted = "is not True, False or None"
    elif name == "spill_to":
        # Path("") is the current folder, which is surely not meant.
        named = isinstance(value, str | os.PathLike) and value != ""
        kept = Path(value).expanduser() if named else value
        fits = value is None or (named and kept.is_dir())
        wanted = "is not a folder: make it, or give None"
    elif name == "longest_search":
        kept = None if value is None else _seconds(value)
        fits = value is None or kept is not None
        wanted = (
            "is not a duration: give seconds, text such as '30min', '2h' or '1d', or None for no "
            "limit"
        )
    elif name == "plot_scale":
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        fits = number and 0 < value <= LARGEST_SCALE
        wanted = f"must be a number above 0, of {LARGEST_SCALE:g} at most"
    else:
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        kept = int(value) if whole else value
        fits, wanted = whole and value > 0, "must be a positive whole number"
        if name == "chunk_rows":
            fits, wanted = fits or value == "auto", f'{wanted} or "auto"'
        elif name == "eager_limit":
            wanted += " of bytes, such as 8 * 2**30"
    if not fits:
        msg = f"option {name}={value!r} {wanted}"
        raise ValueError(msg)
    return kept


_TIME_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86_400}


def _seconds(value: Any) -> float | None:
    """Return seconds from a number or text with a unit; None if invalid or not above 0."""
    number: Any = value
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(s|min|h|d)\s*", value)
        if found is None:
            return None
        number = float(found[1]) * _TIME_UNITS[found[2]]
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        return None
    return float(number) if float(number) > 0 else None


class _Restore(contextlib.AbstractContextManager["None"]):
    """Context manager that restores the earlier settings at the end of a ``with`` block."""

    def __init__(self, earlier: dict[str, Any]) -> None:
        self._earlier = earlier

    def __exit__(self, *_: object) -> None:
        _change(self._earlier)


def _change(settings: dict[str, Any]) -> dict[str, Any]:
    """Change only these settings and return their old values; other threads may change others."""
    global _current  # noqa: PLW0603 - the one place where settings change
    with _lock:
        earlier = {name: getattr(_current, name) for name in settings}
        _current = replace(_current, **settings)
    return earlier


def set_options(**settings: Any) -> contextlib.AbstractContextManager[None]:
    """Change settings for the process, or for the block of a ``with`` statement.

    Settings apply to all threads of the process.

    Parameters
    ----------
    **settings
        Fields of `genobit.engine.options.Options`: ``kernel``, ``chunk_rows``, ``eager_limit``,
        ``spill_to``, ``longest_search``, ``progress``, ``plot_theme``, ``plot_scale``.

    Raises
    ------
    TypeError
        For a setting that does not exist.
    ValueError
        For a value out of range.

    Examples
    --------
    >>> import genobit as gb
    >>> with gb.set_options(kernel="scalar"):
    ...     gb.get_options().kernel
    'scalar'
    """
    known = {field.name for field in fields(Options)}
    for name in settings:
        if name not in known:
            meant = own_name(name, known)
            msg = f"there is no option {name!r}; options are {', '.join(sorted(known))}{meant}"
            raise TypeError(msg)
    return _Restore(_change({name: _checked(name, value) for name, value in settings.items()}))


def more_than(size: int, limit: int) -> str:
    """Return text with a size and the limit it exceeds, in units that show the difference.

    Examples
    --------
    >>> more_than(3 * 2**30, 2**31)
    '3.0 GiB, more than eager_limit (2.0 GiB)'
    >>> more_than(1001, 1000)
    '1,001 bytes, more than eager_limit (1,000 bytes)'
    """
    texts = [in_units(number) for number in (size, limit)]
    if texts[0] == texts[1]:
        texts = [f"{number:,} bytes" for number in (size, limit)]
    return f"{texts[0]}, more than eager_limit ({texts[1]})"


def require_fits(what: str, size: int, cost: int = 1) -> None:
    """Raise ValueError if reading a part of a file would take more memory than ``eager_limit``.

    ``what`` names the part and its file at the start of the message. ``size`` is the number of
    bytes of the part, or the number known so far. ``cost`` is the memory in bytes that reading
    takes for each byte of the part.

    Examples
    --------
    >>> require_fits("a.fasta", 2**20)
    """
    limit = get_options().eager_limit
    if size * cost > limit:
        msg = (
            f"{what} would take {more_than(size * cost, limit)} of memory: if you trust the file, "
            "raise gb.set_options(eager_limit=...)"
        )
        raise ValueError(msg)


def in_units(size: int) -> str:
    """Return a number of bytes as text in the largest unit that gives at least 1.

    Examples
    --------
    >>> in_units(640), in_units(5_000_000)
    ('640 bytes', '4.8 MiB')
    """
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 2**power:
            return f"{size / 2**power:,.1f} {unit}"
    return f"{size:,} bytes"
