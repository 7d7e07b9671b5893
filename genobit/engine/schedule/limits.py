"""Refuse searches that would take too long, before they start."""

from __future__ import annotations

from genobit.engine.options import get_options

QUICK = 30
"""A search is not timed if its estimate is this many times shorter than the limit."""
_UNITS = (("years", 31_557_600), ("days", 86_400), ("h", 3600), ("min", 60))
MANY_YEARS = 1e6


def duration(seconds: float) -> str:
    """Format a duration in the largest unit that gives at least one.

    Examples
    --------
    >>> duration(0.02), duration(90), duration(7200), duration(4e5), duration(1e15)
    ('0.02 s', '1.5 min', '2.0 h', '4.6 days', '3e+07 years')
    """
    for unit, size in _UNITS:
        if seconds >= size:
            number = seconds / size
            return f"{number:.0e} {unit}" if number >= MANY_YEARS else f"{number:,.1f} {unit}"
    return f"{seconds:.2g} s"


def surely_short(seconds: float) -> bool:
    """Return whether a rough estimate is so far below the limit that timing is unnecessary."""
    longest = get_options().longest_search
    return longest is None or seconds * QUICK <= longest


def check_time(what: str, seconds: float, threads: int, remedies: str) -> None:
    """Raise ValueError if a search would take longer than ``get_options().longest_search``.

    The message gives the estimate and the remedies. Argument ``what`` names the search and its size
    ("4 combinations of order 2"). The estimate is ``seconds`` on ``threads`` threads of this
    machine or of the cluster. The text ``remedies`` completes the sentence "Ways to reduce it: ".
    """
    longest = get_options().longest_search
    if longest is None or seconds <= longest:
        return
    msg = (
        f"{what} would take about {duration(seconds)} on {threads:,} "
        f"thread{'' if threads == 1 else 's'}, longer than longest_search ({duration(longest)}). "
        f"Ways to reduce it: {remedies}. To run it anyway, raise "
        "gb.set_options(longest_search=...), for example to '2d', or give None for no limit"
    )
    raise ValueError(msg)
