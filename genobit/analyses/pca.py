r"""Principal components of standardised dosages, and projection on them.

With g the dosage and p the frequency of the counted allele,

    z = (g - 2 p) / sqrt(2 p (1 - p)),  0 where the call is missing or p is 0 or 1
    K = Z Z' / m,  m the variants with 0 < p < 1        (Patterson, Price and Reich 2006)
    K = U diag(lambda) U',  scores U sqrt(lambda),  loadings V = Z' U / sqrt(m lambda)

so that scores = Z V / sqrt(m), and samples that took no part are projected by the same product.
K is GCTA's relationship matrix, and lambda and U are ``plink --pca``'s, where no call is missing;
with ``missing="pairwise"`` an element of K is over the variants called in both samples, as theirs.

"exact" is the eigendecomposition of K. "randomized" never forms it: a random block of vectors and
its products with K span a Krylov space, in which the components are found (Halko, Martinsson and
Tropp 2011; Musco and Musco 2015), one pass over the packed planes for each product.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np
from dask.base import compute, persist

from genobit.lazy.pair_sums import SampleChunks, pair_sums
from genobit.lazy.sample_products import stacked, summed
from genobit.options import get_options

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALGORITHMS = ("auto", "exact", "randomized")
MISSING = {
    "mean": "mean: a missing call counts as the variant's mean, 0 when standardised",
    "pairwise": "pairwise: each element of K is over the variants called in both samples",
}
EXACT_SAMPLES = 3_000
"""Most samples that "auto" decomposes exactly: see docs/pca.md for what either takes."""
OVERSAMPLING = 10
PASSES = 60
"""Most products with K: what the basis takes is bounded by them."""
TOLERANCE, SETTLED = 1e-6, 1e-4
"""Residuals |K u - lambda u|, relative to the largest eigenvalue.

What the passes go on for, ten times what float32 products leave of it; and what is no cause for
a warning when they end. An eigenvalue's error is about the square of its component's residual.
"""


class Eigen(NamedTuple):
    """Largest eigenvalues of K and their vectors."""

    values: NDArray[np.float64]
    """(components,)"""
    vectors: NDArray[np.float64]
    """(samples, components)"""
    total: float
    """Sum of all eigenvalues."""
    algorithm: str
    passes: int
    """Products with K, of "randomized"."""
    residual: float
    """Largest residual of a component, relative to the largest eigenvalue."""


class Components(NamedTuple):
    """Principal components, the largest first."""

    scores: NDArray[np.float64]
    """(samples, components)"""
    loadings: NDArray[np.float64]
    """(variants, components), of length 1 each"""
    frequency: NDArray[np.float64]
    """Of the counted allele (variants,)"""
    variants: int
    """How many have two alleles and count."""
    eigen: Eigen


def check(components: int, algorithm: str, missing: str) -> None:
    """Refuse arguments that mean nothing.

    Raises
    ------
    ValueError
        Names the argument and what it may be.
    """
    if algorithm not in ALGORITHMS:
        msg = f"algorithm={algorithm!r} is not one of {', '.join(map(repr, ALGORITHMS))}"
        raise ValueError(msg)
    if missing not in MISSING:
        msg = f"missing={missing!r} is not one of {', '.join(map(repr, MISSING))}"
        raise ValueError(msg)
    if missing == "pairwise" and algorithm == "randomized":
        msg = (
            "missing='pairwise' divides each element of the relationship matrix by a number of its "
            "own, and algorithm='randomized' never forms it: take 'exact', or missing='mean'"
        )
        raise ValueError(msg)
    if isinstance(components, bool) or components != int(components) or components < 1:
        msg = f"components={components!r} is not a positive whole number"
        raise ValueError(msg)


def standard_values(frequency: NDArray[np.float64]) -> NDArray[np.float32]:
    """Standardised values (variants, 4) of a missing call and of dosages 0, 1 and 2."""
    spread = 2 * frequency * (1 - frequency)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(spread > 0, 1 / np.sqrt(spread), 0.0)
    centre = np.where(scale > 0, 2 * frequency, 0.0)
    values = (np.arange(3) - centre[:, None]) * scale[:, None]
    return np.concatenate([np.zeros((len(values), 1)), values], axis=1).astype(np.float32)


def pca(
    samples: SampleChunks,
    components: int,
    *,
    algorithm: str = "auto",
    missing: str = "mean",
    frequency: NDArray[np.float64] | None = None,
    seed: int = 0,
) -> Components:
    """Principal components of the dosages, computed at once.

    Parameters
    ----------
    samples
        Planes by samples.
    components
        How many.
    algorithm
        "exact", "randomized", or "auto": exact up to `EXACT_SAMPLES` samples.
    missing
        "mean", or with the exact algorithm "pairwise".
    frequency
        Of the counted allele, float64 (variants,); by default that of these samples.
    seed
        Of the random block.

    Raises
    ------
    ValueError
        For more components than there are samples or variants that vary, or than have a positive
        variance.
    """
    check(components, algorithm, missing)
    samples, own = _prepared(samples)
    frequency = own if frequency is None else frequency
    values = standard_values(frequency)
    used = int(values.any(axis=1).sum())
    n = samples.planes[0].shape[0]
    if components > min(n, used):
        msg = (
            f"components={components} of {n} samples and {used} variants with both alleles: there "
            f"are at most {min(n, used)}"
        )
        raise ValueError(msg)
    along = [da.from_array(values, chunks=(samples.variants, 4))]
    if algorithm == "auto":
        exact = n <= EXACT_SAMPLES or missing == "pairwise"
        algorithm = "exact" if exact else "randomized"
    if algorithm == "exact":
        eigen = _exact(samples, along, used, components, missing)
    else:
        eigen = _randomized(samples, along, used, components, seed)
    _require_positive(eigen)
    loadings = _loadings(samples, along, eigen.vectors)
    signs = _signs(loadings)
    scores = eigen.vectors * np.sqrt(eigen.values) * signs
    return Components(scores, loadings * signs, frequency, used, eigen)


def _prepared(samples: SampleChunks) -> tuple[SampleChunks, NDArray[np.float64]]:
    """The planes, in memory where they fit, and the allele frequencies: one pass."""
    lazy = [*samples.planes, samples.copies, samples.called]
    if sum(plane.nbytes for plane in samples.planes) <= get_options().eager_limit:
        *planes, copies, called = persist(*lazy)
        samples = samples._replace(planes=tuple(planes), copies=copies, called=called)
    copies, called = compute(samples.copies, samples.called)
    with np.errstate(invalid="ignore"):
        return samples, copies / (2 * called)


def _exact(
    samples: SampleChunks, along: list[da.Array], used: int, components: int, missing: str
) -> Eigen:
    pairwise = missing == "pairwise" and len(samples.planes) > 2
    k = pair_sums(
        partial(_gram, pairwise=pairwise),
        _divided,
        samples,
        along=along,
        whole=[da.from_array(np.array([float(used)]))],
    ).compute()
    values, vectors = np.linalg.eigh(k)
    first = slice(None, -components - 1, -1)
    return Eigen(values[first], vectors[:, first], float(np.trace(k)), "exact", 1, 0.0)


def _gram(chunks: list[Any], *, pairwise: bool) -> tuple[NDArray[np.float64], ...]:
    from genobit.kernels.standardised import called_together
    from genobit.kernels.weighted_gemm import gram

    total = gram(chunks)
    return (total, called_together(chunks)) if pairwise else (total,)


def _divided(
    sums: list[Any], rows: list[Any], columns: list[Any], whole: list[Any]
) -> NDArray[np.float64]:
    del rows, columns
    (total, *counts), (used,) = sums[0], whole
    with np.errstate(invalid="ignore"):
        return total / (counts[0] if counts else used)


def _randomized(
    samples: SampleChunks, along: list[da.Array], used: int, components: int, seed: int
) -> Eigen:
    from genobit.kernels import standardised

    def product(q: NDArray[np.float64], *, diagonal: bool = False) -> NDArray[np.float64]:
        image = summed(
            partial(standardised.gram_times, diagonal=diagonal),
            samples,
            along=along,
            whole=[da.from_array(q, chunks=-1)],
            columns=q.shape[1] + diagonal,
        )
        return image.compute() / used

    n = samples.planes[0].shape[0]
    width = min(n, components + OVERSAMPLING)
    start = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, width)))[0]
    first = product(start, diagonal=True)
    values, vectors, passes, residual = _krylov(product, start, first[:, :-1], components)
    _warn_unsettled(residual, passes)
    total = float(first[:, -1].sum())
    return Eigen(values, vectors, total, "randomized", passes, float(residual.max()))


def _krylov(
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


def _warn_unsettled(residual: NDArray[np.float64], passes: int) -> None:
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


def _require_positive(eigen: Eigen) -> None:
    wrong = np.flatnonzero(~(eigen.values > 1e-7 * eigen.total))
    if wrong.size:
        k = int(wrong[0])
        msg = (
            f"component {k + 1} has the variance {eigen.values[k]:.3g} of {eigen.total:.3g}: the "
            f"genotypes have no more than {k} components; ask for components={k}"
        )
        raise ValueError(msg)


def _loadings(
    samples: SampleChunks, along: list[da.Array], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    from genobit.kernels import standardised

    whole = [da.from_array(np.ascontiguousarray(vectors), chunks=-1)]
    columns = vectors.shape[1]
    loadings = stacked(
        standardised.times_samples, samples, along=along, whole=whole, columns=columns
    ).compute()
    return loadings / np.linalg.norm(loadings, axis=0)


def _signs(loadings: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sign of each component's largest loading.

    The first of those within 1e-4 of it: equal variants of opposite alleles would leave the choice
    to rounding.
    """
    size = abs(loadings)
    largest = (size >= (1 - 1e-4) * size.max(axis=0)).argmax(axis=0)
    return np.sign(loadings[largest, np.arange(loadings.shape[1])])


def project(
    samples: SampleChunks,
    loadings: NDArray[np.float64],
    frequency: NDArray[np.float64],
    flipped: NDArray[np.bool_],
) -> da.Array:
    """Scores of samples on given loadings.

    Parameters
    ----------
    samples
        Planes by samples.
    loadings, frequency
        Of `Components`.
    flipped
        Variants whose planes count the other allele (variants,).

    Returns
    -------
        float64 (samples, components), lazy.
    """
    from genobit.kernels import standardised

    values = standard_values(frequency)
    used = int(values.any(axis=1).sum())
    values[flipped] = values[flipped][:, [0, 3, 2, 1]]
    chunks = samples.variants
    along = [
        da.from_array(values, chunks=(chunks, 4)),
        da.from_array(loadings, chunks=(chunks, loadings.shape[1])),
    ]
    columns = loadings.shape[1]
    return summed(standardised.times_variants, samples, along=along, columns=columns) / np.sqrt(
        used
    )
