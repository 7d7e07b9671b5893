"""Kendall's rank correlation tau-a, tau-b and tau-c, and Somers' D, of all pairs of variables.

Of two variables x and y observed n times, S is the number of pairs of observations in the same
order in both less those in opposite order, N = n (n - 1) / 2, and X and Y are the pairs tied in x
and in y. With m the smaller number of distinct values,

    tau-a = S / N                                            (Kendall 1938)
    tau-b = S / sqrt((N - X) (N - Y))                        (Kendall 1945)
    tau-c = 2 S m / (n^2 (m - 1))                            (Stuart 1953)
    D of y given x = S / (N - X),  D of x given y = S / (N - Y)   (Somers 1962)

All are over the observations present in both variables. A constant variable, and one observation
or none, give NaN. S, N, X and Y are whole numbers whatever counted them, so that a result is the
same bits for every kernel and chunking. P-values are two-sided, of the hypothesis that x and y are
independent: they test S, and are the same for all five (`genobit.kendall.kernels.tau`,
`genobit.kendall.kernels.pvalues`).
"""

from __future__ import annotations

import contextlib
import numbers
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.schedule import tiles
from genobit.engine.schedule.rows import as_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dask.array as da
    from numpy.typing import DTypeLike, NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.kendall.kernels.tiles import Wanted

LONG_NAMES = {
    "a": "Kendall's tau-a",
    "b": "Kendall's tau-b",
    "c": "Kendall's tau-c",
    "d_rows": "Somers' D, rows dependent",
    "d_columns": "Somers' D, columns dependent",
}
MISSING = {
    "pairwise": "pairwise complete: over the observations present in both variables",
    "dropna": "observations that any variable misses are left out",
    "refuse": "refused",
}
TESTS = ("exact", "asymptotic", "permutation")
KERNELS = ("auto", "naive", "merge", "packed-merge", "signs", "orders", "table")
DTYPES = ("float64", "float32")


class Variables(NamedTuple):
    """Variables in chunks, ready to be paired."""

    arrays: list[da.Array]
    """Ranks (variables, observations), one array; or bit planes of genotypes (variables, words)."""
    layout: Layout | None = None
    """Of the planes; none for ranks."""


def checked(
    variant: str,
    *,
    pvalue: bool | str,
    missing: str,
    kernel: str,
    dtype: DTypeLike,
    permutations: int,
    seed: int,
) -> Wanted:
    """What a user asks for as what tiles are to hold.

    Raises
    ------
    ValueError
        For choices that do not exist or go together.
    """
    from genobit.kendall.kernels.tiles import Wanted

    _one_of("variant", variant, tuple(LONG_NAMES))
    _one_of("missing", missing, tuple(MISSING))
    _one_of("kernel", kernel, KERNELS)
    dtype = _dtype(dtype)
    permutations, seed = _whole("permutations", permutations), _whole("seed", seed)
    rule = _rule(pvalue=pvalue, permutations=permutations)
    outputs = (variant, "pvalue", "n") if pvalue else (variant,)
    return Wanted(outputs, rule, kernel, dtype, permutations, seed)


def _dtype(dtype: Any) -> str:
    """The name of a dtype that is given by name, or as numpy's or Python's type."""
    name = dtype
    if dtype is not None:
        with contextlib.suppress(TypeError):
            name = np.dtype(dtype).name
    if name not in DTYPES:
        _one_of("dtype", dtype, DTYPES)
    return str(name)


def _rule(*, pvalue: bool | str, permutations: int) -> str:
    if not isinstance(pvalue, bool) and pvalue not in TESTS:
        msg = f"pvalue={pvalue!r} is not one of False, True, {', '.join(map(repr, TESTS))}"
        raise ValueError(msg)
    if permutations and pvalue not in {True, "permutation"}:
        msg = (
            f"permutations={permutations} go with pvalue='permutation', not with pvalue={pvalue!r}"
        )
        raise ValueError(msg)
    if pvalue == "permutation" and not permutations:
        msg = "pvalue='permutation' needs permutations=, such as 999: the least p-value is 0.001"
        raise ValueError(msg)
    if permutations:
        return "permutation"
    return "auto" if isinstance(pvalue, bool) else pvalue


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        msg = f"{name}={value!r} is not a whole number from 0 on"
        raise ValueError(msg)
    return int(value)


def _one_of(name: str, value: Any, choices: Sequence[str]) -> None:
    if value not in choices:
        msg = f"{name}={value!r} is not one of {', '.join(map(repr, choices))}"
        raise ValueError(msg)


def tile(
    a: Sequence[Any], b: Sequence[Any] | None, *, wanted: Wanted, layout: Layout | None
) -> tuple[NDArray[Any], ...]:
    """What is wanted of the pairs of a chunk with another, or with itself.

    Parameters
    ----------
    a, b
        Blocks of `Variables.arrays`.
    wanted, layout
        As `genobit.kendall.kernels.tiles.tile` has it, and `Variables`.
    """
    from genobit.kendall.kernels import tiles as tau_tiles

    if layout is None:
        return tau_tiles.tile(a[0], None if b is None else b[0], wanted)
    return tau_tiles.genotype_tile(
        as_rows(a, layout), None if b is None else as_rows(b, layout), wanted
    )


def matrices(variables: Variables, other: Variables | None, wanted: Wanted) -> dict[str, da.Array]:
    """All pairs of variables, or of the variables with those of ``other``.

    Parameters
    ----------
    variables, other
        Rows and columns, of the same observations.
    wanted
        Which matrices, and how they are computed.

    Returns
    -------
        Of each of ``wanted.outputs`` a matrix (variables, variables of ``other``), lazy, a tile
        for each pair of chunks. Computed together they cost one.
    """
    from genobit.kendall.kernels.tiles import REVERSED

    symmetric = other is None
    outputs = list(wanted.outputs)
    if symmetric:
        # Below the diagonal rows and columns change places, and with them the dependent variable.
        outputs += [REVERSED[x] for x in outputs if x in REVERSED and REVERSED[x] not in outputs]
    wanted = wanted._replace(outputs=tuple(outputs))
    found = tiles.squares(
        partial(tile, wanted=wanted, layout=variables.layout),
        variables.arrays,
        None if other is None else other.arrays,
        wanted.dtypes(),
        [outputs.index(REVERSED.get(name, name)) for name in outputs] if symmetric else None,
    )
    return dict(zip(outputs, found, strict=True))
