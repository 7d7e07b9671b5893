"""Normal equations of regressions on two variants, their product and covariates, for many pairs.

Columns of a regression are the covariates q_0 = 1, q_1, ..., the dosages x_i and x_j, and their
product z = x_i x_j. Sums run over the samples with calls at both variants. With m = 1 for a call
and x = 0 without one, each entry of X'WX and of X'Wr is a sum over samples of

    (m_i, x_i or x_i^2) v (m_j, x_j or x_j^2)

for a vector v that does not depend on the pair, such as w q_a q_b. So each entry of all pairs of a
tile is one matrix product. If all variants of a side have all calls, m is one line and not one for
each variant: c covariates then take c + 5 full products, and the others are small.

Dosages are centred for accuracy. x_i x_j = (x_i - a)(x_j - b) + b x_i + a x_j - a b, so the columns
1, x_i, x_j and z span the same space for any a and b, and the coefficient of z is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.bits.layout import unpack_bits
from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels.tables import exact_planes
from genobit.epistasis.kernels.trait import Side, side

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.epistasis.kernels.tables import Classes

CALLED, DOSAGE, SQUARE = range(3)
DEPENDENT = 1e-10
"""A column whose square keeps less than this share, without the columns before it, is collinear."""


class Model(NamedTuple):
    """A regression of a phenotype on covariates, fitted; pairs of variants are added to it."""

    basis: NDArray[np.float64]
    """(columns, samples) span of the intercept (first, all 1) and covariates, orthogonal by
    ``weights``."""
    weights: NDArray[np.float64]
    """(samples,): 1, or p (1 - p) for classes."""
    residuals: NDArray[np.float64]
    """(samples,) phenotype less its fit."""
    logistic: bool


class Products(NamedTuple):
    """Matrix products whose results fill the normal equations."""

    vectors: NDArray[np.float64]
    """(vectors, samples)."""
    kinds: NDArray[np.int64]
    """(products, 3): kind of the left lines, of the right lines, and number of the vector."""
    table: NDArray[np.int64]
    """(columns, columns): number of the product of each entry on or below the diagonal. The last
    two columns are z and the residuals."""
    n: int
    """Number of the product that counts samples."""
    cases: int
    """Number of the product that counts cases."""


def products_of(model: Model) -> Products:
    """Return the products of a model, each one once."""
    c, samples = model.basis.shape
    vectors: list[NDArray[np.float64]] = []
    numbers: dict[tuple[int, int, int], int] = {}

    def number(left: int, right: int, vector: int) -> int:
        return numbers.setdefault((left, right, vector), len(numbers))

    def vector(values: NDArray[np.float64]) -> int:
        vectors.append(values)
        return len(vectors) - 1

    i, j, z, y = range(c, c + 4)
    table = np.zeros((c + 4, c + 4), np.int64)
    weighted = [vector(model.weights * q) for q in model.basis]
    for a in range(c):
        for b in range(a + 1):
            own = weighted[a] if b == 0 else vector(model.weights * model.basis[a] * model.basis[b])
            table[a, b] = number(CALLED, CALLED, own)
        table[i, a] = number(DOSAGE, CALLED, weighted[a])
        table[j, a] = number(CALLED, DOSAGE, weighted[a])
        table[z, a] = number(DOSAGE, DOSAGE, weighted[a])
        table[y, a] = number(CALLED, CALLED, vector(model.residuals * model.basis[a]))
    plain, left_over = weighted[0], vector(model.residuals)
    table[i, i], table[j, j] = number(SQUARE, CALLED, plain), number(CALLED, SQUARE, plain)
    table[j, i], table[z, z] = number(DOSAGE, DOSAGE, plain), number(SQUARE, SQUARE, plain)
    table[z, i], table[z, j] = number(SQUARE, DOSAGE, plain), number(DOSAGE, SQUARE, plain)
    table[y, i], table[y, j] = number(DOSAGE, CALLED, left_over), number(CALLED, DOSAGE, left_over)
    table[y, z] = number(DOSAGE, DOSAGE, left_over)
    table[y, y] = number(CALLED, CALLED, vector(model.residuals**2 / model.weights))
    n = number(CALLED, CALLED, vector(np.ones(samples)))
    cases = number(CALLED, CALLED, vector((model.residuals > 0).astype(np.float64)))
    return Products(np.array(vectors), np.array(list(numbers)), table, n, cases)


class Lines(NamedTuple):
    """Calls and centred dosages of some variants."""

    side: Side
    kinds: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    """m (variants or 1, samples), x and x^2 (variants, samples)."""

    @property
    def members(self) -> NDArray[np.int64]:
        """Return the variants."""
        return self.side.members


def lines_of(classes: Classes, members: NDArray[np.int64]) -> Lines:
    """Return the lines of some variants; all samples are in one class."""
    found = side(classes, members)
    starts = found.starts
    called = found.dense[: starts[1]]
    dosage = found.dense[starts[1] : starts[2]] + found.dense[starts[2] :]
    # Sums of whole numbers: the mean has the same bits in any tile.
    mean = dosage.sum(axis=1) / np.maximum(called.sum(axis=1), 1)
    dosage -= mean[:, None]
    dosage *= called
    return Lines(found, (called, dosage, dosage * dosage))


class Sums(NamedTuple):
    """Results of the products of a tile."""

    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    """First value of each product; rows i and columns j are ``rows`` and ``columns`` apart."""
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


def sums_of(products: Products, rows: Lines, columns: Lines) -> Sums:
    """Compute the products of a tile."""
    shapes = np.array([[len(rows.kinds[a]), len(columns.kinds[b])] for a, b, _ in products.kinds])
    sizes = shapes.prod(axis=1)
    starts = np.cumsum(sizes) - sizes
    values = np.empty(int(sizes.sum()))
    weighted, before = rows.kinds[0], (-1, -1)
    for k in np.lexsort(products.kinds.T):
        left, right, v = products.kinds[k].tolist()
        if (left, v) != before:
            weighted, before = rows.kinds[left] * products.vectors[v], (left, v)
        out = values[starts[k] : starts[k] + sizes[k]].reshape(shapes[k])
        np.matmul(weighted, columns.kinds[right].T, out=out)
    one = (len(columns.side.members) > 1) & (shapes[:, 1] == 1)
    return Sums(
        values,
        starts,
        np.where(shapes[:, 0] == 1, 0, shapes[:, 1]),
        np.where(one, 0, 1),
    )


@njit
def decompose(
    sums: Sums, table: NDArray[np.int64], i: int, j: int, out: NDArray[np.float64]
) -> bool:
    """Fill ``out`` with the Cholesky factor of a pair's normal equations, residuals included.

    Returns False if a column is collinear with the columns before it. The last entry of the
    diagonal is the residual sum of squares.
    """
    k = table.shape[0]
    for a in range(k):
        for b in range(a + 1):
            p = table[a, b]
            out[a, b] = sums.values[sums.starts[p] + i * sums.rows[p] + j * sums.columns[p]]
    return factorise(out, DEPENDENT)


@njit
def factorise(out: NDArray[np.float64], least: float) -> bool:
    """Replace a matrix, on and below its diagonal, by its Cholesky factor.

    The last entry of the diagonal stays a square. Returns False if another pivot is not above the
    share ``least`` of its entry.
    """
    k = out.shape[0]
    for a in range(k):
        whole = out[a, a]
        for b in range(a):
            value = out[a, b]
            for e in range(b):
                value -= out[a, e] * out[b, e]
            out[a, b] = value / out[b, b]
            out[a, a] -= out[a, b] * out[a, b]
        if a < k - 1:
            if not out[a, a] > least * whole:
                return False
            out[a, a] = np.sqrt(out[a, a])
    return True


@njit
def solve(factor: NDArray[np.float64], columns: int, out: NDArray[np.float64]) -> None:
    """Fill ``out`` with the coefficients of the first columns; the factor's last row is theirs."""
    last = factor.shape[0] - 1
    for a in range(columns - 1, -1, -1):
        value = factor[last, a]
        for b in range(a + 1, columns):
            value -= factor[b, a] * out[b]
        out[a] = value / factor[a, a]


class Pair(NamedTuple):
    """Samples with calls at both variants of a pair."""

    kept: NDArray[np.bool_]
    """(samples,)."""
    genotypes: NDArray[np.int64]
    """(2, kept samples) dosages."""
    columns: NDArray[np.float64]
    """(3, kept samples): centred dosages and their product."""


def pair_of(classes: Classes, members: NDArray[np.int64]) -> Pair:
    """Return the samples and columns of one pair (2,)."""
    samples = classes.sizes[0]
    exact = unpack_bits(exact_planes(classes.planes[0][:, members], samples), samples)
    called = exact.any(axis=0)
    dosages = exact[1].astype(np.int64) + 2 * exact[2]
    means = dosages.sum(axis=1) / np.maximum(called.sum(axis=1), 1)
    kept = np.asarray(called.all(axis=0))
    genotypes = dosages[:, kept]
    centred = genotypes - means[:, None]
    return Pair(kept, genotypes, np.vstack([centred, centred.prod(axis=0)]))
