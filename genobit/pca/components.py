r"""Principal components of standardised dosages, and projection onto them.

Let g be the dosage and p the frequency of the counted allele. Then

    z = (g - 2 p) / sqrt(2 p (1 - p)),  0 where the call is missing or p is 0 or 1
    K = Z Z' / m,  m the variants with 0 < p < 1        (Patterson, Price and Reich 2006)
    K = U diag(lambda) U',  scores U sqrt(lambda),  loadings V = Z' U / sqrt(m lambda)

Therefore scores = Z V / sqrt(m), which also projects other samples. Without missing calls, K is the
relationship matrix of GCTA, and ``plink --pca`` gives the same lambda and U. With
``missing="pairwise"``, each element of K uses the variants called in both samples, as in GCTA and
plink.

"exact" is the eigendecomposition of K. "randomized" never forms K. A random block of vectors and
its products with K span a Krylov space that contains the components (Halko, Martinsson and Tropp
2011; Musco and Musco 2015). Each product is one pass over the packed planes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np
from dask.base import persist
from dask.utils import format_bytes

from genobit.data.checks import check_one_of, is_whole
from genobit.engine.options import get_options
from genobit.engine.schedule.by_samples import in_tiles
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.pair_sums import SampleChunks, Summed, Sums, pair_sums
from genobit.pca.krylov import largest, largest_eigenpairs, warn_unsettled
from genobit.pca.schedule import stacked, summed

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = ("auto", "exact", "randomized")
MISSING = {
    "mean": "mean: a missing call counts as the variant's mean, 0 when standardised",
    "pairwise": "pairwise: each element of K is over the variants called in both samples",
}
EXACT_SAMPLES = 3_000
"""Most samples that "auto" decomposes exactly.

docs/tutorials/pca.md has the time and memory of both algorithms.
"""
DEFAULT = 10
"""Default number of components."""
OVERSAMPLING = 10
EVEN = 0.1
"""Largest |sum of cubed scores| / sum of |cubed scores| at which both tails count as even."""


class Eigen(NamedTuple):
    """Largest eigenvalues of K and their eigenvectors."""

    values: NDArray[np.float64]
    """(components,)"""
    vectors: NDArray[np.float64]
    """(samples, components)"""
    total: float
    """Sum of all eigenvalues."""
    method: str
    passes: int
    """Number of products with K, for "randomized"."""
    residual: float
    """Largest residual of a component, relative to the largest eigenvalue."""


class Components(NamedTuple):
    """Principal components, the largest first."""

    scores: NDArray[np.float64]
    """(samples, components)"""
    loadings: NDArray[np.float64]
    """(variants, components), each column of length 1"""
    frequency: NDArray[np.float64]
    """Frequency of the counted allele: (variants,)"""
    variants: int
    """Number of variants in the divisor of K."""
    eigen: Eigen


def check(components: int | None, method: str, missing: str) -> None:
    """Raise ValueError for an invalid argument, with its name and its valid values."""
    if components is not None and not is_whole(components):
        msg = f"components={components!r} is not a positive whole number"
        raise ValueError(msg)
    check_one_of("method", method, METHODS)
    check_one_of("missing", missing, MISSING)
    if missing == "pairwise" and method == "randomized":
        msg = (
            "missing='pairwise' divides each element of the relationship matrix by a number of its "
            "own, and method='randomized' never forms it: take 'exact', or missing='mean'"
        )
        raise ValueError(msg)


def standard_values(frequency: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return standardised values of a missing call and of dosages 0, 1 and 2: (variants, 4)."""
    spread = 2 * frequency * (1 - frequency)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(spread > 0, 1 / np.sqrt(spread), 0.0)
    centre = np.where(scale > 0, 2 * frequency, 0.0)
    values = (np.arange(3) - centre[:, None]) * scale[:, None]
    return np.concatenate([np.zeros((len(values), 1)), values], axis=1).astype(np.float32)


def pca(
    samples: SampleChunks,
    components: int | None = None,
    *,
    method: str = "auto",
    missing: str = "mean",
    frequency: NDArray[np.float64] | None = None,
    count_monomorphic: bool = False,
    seed: int = 0,
) -> Components:
    """Return the principal components of the dosages, computed at once.

    The default of ``components`` is `DEFAULT`, or fewer if fewer exist. The method "auto" is
    exact up to `EXACT_SAMPLES` samples, if the matrix fits. Only the exact method has
    "pairwise". The array ``frequency`` (variants,) is that of the counted allele, by default in
    these samples. With ``count_monomorphic`` the divisor of K counts monomorphic variants. The
    random block uses ``seed``.

    Raises ValueError for more components than exist. The limits are the samples (less one if
    dosages are centred by their own mean), the polymorphic variants, and the components of positive
    variance. Raises ValueError for pairwise samples without a common call. Raises MemoryError if
    the matrix of the exact method exceeds ``get_options().eager_limit``.
    """
    check(components, method, missing)
    n = samples.planes[0].shape[0]
    method = chosen_method(method, n, missing)
    samples, own = _prepared(samples)
    # Dosages minus their own mean sum to 0 over the samples, so there is one component less.
    given, centred = frequency, frequency is None and missing == "mean"
    frequency = own if given is None else given
    values = standard_values(frequency)
    varying = _used(values, frequency, count_monomorphic=False)
    wanted = _wanted(components, n, varying, centred=centred)
    used = _used(values, frequency, count_monomorphic=count_monomorphic)
    along = [da.from_array(values, chunks=(samples.variants, 4))]
    if method == "exact":
        from genobit.engine.gemm import exact

        of_variants = [*along, da.from_array(frequency, chunks=(samples.variants,))]
        count = partial(_gram, by_digits=exact.pays(given, n), count_monomorphic=count_monomorphic)
        eigen = _exact(samples, of_variants, used, wanted, missing, count)
    else:
        eigen = _randomized(samples, along, used, wanted, seed)
    eigen = _positive(eigen, fewer=components is None)
    loadings = _loadings(samples, along, eigen.vectors)
    scores = eigen.vectors * np.sqrt(eigen.values)
    signs = _signs(scores)
    return Components(scores * signs, loadings * signs, frequency, used, eigen)


def _used(
    values: NDArray[np.float32], frequency: NDArray[np.float64], *, count_monomorphic: bool
) -> int:
    """Return the number of variants in the divisor: polymorphic ones, or all with any call."""
    counts = ~np.isnan(frequency) if count_monomorphic else values.any(axis=1)
    return int(counts.sum())


def chosen_method(method: str, n: int, missing: str) -> str:
    """Return the method to use.

    Raises MemoryError if the exact method takes too much memory.
    """
    size, limit = 16 * n * n, get_options().eager_limit
    if method == "auto" and missing != "pairwise":
        return "exact" if n <= EXACT_SAMPLES and size <= limit else "randomized"
    if method != "randomized" and size > limit:
        remedy = "method='randomized'"
        if missing == "pairwise":
            remedy += " with missing='mean'"
        msg = (
            f"the relationship matrix of {n:,} samples and its eigenvectors take "
            f"{format_bytes(size)} (samples^2 x 16 bytes), more than eager_limit "
            f"({format_bytes(limit)}): take {remedy}, which never forms it, or raise "
            "gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)
    return "randomized" if method == "randomized" else "exact"


def _wanted(components: int | None, n: int, used: int, *, centred: bool) -> int:
    """Return the number of components to compute; raises ValueError if there are fewer."""
    most = min(n - 1 if centred else n, used)
    if components is None and most:
        return min(DEFAULT, most)
    if components is None or components > most:
        asked = "" if components is None else f"components={components} of "
        own = " (one less than samples, as the frequencies are their own)"
        why = own if centred and most == n - 1 else ""
        msg = (
            f"{asked}{n} samples and {used} variants with both alleles: there are at most {most} "
            f"components{why}"
        )
        raise ValueError(msg)
    return int(components)


def _prepared(samples: SampleChunks) -> tuple[SampleChunks, NDArray[np.float64]]:
    """Return the planes, in memory if they fit, and the allele frequencies, in one pass."""
    lazy = [*samples.planes, samples.copies, samples.called]
    if sum(plane.nbytes for plane in samples.planes) <= get_options().eager_limit:
        *planes, copies, called = persist(*lazy)
        samples = samples._replace(planes=tuple(planes), copies=copies, called=called)
    copies, called = compute(samples.copies, samples.called)
    with np.errstate(invalid="ignore"):
        return samples, copies / (2 * called)


def _exact(
    samples: SampleChunks,
    along: list[da.Array],
    used: int,
    components: int,
    missing: str,
    count: partial[Sums],
) -> Eigen:
    pairwise = missing == "pairwise" and len(samples.planes) > 2
    products = pair_sums(
        partial(count, pairwise=pairwise),
        _divided,
        in_tiles(samples),
        along=along,
        whole=[da.from_array(np.array([float(used)]))],
    )
    (k,) = compute(products)
    if pairwise:
        _require_common_calls(k)
    values, vectors = largest_eigenpairs(k, components)
    return Eigen(values, vectors, float(np.trace(k)), "exact", 1, 0.0)


def _require_common_calls(k: NDArray[np.float64]) -> None:
    empty = np.isnan(k)
    if not empty.any():
        return
    alone = np.flatnonzero(empty.diagonal())
    if alone.size:
        what = f"samples={alone[0]} has no call"
        out = alone[0]
    else:
        i, out = np.argwhere(empty)[0]
        what = f"samples={i} and samples={out} have no call in common"
    msg = (
        f"{what} at a variant with both alleles, so missing='pairwise' has no value for the "
        f"relationship matrix: take missing='mean', or leave samples={out} out with .genobit.isel"
    )
    raise ValueError(msg)


def _gram(chunks: list[Any], *, by_digits: bool, pairwise: bool, count_monomorphic: bool) -> Sums:
    """Return the sums of products of values and, if pairwise, the variants that both call."""
    from genobit.engine.bits.layout import pack_bits
    from genobit.engine.gemm import exact
    from genobit.engine.gemm.weighted import gram
    from genobit.engine.pairwise.statistic import product

    if by_digits:
        total: NDArray[Any] = exact.gram([(a, b, frequency) for a, b, _, frequency in chunks])
    else:
        total = gram([(a, b, values) for a, b, values, _ in chunks])
    if not pairwise:
        return (total,)
    counts = np.zeros(total.shape[-2:], np.int64)
    for a, b, values, _ in chunks:
        used = np.ones(len(values), bool) if count_monomorphic else values.any(axis=1)
        calls = (a.call_mask() & pack_bits(used),)
        counts += product("and", calls, None if b is None else (b.call_mask(),))
    return total, counts


def _divided(tile: Summed) -> NDArray[np.float64]:
    (total, *counts), (used,) = tile.sums[0], tile.whole
    if total.ndim == 3:
        from genobit.engine.gemm import exact

        total = exact.total(total)
    with np.errstate(invalid="ignore"):
        return total / (counts[0] if counts else used)


def _randomized(
    samples: SampleChunks, along: list[da.Array], used: int, components: int, seed: int
) -> Eigen:
    from genobit.engine.gemm import standardised

    def product(q: NDArray[np.float64], *, diagonal: bool = False) -> NDArray[np.float64]:
        image = summed(
            partial(standardised.gram_times, diagonal=diagonal),
            samples,
            along=along,
            whole=[da.from_array(q, chunks=-1)],
            columns=q.shape[1] + diagonal,
        )
        return np.asarray(compute(image)[0] / used)

    n = samples.planes[0].shape[0]
    width = min(n, components + OVERSAMPLING)
    start = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, width)))[0]
    first = product(start, diagonal=True)
    values, vectors, passes, residual = largest(product, start, first[:, :-1], components)
    warn_unsettled(residual, passes)
    total = float(first[:, -1].sum())
    return Eigen(values, vectors, total, "randomized", passes, float(residual.max()))


def _positive(eigen: Eigen, *, fewer: bool) -> Eigen:
    """Return the components if all have a positive variance.

    If one has none, ``fewer`` drops it and all later components; otherwise raises ValueError.
    """
    wrong = np.flatnonzero(~(eigen.values > 1e-7 * eigen.total))
    if not wrong.size:
        return eigen
    k = int(wrong[0])
    if fewer and k:
        return eigen._replace(values=eigen.values[:k], vectors=eigen.vectors[:, :k])
    msg = (
        f"component {k + 1} has the variance {eigen.values[k]:.3g} of {eigen.total:.3g}: the "
        f"genotypes have no more than {k} components"
    )
    raise ValueError(msg + (f"; ask for components={k}" if k else ""))


def _loadings(
    samples: SampleChunks, along: list[da.Array], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    from genobit.engine.gemm import standardised

    whole = [da.from_array(np.ascontiguousarray(vectors), chunks=-1)]
    columns = vectors.shape[1]
    products = stacked(
        standardised.times_samples, samples, along=along, whole=whole, columns=columns
    )
    (loadings,) = compute(products)
    return loadings / np.linalg.norm(loadings, axis=0)


def _signs(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sign of each component, chosen so that small changes of the data hardly affect it.

    The longer tail is positive, by the sum of cubed scores. If both tails are nearly even (two
    groups of equal size), the first sample with at least half the largest score, in size, is
    positive. Unlike loadings, scores do not depend on which allele is counted.
    """
    size = abs(scores)
    cubes = (scores**3).sum(axis=0)
    first = (size >= size.max(axis=0) / 2).argmax(axis=0)
    far = scores[first, np.arange(scores.shape[1])]
    return np.sign(np.where(abs(cubes) > EVEN * (size**3).sum(axis=0), cubes, far))


def project(
    samples: SampleChunks,
    loadings: NDArray[np.float64],
    frequency: NDArray[np.float64],
    flipped: NDArray[np.bool_],
    *,
    count_monomorphic: bool = False,
) -> da.Array:
    """Return the scores of samples on given loadings: (samples, components) float64, lazy.

    ``loadings`` and ``frequency`` are those of `Components`. ``flipped`` (variants,) marks variants
    whose planes count the other allele.
    """
    from genobit.engine.gemm import standardised

    values = standard_values(frequency)
    used = _used(values, frequency, count_monomorphic=count_monomorphic)
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
