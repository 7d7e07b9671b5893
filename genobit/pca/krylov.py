"""Largest eigenvalues of a symmetric matrix that is known by its products (block Krylov).

Musco and Musco (2015), Randomized block Krylov methods for stronger and faster approximate singular
value decomposition.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PASSES = 60
"""Most products with K: what the basis takes is bounded by them."""
TOLERANCE, SETTLED = 1e-6, 1e-4
"""Residuals |K u - lambda u|, relative to the largest eigenvalue.

What the passes go on for, ten times what float32 products leave of it; and what is no cause for
a warning when they end. An eigenvalue's error is about the square of its component's residual.
"""


def largest(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    basis: NDArray[np.float64],
    image: NDArray[np.float64],
    components: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], int, NDArray[np.float64]]:
    """Largest eigenvalues and vectors of a symmetric matrix known by its products.

    ``basis`` is an orthonormal block and ``image`` its product; products of the last block are
    added to the basis until the components are eigenvectors, or nothing new comes. Returns
    eigenvalues, vectors, passes and the residual of each component.
    """
    width = basis.shape[1]
    for passes in range(1, PASSES + 1):
        values, turn = np.linalg.eigh(basis.T @ image)
        values, turn = values[: -components - 1 : -1], turn[:, : -components - 1 : -1]
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
    """Warn of components whose residual is too large to be called settled."""
    unsettled = np.flatnonzero(residual > SETTLED)
    if unsettled.size:
        k = int(unsettled[0])
        msg = (
            f"{unsettled.size} of {residual.size} components have not settled after {passes} "
            f"passes, first component {k + 1} (residual {residual[k]:.1g} of the largest "
            "eigenvalue): take algorithm='exact', or fewer components"
        )
        warnings.warn(msg, RuntimeWarning, stacklevel=2)


def _new_directions(block: NDArray[np.float64], basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal basis of what the block adds to the basis; none where it adds only rounding."""
    size = np.linalg.norm(block, axis=0).max()
    # Twice is enough (Parlett, The Symmetric Eigenvalue Problem, 6.9).
    for _ in range(2):
        block = block - basis @ (basis.T @ block)
    left, size_of, _ = np.linalg.svd(block, full_matrices=False)
    room = basis.shape[0] - basis.shape[1]
    kept = left[:, :room][:, size_of[:room] > 1e-7 * size]
    kept = kept - basis @ (basis.T @ kept)
    return np.linalg.qr(kept)[0]
