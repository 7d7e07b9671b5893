"""Interaction of two variants in a linear or logistic regression with covariates.

The full model has an intercept, covariates, the dosages of both variants and their product; the
model of main effects lacks the product. Each pair takes the n samples with a phenotype, all
covariates and calls at both variants:

    linear     F = (SS_main - SS_full) / (SS_full / (n - c - 4)), F with 1 and n - c - 4
    logistic   LR = 2 (l_full - l_main), chi2 with 1 degree of freedom

for c covariates, residual sums of squares SS and maximal log likelihoods l. F is the square of the
effect divided by its standard error, so its p-value is that of plink2 ``--glm``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.schedule.computing import one_blas_thread
from genobit.epistasis.phenotypes import Trait
from genobit.epistasis.search import Columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.epistasis.arguments import Limits, SearchSpec
    from genobit.epistasis.covariates import Covariates
    from genobit.epistasis.kernels.pair_moments import Model
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.phenotypes import ClassOf
    from genobit.epistasis.schedule.search import CombinationSearch

PRODUCT = 10
"""Approximate time of a product of a pair relative to the time of its mutual information."""


def prepared(
    planes: Mapping[str, da.Array],
    layout: Layout,
    phenotype: ClassOf | Trait,
    wanted: SearchSpec,
    limits: Limits,
    *,
    covariates: Covariates,
) -> tuple[CombinationSearch, Callable[[NDArray[np.int64]], Columns]]:
    """Prepare a search of pairs, as `genobit.epistasis.search.prepared` does for classes."""
    from genobit.engine.schedule.checkpoints import digest
    from genobit.epistasis.kernels.pair_moments import products_of
    from genobit.epistasis.kernels.trait import TraitRule
    from genobit.epistasis.schedule.search import CombinationSearch
    from genobit.epistasis.schedule.variants import gathered
    from genobit.epistasis.scope import scope_of

    if limits.prefilter is not None:
        msg = (
            "prefilter= ranks variants by their mutual information with classes, without "
            f"covariates, and statistic={wanted.statistic!r} has covariates: select variants with "
            "ds.genobit.isel(variants=...)"
        )
        raise ValueError(msg)
    used, values, exponent = _values(phenotype)
    model = fitted(values[used], covariates.basis(used), logistic=wanted.statistic == "logistic")
    classes = gathered(planes, layout, np.where(used, 0, -1), 1)
    score: Any = partial(_searched, rule=TraitRule(wanted.min_n, wanted.min_count), model=model)
    products = products_of(model)
    full = len(products.kinds) if not classes.complete else len(model.basis) + 4
    work = CombinationSearch(
        classes,
        wanted.order,
        wanted.top,
        score=score,
        scope=scope_of(limits, classes, planes, layout, wanted),
        times=PRODUCT * full,
        about={"model": digest(list(model[:3]))},
    )
    rows = partial(columns, classes, model=model, values=values[used], exponent=exponent)
    return work, rows


def _values(phenotype: ClassOf | Trait) -> tuple[NDArray[np.bool_], NDArray[np.float64], int]:
    """Return which samples are used, the scaled trait or the class 0 or 1, and its exponent."""
    if isinstance(phenotype, Trait):
        return ~np.isnan(phenotype.values), phenotype.values, phenotype.exponent
    return phenotype.numbers >= 0, phenotype.numbers.astype(np.float64), 0


def _searched(*arguments: Any, **options: Any) -> Any:
    """Call `search_pairs` with one BLAS thread: its sums are numpy products."""
    from genobit.epistasis.kernels.regression import search_pairs

    with one_blas_thread():
        return search_pairs(*arguments, **options)


def fitted(values: NDArray[np.float64], basis: NDArray[np.float64], *, logistic: bool) -> Model:
    """Fit the covariates alone. Raises ValueError if they separate the classes.

    values: (samples,) trait, or class 0 or 1; basis: (columns, samples), its first row is 1.
    """
    from genobit.epistasis.kernels.logistic_regression import climb
    from genobit.epistasis.kernels.pair_moments import Model

    if not logistic:
        weights = np.ones(values.size)
        basis = _orthogonal(basis, weights)
        centred = values - values.mean()
        residuals = centred - basis.T @ (basis @ centred) / values.size
        return Model(basis, weights, residuals, logistic)
    columns = len(basis)
    eta, factor = np.zeros(values.size), np.empty((columns + 1, columns + 1))
    if climb(basis, values, eta, np.zeros(columns), factor):
        small = np.exp(-np.abs(eta))
        weights = small / (1 + small) ** 2
        # The residual of a sample is the probability of the class that it is not of.
        wrong = 1 / (1 + np.exp(np.where(values == 1, eta, -eta)))
        residuals = np.where(values == 1, wrong, -wrong)
        return Model(_orthogonal(basis, weights), weights, residuals, logistic)
    msg = (
        "the covariates separate the classes: a combination of them is above a limit in all "
        "cases and below it in all controls, so no logistic regression has a finite fit; leave "
        "out the covariate that tells them apart"
    )
    raise ValueError(msg)


def _orthogonal(basis: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a basis of the same span whose weighted products are 0, its first row still 1."""
    root = np.sqrt(weights)
    q = np.linalg.qr((basis * root).T)[0].T
    q *= np.sqrt(weights.sum())
    out = q / root
    out[0] = 1.0
    return np.ascontiguousarray(out)


def columns(
    classes: Classes,
    members: NDArray[np.int64],
    model: Model,
    values: NDArray[np.float64],
    exponent: int,
) -> Columns:
    """Return effects, tests, counts of samples and cells of ranked pairs (rank, 2).

    ``values`` are divided by 2**exponent.
    """
    from scipy.stats import chi2
    from scipy.stats import f as distribution

    from genobit.epistasis.kernels.pair_moments import pair_of
    from genobit.epistasis.kernels.regression import fitted as fitted_pair

    count = 2 if model.logistic else 1
    cells = np.zeros((len(members), 9, count), np.int32)
    means = np.full((len(members), 9), np.nan)
    fits = np.empty((len(members), 3))
    with one_blas_thread():
        for rank, pair in enumerate(pair_of(classes, each) for each in members):
            fits[rank] = fitted_pair(model, pair)
            cell = 3 * pair.genotypes[0] + pair.genotypes[1]
            kept = values[pair.kept]
            of_class = kept.astype(np.int64) if model.logistic else np.zeros(kept.size, np.int64)
            np.add.at(cells[rank], (cell, of_class), 1)
            n = np.bincount(cell, minlength=9)
            total = np.bincount(cell, kept, minlength=9)
            np.divide(total, n, out=means[rank], where=n > 0)
    n = cells.sum(axis=(1, 2), dtype=np.int64)
    effect, error, score = fits.T
    of_rank: dict[str, NDArray[Any]] = {
        "likelihood_ratio" if model.logistic else "f": score,
        "effect": np.ldexp(effect, exponent),
        "standard_error": np.ldexp(error, exponent),
        "df": np.ones(len(members), np.int64),
    }
    if model.logistic:
        by_class = cells.sum(axis=1, dtype=np.int64)
        of_rank |= {"p": chi2.sf(score, 1), "n": n}
        of_rank |= {"cases": by_class[:, 1], "controls": by_class[:, 0]}
        return Columns(members, of_rank, cells)
    residual = n - len(model.basis) - 3
    of_rank |= {"df_residual": residual, "p": distribution.sf(score, 1, residual), "n": n}
    return Columns(members, of_rank, cells, np.ldexp(means, exponent))
