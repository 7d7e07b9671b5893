"""Kendall's rank correlation tau-a, tau-b and tau-c, and Somers' D, of all pairs of variables.

Variables x and y are observed n times. S is the number of concordant pairs of observations minus
the number of discordant pairs, and N = n (n - 1) / 2. X and Y are the numbers of pairs tied in x
and in y. m is the number of distinct values of x or of y, whichever is smaller. Then

    tau-a = S / N                                            (Kendall 1938)
    tau-b = S / sqrt((N - X) (N - Y))                        (Kendall 1945)
    tau-c = 2 S m / (n^2 (m - 1))                            (Stuart 1953)
    D of y given x = S / (N - X),  D of x given y = S / (N - Y)   (Somers 1962)

All statistics use only the observations present in both variables. The result is NaN for a constant
variable and for fewer than two observations. S, N, X and Y are integers, so results are
bit-identical for every kernel and chunking. P-values test the hypothesis that x and y are
independent, against an association of either sign or of one sign. They are computed from S, so all
five statistics have the same p-value (`genobit.kendall.kernels.tau`,
`genobit.kendall.kernels.pvalues`).
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data.checks import check_integer, check_one_of
from genobit.engine.schedule import tiles
from genobit.engine.schedule.tiles import as_rows
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import dask.array as da
    from numpy.typing import DTypeLike, NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.kendall.kernels.tiles import TileSpec

LONG_NAMES = {
    "tau_a": "Kendall's tau-a",
    "tau_b": "Kendall's tau-b",
    "tau_c": "Kendall's tau-c",
    "somers_d_rows": "Somers' D, rows dependent",
    "somers_d_columns": "Somers' D, columns dependent",
}
MISSING = {
    "pairwise": "pairwise complete: over the observations present in both variables",
    "dropna": "observations that any variable misses are left out",
    "refuse": "refused",
}
TESTS = ("exact", "asymptotic", "permutation")
DTYPES = ("float64", "float32")


Tile = tuple["NDArray[Any]", ...]
"""One matrix (rows, columns) for each wanted output."""


class Variables(NamedTuple):
    """Chunked variables, ready for pairwise computation."""

    arrays: list[da.Array]
    """One array of ranks (variables, observations), or genotype bit planes (variables, words)."""
    layout: Layout | None = None
    """Layout of the bit planes; None for ranks."""

    def tile(self, wanted: TileSpec) -> Callable[..., Tile]:
        """Return the function of two chunks' blocks (None: the same chunk) to a `Tile`."""
        from genobit.kendall.kernels.tiles import tile

        if self.layout is None:
            return partial(tile, wanted=wanted)
        return partial(_genotype_tile, wanted=wanted, layout=self.layout)


def checked(
    statistic: str,
    *,
    pvalue: bool | str,
    missing: str,
    kernel: str,
    dtype: DTypeLike = "float64",
    permutations: int = 0,
    seed: int = 0,
    alternative: str = "two-sided",
    min_pairs: int = 2,
    tests: str = "pvalue=True",
) -> TileSpec:
    """Validate the user's arguments and return them as `TileSpec`.

    ``tests`` is the argument that asks for p-values.

    Raises ValueError for an unknown choice or for choices that exclude each other.
    """
    from genobit.kendall.kernels.pvalues import SIDES
    from genobit.kendall.kernels.registry import KERNELS
    from genobit.kendall.kernels.tiles import TileSpec

    check_one_of("statistic", statistic, tuple(LONG_NAMES))
    check_one_of("missing", missing, tuple(MISSING))
    check_one_of("kernel", kernel, ("auto", *KERNELS))
    dtype = _dtype(dtype)
    check_integer("permutations", permutations, 0)
    check_integer("seed", seed, 0)
    check_integer("min_pairs", min_pairs, 2)
    check_one_of("alternative", alternative, tuple(SIDES))
    if alternative != "two-sided" and not pvalue:
        msg = f"alternative={alternative!r} is of p-values: give {tests} to compute them"
        raise ValueError(msg)
    permutations, seed = int(permutations), int(seed)
    # Numbers of observations are int32.
    least = min(int(min_pairs), 2**31 - 1)
    rule = _rule(pvalue=pvalue, permutations=permutations)
    outputs = (statistic, "pvalue", "n") if pvalue else (statistic,)
    return TileSpec(outputs, rule, kernel, dtype, permutations, seed, alternative, least)


def _dtype(dtype: Any) -> str:
    """Return the name of a dtype given as a name, a numpy dtype or a Python type."""
    name = dtype
    if dtype is not None:
        with contextlib.suppress(TypeError):
            name = np.dtype(dtype).name
    if name not in DTYPES:
        check_one_of("dtype", dtype, DTYPES)
    return str(name)


def _rule(*, pvalue: bool | str, permutations: int) -> str:
    if not isinstance(pvalue, bool) and pvalue not in TESTS:
        known = ", ".join(map(repr, TESTS))
        msg = f"pvalue={pvalue!r} is not one of False, True, {known}{did_you_mean(pvalue, TESTS)}"
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


def _genotype_tile(
    a: Sequence[Any], b: Sequence[Any] | None, *, wanted: TileSpec, layout: Layout
) -> Tile:
    """Compute the wanted outputs of two chunks of bit planes, or of one chunk with itself."""
    from genobit.kendall.kernels.tiles import genotype_tile

    return genotype_tile(as_rows(a, layout), None if b is None else as_rows(b, layout), wanted)


def matrices(operands: Sequence[Variables], wanted: TileSpec) -> dict[str, da.Array]:
    """Return lazy matrices of all pairs of the rows and, if they differ, the columns, by output.

    Each matrix is (rows, columns), with one tile per pair of chunks. The tiles of all outputs share
    one computation, so compute them together.
    """
    from genobit.kendall.kernels.tiles import REVERSED

    rows, symmetric = operands[0], len(operands) == 1
    outputs = list(wanted.outputs)
    if symmetric:
        # Transposing a tile also swaps the dependent variable of Somers' D.
        outputs += [REVERSED[x] for x in outputs if x in REVERSED and REVERSED[x] not in outputs]
    wanted = wanted._replace(outputs=tuple(outputs))
    found = tiles.squares(
        rows.tile(wanted),
        rows.arrays,
        None if symmetric else operands[1].arrays,
        wanted.dtypes(),
        [outputs.index(REVERSED.get(name, name)) for name in outputs] if symmetric else None,
    )
    return dict(zip(outputs, found, strict=True))
