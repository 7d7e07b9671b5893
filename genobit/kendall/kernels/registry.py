"""Kernels of Kendall scores: concordant less discordant pairs of observations, of all pairs.

Every kernel takes dense ranks (`ranks.ranked`) and gives the same integers. Cost models choose the
cheapest. They give nanoseconds on one core, as measured on a Zen 3; `factor` fits them to this
machine. The choice changes the time, never the result.
"""

from __future__ import annotations

import functools
import importlib
import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.engine.simd.cpu import host
from genobit.kendall.kernels.ranks import ranked

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ROWS = 4096
"""Most rows that share a table or a plane."""
LEVELS = 8
"""Most levels for the "table" kernel: a table has the square of the levels as cells."""
CLOSE = 4.0
"""Kernels within this factor of the cheapest are timed before a long computation."""
LONG = 2.0
"""Seconds from which timing pays: timing two or three kernels takes a tenth of it."""


class Work(NamedTuple):
    """Size and kind of the work: all pairs of some variables, or all pairs with others."""

    n: int
    """Number of observations."""
    variables: int
    tied: bool
    missing: bool
    levels: int
    """Largest number of distinct values of a variable."""
    others: int | None = None
    """Number of variables of the other side; None for all pairs of the same variables."""

    @property
    def rows(self) -> float:
        """Pairs per plane that is built; half the rows for a triangle of one set of variables."""
        some = min(self.variables, ROWS)
        others = some if self.others is None else min(self.others, ROWS)
        return max(some * others, 1) / max(some + others, 1)

    @property
    def pairs(self) -> float:
        """Number of pairs of variables."""
        if self.others is not None:
            return max(1.0, self.variables * self.others)
        return max(1.0, self.variables * (self.variables - 1) / 2)


def _packed_merge(work: Work) -> float:
    return 60 + (0.75 if work.tied else 0.6) * work.n * math.log2(max(2, work.n))


def _signs(work: Work) -> float:
    free = work.tied or work.missing
    # Bits per nanosecond with and without ties or missing values: by popcount instructions, else
    # by nibble tables and by Four Russians tables.
    rates = (550, 1150) if host().vector_popcount else (300, 430)
    return work.n**2 / 2 * (1 / rates[not free] + 0.2 / work.rows)


def _table(work: Work) -> float:
    planes = work.levels if work.missing else work.levels - 1
    rate = 1150 if host().vector_popcount else 400
    return 5 * work.levels**2 + planes**2 * (work.n / rate + 0.6)


class Kernel(NamedTuple):
    """A way to score pairs of variables."""

    module: str
    """Module with the function ``score_pairs(a, b, upper, out)``, imported on first use."""
    nanoseconds: Callable[[Work], float]
    """Cost model: nanoseconds per pair of variables."""


KERNELS = {
    "packed-merge": Kernel("genobit.kendall.kernels.knight", _packed_merge),
    "signs": Kernel("genobit.kendall.kernels.signs", _signs),
    "table": Kernel("genobit.kendall.kernels.tables", _table),
}


def scores(
    a: NDArray[Any], b: NDArray[Any] | None = None, kernel: str = "signs"
) -> NDArray[np.int64]:
    """Return the scores of the rows of ``a`` with those of ``b``, or with ``a`` itself.

    a: (rows, n), b: (columns, n) dense ranks of one dtype; returns (rows, columns) int64.

    A score is the number of concordant less discordant pairs of observations. Pairs tied in either
    variable add 0, and observations missing in either are left out.

    Examples
    --------
    >>> import numpy as np
    >>> ranks = np.array([[0, 1, 2], [0, 2, 1]], np.uint16)
    >>> scores(ranks).tolist()
    [[3, 1], [1, 3]]
    """
    upper = b is None
    columns = a if b is None else b
    out = np.empty((a.shape[0], columns.shape[0]), np.int64)
    module = importlib.import_module(KERNELS[kernel].module)
    module.score_pairs(np.ascontiguousarray(a), np.ascontiguousarray(columns), upper, out)
    if upper:
        mirror(out, 0, 0, out)
    return out


@functools.cache
def factor(kernel: str) -> float:
    """Return the time of a kernel here divided by its model, at a shape that takes 5 to 20 ms."""
    levels, n = (3, 1000) if kernel == "table" else (200, 200)
    values = np.random.default_rng(0).random((128, n))
    ranks = ranked(np.floor(values * levels) if kernel == "table" else values)
    work = Work(n, 128, kernel == "table", missing=False, levels=levels)
    scores(ranks[:2], None, kernel)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        scores(ranks, None, kernel)
        times.append(time.perf_counter() - start)
    return min(times) / (1e-9 * work.pairs * KERNELS[kernel].nanoseconds(work))


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
    """Estimate the seconds of all pairs of variables on one core by kernel, cheapest first.

    ``n`` is the number of observations. ``others`` is the number of variables on the other side, if
    it differs. ``tied`` and ``missing`` say whether any variable has equal or missing values.
    ``levels`` is the largest number of distinct values, by default ``n``. With ``fitted``, each
    kernel is timed once per process, which takes a fifth of a second. Kernels that cannot run are
    left out.

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
    kernels = [name for name in KERNELS if name != "table" or work.levels <= LEVELS]
    seconds = {name: 1e-9 * work.pairs * KERNELS[name].nanoseconds(work) for name in kernels}
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
    """Return the cheapest kernel; for long computations, time the close ones first.

    The parameters are the same as in `costs`.

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
