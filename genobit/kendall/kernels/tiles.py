"""Compute a tile of pairs of variables: count scores once, then derive all wanted outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.kendall.kernels import pvalues, registry
from genobit.kendall.kernels.ranks import Ties, missing_any, ties, ties_within
from genobit.kendall.kernels.tables import genotype_blocks
from genobit.kendall.kernels.tau import Block, ScoreCounts, coefficients

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from genobit.engine.bits.planes import PlaneRows

MOST_TIED = 0.25
"""Largest share of variables with ties for which kernels are chosen as without ties."""
EDGE = 256
"""Rows and columns of a block of tie counts if observations are missing: 3 MiB."""
STRIP = 512
"""Rows whose scores of permuted observations are counted together, from the diagonal on."""
REVERSED = {"somers_d_rows": "somers_d_columns", "somers_d_columns": "somers_d_rows"}
"""Somers' D for the pair in the other order."""


class TileSpec(NamedTuple):
    """Outputs of a tile and options of their computation."""

    outputs: tuple[str, ...]
    """Keys of `tau.STATISTICS`, "pvalue" and "n", in the order of the arrays of a tile."""
    rule: str = "auto"
    """Rule for p-values: "auto", "exact", "asymptotic" or "permutation"."""
    kernel: str = "auto"
    """Kernel for scores: a key of `registry.KERNELS`, or "auto"."""
    dtype: str = "float64"
    """dtype of tau and of p-values; n is int32."""
    permutations: int = 0
    seed: int = 0
    alternative: str = "two-sided"
    """Alternative hypothesis of p-values: a key of `pvalues.SIDES`."""
    min_n: int = 2
    """Least number of observations of a pair; tau and p-value of others are NaN."""

    def dtypes(self) -> tuple[str, ...]:
        """Return the dtype of each output."""
        return tuple("int32" if name == "n" else self.dtype for name in self.outputs)


def _complete(n: int, score: NDArray[np.int64], found: Sequence[Ties]) -> ScoreCounts:
    """Return the counts of all pairs of a tile without missing values."""
    return ScoreCounts(score, n, found[0].part((slice(None), None)), found[-1])


def _incomplete(
    a: NDArray[Any], b: NDArray[Any], score: NDArray[np.int64], *, upper: bool
) -> Iterator[Block]:
    """Yield the counts of a tile with missing values; ``upper`` skips blocks below the diagonal."""
    for top in range(0, len(a), EDGE):
        for left in range(top if upper else 0, len(b), EDGE):
            rows, columns = (slice(start, start + EDGE) for start in (top, left))
            part = np.ascontiguousarray(score[rows, columns])
            yield Block(rows, columns, ScoreCounts(part, *ties_within(a[rows], b[columns])))


def _fill(block: Block, wanted: TileSpec, longest: int, out: dict[str, Any]) -> None:
    """Write the outputs of a block to the arrays of its tile, except permutation p-values.

    ``longest`` is the largest number of observations of a pair. ``out`` maps outputs to arrays.
    """
    n = block.counted.n
    for name, values in out.items():
        if name == "pvalue" and wanted.rule == "permutation":
            continue
        place = values[block.rows, block.columns]
        part = place if place.flags.c_contiguous else np.empty(place.shape, place.dtype)
        if name == "n":
            part[:] = n
        elif name != "pvalue":
            coefficients(block.counted, name, part)
        else:
            numbers: tuple[int, ...] = ()
            if wanted.rule == "exact":
                numbers = tuple(np.unique(n).tolist())
            common = n if isinstance(n, int) else 0
            untied = pvalues.untied(wanted.rule, longest, numbers, common)
            pvalues.pvalues(block.counted, untied, wanted.alternative, part)
        if name != "n" and wanted.min_n > 2:
            part[np.broadcast_to(n < np.int64(wanted.min_n), part.shape)] = np.nan
        if part is not place:
            place[:] = part


def _empty(shape: tuple[int, int], wanted: TileSpec) -> dict[str, NDArray[Any]]:
    """Allocate the output arrays of a tile of this shape."""
    return {
        name: np.empty(shape, dtype)
        for name, dtype in zip(wanted.outputs, wanted.dtypes(), strict=True)
    }


def tile(
    rows: Sequence[NDArray[Any]], others: Sequence[NDArray[Any]] | None, wanted: TileSpec
) -> tuple[NDArray[Any], ...]:
    """Compute the wanted outputs for all pairs of a chunk of variables, or of two chunks.

    rows: ((rows, n),), others: ((columns, n),) dense ranks; returns one (rows, columns) array per
    output.
    """
    a, b = rows[0], None if others is None else others[0]
    columns = a if b is None else b
    if columns.dtype != a.dtype:
        msg = f"ranks of {a.dtype} and of {columns.dtype} are not of the same observations"
        raise ValueError(msg)
    complete = not missing_any(a) and (b is None or not missing_any(b))
    found: list[Ties] = []
    if complete or wanted.kernel == "auto":
        found = [ties(a)] if b is None else [ties(a), ties(b)]
    kernel = wanted.kernel
    if kernel == "auto":
        kernel = _cheapest(a, b, found, complete=complete)
    score = registry.scores(a, b, kernel)
    out = _empty(score.shape, wanted)
    if complete:
        counted = _complete(a.shape[1], score, found)
        _fill(Block(slice(None), slice(None), counted), wanted, a.shape[1], out)
        if wanted.rule == "permutation" and "pvalue" in out:
            _permuted(a, b, counted, wanted, kernel, out["pvalue"])
    else:
        partners, upper = _partners(out, symmetric=b is None)
        for block in _incomplete(a, columns, score, upper=upper):
            _fill(block, wanted, a.shape[1], out)
        if upper:
            _mirror_all(out, partners)
    return tuple(out[name] for name in wanted.outputs)


def genotype_tile(a: PlaneRows, b: PlaneRows | None, wanted: TileSpec) -> tuple[NDArray[Any], ...]:
    """Compute the wanted outputs for pairs of variants from their 3 x 3 genotype tables.

    a, b: planes of dosages; returns one (rows, columns) array per output.
    """
    columns = a if b is None else b
    out = _empty((len(a.planes[0]), len(columns.planes[0])), wanted)
    partners, upper = _partners(out, symmetric=b is None)
    for block in genotype_blocks(a, b, upper=upper):
        _fill(block, wanted, a.bits, out)
    if upper:
        _mirror_all(out, partners)
    return tuple(out[name] for name in wanted.outputs)


def _partners(out: dict[str, NDArray[Any]], *, symmetric: bool) -> tuple[list[str], bool]:
    """Return the output of each transpose, and whether one triangle gives both."""
    # Transposing a tile also swaps the dependent variable of Somers' D.
    partners = [REVERSED.get(name, name) for name in out]
    return partners, symmetric and all(partner in out for partner in partners)


def _mirror_all(out: dict[str, NDArray[Any]], partners: Sequence[str]) -> None:
    """Fill the lower triangle of each output from the upper triangle of its partner."""
    for (name, values), partner in zip(out.items(), partners, strict=True):
        if name == partner:
            # Moving the bits as integers needs no compilation for floats.
            bits = values.view(f"i{values.itemsize}")
            mirror(bits, 0, 0, bits)
        else:
            below = np.tri(len(values), k=-1, dtype=bool)
            np.copyto(values, out[partner].T, where=below)


def _cheapest(
    a: NDArray[Any], b: NDArray[Any] | None, found: Sequence[Ties], *, complete: bool
) -> str:
    """Return the cheapest kernel for the ranks of a tile and the ties of each side."""
    return registry.chosen_kernel(
        n=a.shape[1],
        variables=len(a),
        others=None if b is None else len(b),
        tied=any((side.pairs > 0).mean() > MOST_TIED for side in found if side.pairs.size),
        missing=not complete,
        levels=max(int(side.levels.max(initial=0)) for side in found),
    )


def _permuted(
    a: NDArray[Any],
    b: NDArray[Any] | None,
    counted: ScoreCounts,
    wanted: TileSpec,
    kernel: str,
    out: NDArray[Any],
) -> None:
    """Write permutation p-values to ``out``; all pairs use the same permutations.

    The later variable of a pair is permuted, so without ``b`` only one triangle is counted.
    """
    upper, columns = b is None, a if b is None else b
    further = np.zeros(counted.score.shape, np.int32)
    generator = np.random.default_rng(wanted.seed)
    step = STRIP if upper else max(1, len(a))
    side = pvalues.SIDES[wanted.alternative]
    for _ in range(wanted.permutations):
        permuted = columns[:, generator.permutation(a.shape[1])]
        for start in range(0, len(a), step):
            rows, left = slice(start, start + step), start if upper else 0
            again = registry.scores(a[rows], permuted[left:], kernel)
            pvalues.count_further(again, counted.score[rows], left, side, further[rows])
    pvalues.shares(counted, further, wanted.permutations, out)
    if a.shape[1] < wanted.min_n:
        out[:] = np.nan
    if upper:
        mirror(out, 0, 0, out)
