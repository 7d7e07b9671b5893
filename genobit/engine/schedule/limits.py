"""Searches that would take too long are refused before they start."""

from __future__ import annotations

from genobit.engine.options import get_options

QUICK = 30
"""Searches that a model of costs thinks this many times shorter than the limit are not timed."""
_UNITS = (("years", 31_557_600), ("days", 86_400), ("h", 3600), ("min", 60))
MANY_YEARS = 1e6


def duration(seconds: float) -> str:
    """Write a duration in the largest unit of which there is one.

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
    """Return whether a rough estimate is so far below the limit that nothing needs timing."""
    longest = get_options().longest_search
    return longest is None or seconds * QUICK <= longest


def check_time(what: str, seconds: float, threads: int, remedies: str) -> None:
    """Refuse a search that takes longer than ``get_options().longest_search``.

    Parameters
    ----------
    what
        The search, with its size: "4 combinations of order 2".
    seconds
        Estimated time on so many threads.
    threads
        Threads of this machine or of the cluster.
    remedies
        Ways to reduce it, as they follow "Ways to reduce it: ".

    Raises
    ------
    ValueError
        With the estimate and the remedies.
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
