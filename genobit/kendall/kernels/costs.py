"""What each kernel of Kendall scores costs, so that the cheapest is taken.

Models are in nanoseconds of one core, with what a Zen 3 took in the bench; `factors` fits them to
the machine at hand. A choice changes the time and never the result.
"""

from __future__ import annotations

import functools
import math
import time
from typing import NamedTuple

import numpy as np

from genobit.engine.gemm.four_russians import COLUMNS
from genobit.engine.simd.cpu import host

ROWS = 4096
"""Most rows that share a table or a plane."""
LEVELS = 8
"""Most levels that tables are made of: their cells are squares of it."""
CLOSE = 4.0
"""Kernels whose estimates differ by less are timed before the choice, where it matters."""
LONG = 2.0
"""Seconds from which it matters: timing two or three kernels takes a tenth of it."""


class Work(NamedTuple):
    """All pairs of some variables, or of them with others."""

    n: int
    """Observations."""
    variables: int
    tied: bool
    missing: bool
    levels: int
    """Most distinct values of a variable."""
    others: int | None = None
    """Variables of the other side; none where each is paired with all of the same."""

    @property
    def rows(self) -> float:
        """Pairs to a plane: half the rows, as of a square only one triangle is wanted."""
        some = min(self.variables, ROWS)
        others = some if self.others is None else min(self.others, ROWS)
        return max(some * others, 1) / max(some + others, 1)

    @property
    def pairs(self) -> float:
        """Pairs of variables."""
        if self.others is not None:
            return max(1.0, self.variables * self.others)
        return max(1.0, self.variables * (self.variables - 1) / 2)


def _naive(work: Work) -> float:
    return 50 + 0.3 * work.n**2 / 2


def _sorted(work: Work) -> float:
    return work.n * math.log2(max(2, work.n))


def _merge(work: Work) -> float:
    return 100 + 2.2 * _sorted(work)


def _packed_merge(work: Work) -> float:
    return 60 + (0.75 if work.tied else 0.6) * _sorted(work)


def _signs(work: Work) -> float:
    free = work.tied or work.missing
    # Bits a nanosecond: by popcount instructions, or by tables of nibbles and of sums.
    rates = (550, 1150) if host().vector_popcount else (300, 430)
    return work.n**2 / 2 * (1 / rates[not free] + 0.6 / work.rows)


def _orders(work: Work) -> float:
    if work.missing:
        return _signs(work)
    units = work.n**2 / (12 if work.tied else 18)
    # Registers of 512 bits do not make the tables faster, as they do a vector popcount (Emerald
    # Rapids: 1.8 to 2.7 times the model of a Zen 3).
    units *= 1.9 if host().vector_popcount else 1
    if work.others is None:
        return 2 + units / COLUMNS * (0.56 + 340 / work.rows)
    columns, rows = (max(1, x) for x in sorted((work.variables, work.others)))
    panels = -(-columns // COLUMNS)
    # A panel costs the same however few of its columns are there; places of rows are found once.
    return 2 + units / columns * (panels * (0.56 + 340 / min(rows, ROWS)) + 1)


def _table(work: Work) -> float:
    planes = work.levels if work.missing else work.levels - 1
    rate = 1150 if host().vector_popcount else 400
    return 5 * work.levels**2 + planes**2 * (work.n / rate + 0.6)


MODELS = {
    "naive": _naive,
    "merge": _merge,
    "packed-merge": _packed_merge,
    "signs": _signs,
    "orders": _orders,
    "table": _table,
}
"""Nanoseconds a pair of variables."""


@functools.cache
def factor(kernel: str) -> float:
    """Time of a kernel on this machine over that of its model, at a shape that takes 5 to 20 ms."""
    from genobit.kendall.kernels.ranks import ranked
    from genobit.kendall.kernels.registry import scores

    levels, n = (3, 1000) if kernel == "table" else (200, 200)
    variables = 24 if kernel in {"naive", "merge"} else 128
    values = np.random.default_rng(0).random((variables, n))
    ranks = ranked(np.floor(values * levels) if kernel == "table" else values)
    work = Work(n, variables, kernel == "table", missing=False, levels=levels)
    scores(ranks[:2], None, kernel)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        scores(ranks, None, kernel)
        times.append(time.perf_counter() - start)
    return min(times) / (1e-9 * work.pairs * MODELS[kernel](work))


def costs(
    n: int,
    variables: int,
    *,
    others: int | None = None,
    tied: bool = True,
    missing: bool = False,
    levels: int | None = None,
    fitted: bool = True,
) -> dict[str, float]:
    """Estimated seconds of all pairs of variables on one core, by kernel.

    Parameters
    ----------
    n
        Observations of a variable.
    variables
        Variables, each with all of them.
    others
        Variables that they are paired with instead.
    tied, missing
        Whether a variable has equal values, or misses some.
    levels
        Most distinct values of a variable; all observations by default.
    fitted
        Time each kernel once on this machine (a process does it once, in a fifth of a second),
        instead of taking the figures of the bench.

    Returns
    -------
        Kernels that can do it, the cheapest first.

    Examples
    --------
    >>> list(costs(20_000, 10, tied=False, fitted=False))[0]
    'packed-merge'
    >>> list(costs(300, 4000, levels=3, fitted=False))[0]
    'table'
    >>> list(costs(2000, 1000, others=1, fitted=False))[0]
    'packed-merge'
    """
    work = Work(n, variables, tied, missing, n if levels is None else levels, others)
    kernels = [name for name in MODELS if name != "table" or work.levels <= LEVELS]
    seconds = {name: 1e-9 * work.pairs * MODELS[name](work) for name in kernels}
    if fitted:
        seconds = {name: value * factor(name) for name, value in seconds.items()}
    return dict(sorted(seconds.items(), key=lambda item: item[1]))


def chosen_kernel(
    n: int,
    variables: int,
    *,
    others: int | None = None,
    tied: bool = True,
    missing: bool = False,
    levels: int | None = None,
) -> str:
    """The cheapest kernel here; where some are close and much is to be done, they are timed.

    Parameters are those of `costs`.

    Examples
    --------
    >>> chosen_kernel(300, 100, levels=3)
    'table'
    """
    seconds = costs(
        n, variables, others=others, tied=tied, missing=missing, levels=levels, fitted=False
    )
    best = min(seconds.values())
    close = [name for name, value in seconds.items() if value < CLOSE * best]
    if best > LONG and len(close) > 1:
        return min(close, key=lambda name: seconds[name] * factor(name))
    return next(iter(seconds))
