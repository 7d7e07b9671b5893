"""Largest eigenvalues of a symmetric matrix that is known only by its products (block Krylov).

Musco and Musco (2015), Randomized block Krylov methods for stronger and faster approximate singular
value decomposition.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.schedule.computing import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PASSES = 60
"""Most products with K; they bound the memory of the basis."""
ALONE = 3_000
"""Most rows of a matrix whose eigenvalues one thread of BLAS computes.

Threads spin if the cores are busy: 10 components of 2,000 rows took 12.6 s, and 0.67 s in one
thread (Zen 4).
"""
TOLERANCE, SETTLED = 1e-6, 1e-4
"""Residuals |K u - lambda u|, relative to the largest eigenvalue.

Passes continue while a residual is above `TOLERANCE`, ten times the error of float32 products. A
residual above `SETTLED` after the last pass causes a warning. The error of an eigenvalue is about
the square of its component's residual.
"""


def largest_eigenpairs(
    matrix: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues (count,) of a symmetric matrix, falling, and their vectors."""
    from scipy.linalg import eigh

    n = len(matrix)
    with one_blas_thread() if n <= ALONE else nullcontext():
        values, vectors = eigh(matrix, subset_by_index=(n - count, n - 1))
    return values[::-1], vectors[:, ::-1]


def largest(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    basis: NDArray[np.float64],
    image: NDArray[np.float64],
    components: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], int, NDArray[np.float64]]:
    """Return the largest eigenvalues, their vectors, the passes and the residuals.

    ``basis`` is an orthonormal block and ``image`` its product. Products of the last block extend
    the basis until the components are eigenvectors, a product adds nothing new, or `PASSES` is
    reached. There is a residual for each component.
    """
    width = basis.shape[1]
    # As for `ALONE`: the blocks are narrow.
    with one_blas_thread():
        for passes in range(1, PASSES + 1):
            values, turn = largest_eigenpairs(basis.T @ image, components)
            vectors = basis @ turn
            residual = np.linalg.norm(image @ turn - vectors * values, axis=0) / abs(values[0])
            block = basis[:, :0]
            if (residual > TOLERANCE).any() and passes < PASSES:
                block = _new_directions(image[:, -width:], basis)
            width = block.shape[1]
            if not width:
                break
            basis = np.concatenate([basis, block], axis=1)
            image = np.concatenate([image, product(block)], axis=1)
    return values, vectors, passes, residual


def warn_unsettled(residual: NDArray[np.float64], passes: int) -> None:
    """Warn of components whose residual is above `SETTLED`."""
    unsettled = np.flatnonzero(residual > SETTLED)
    if unsettled.size:
        k = int(unsettled[0])
        msg = (
            f"{unsettled.size} of {residual.size} components have not settled after {passes} "
            f"passes, first component {k + 1} (residual {residual[k]:.1g} of the largest "
            "eigenvalue): take method='exact', or fewer components"
        )
        warnings.warn(msg, RuntimeWarning, stacklevel=2)


def _new_directions(block: NDArray[np.float64], basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an orthonormal basis of the directions that the block adds to the basis.

    It is empty if the block adds only rounding errors.
    """
    size = np.linalg.norm(block, axis=0).max()
    # Two projections are enough (Parlett, The Symmetric Eigenvalue Problem, 6.9).
    for _ in range(2):
        block = block - basis @ (basis.T @ block)
    left, size_of, _ = np.linalg.svd(block, full_matrices=False)
    room = basis.shape[0] - basis.shape[1]
    kept = left[:, :room][:, size_of[:room] > 1e-7 * size]
    kept = kept - basis @ (basis.T @ kept)
    return np.linalg.qr(kept)[0]
