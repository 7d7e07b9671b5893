"""Bounds of likelihood ratios are never below them, and products are sums over samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genobit.engine.bits.layout import words_for
from genobit.epistasis.kernels.pair_moments import lines_of, pair_of, products_of, sums_of
from genobit.epistasis.kernels.regression import _bounds, fitted
from genobit.epistasis.kernels.tables import Classes
from genobit.epistasis.kernels.trait import TraitRule
from genobit.epistasis.regression import fitted as model_of
from tests.helpers.sized import sized

NO_COUNTS = np.empty((0, 0), np.int32)


def classes_of(dosages: np.ndarray) -> Classes:
    """Planes of dosages (variants, samples), -1 where missing."""
    planes = [dosages >= 1, dosages == 2]
    if (dosages < 0).any():
        planes.insert(0, dosages >= 0)
    samples = dosages.shape[1]
    bits = np.zeros((len(planes), len(dosages), 64 * words_for(samples)), bool)
    bits[:, :, :samples] = planes
    words = np.packbits(bits, axis=-1, bitorder="little").view("<u8").astype(np.uint64)
    return Classes((words,), (samples,))


def bounds_of(seed: int, samples: int, missing: float, rare: float, *, logistic: bool):
    """Bounds and fits of all pairs of eight variants, of a phenotype with strong effects."""
    rng = np.random.default_rng(seed)
    frequency = rng.uniform(rare, 0.5, (8, 1))
    dosages = rng.binomial(2, frequency, (8, samples))
    dosages[rng.random(dosages.shape) < missing] = -1
    covariates = rng.normal(size=(2, samples))
    strength = rng.uniform(0, 3, 4)
    eta = strength[0] * covariates[0] + strength[1] * dosages[0] - strength[2] * dosages[1]
    eta += strength[3] * dosages[0] * dosages[1]
    values = eta + rng.logistic(size=samples)
    if logistic:
        values = (values > np.quantile(values, 0.7)).astype(float)
    model = model_of(values, np.vstack([np.ones(samples), covariates]), logistic=logistic)
    classes, every = classes_of(dosages), np.arange(8)
    lines, products = lines_of(classes, every), products_of(model)
    bounds, wanted = np.full((8, 8), np.nan), np.triu(np.ones((8, 8), bool), 1)
    sums = sums_of(products, lines, lines)
    rule = TraitRule()
    unfit = _bounds(model, products, sums, lines, lines, NO_COUNTS, wanted, rule, bounds)
    i, j = np.triu_indices(8, 1)
    scores = [
        fitted(model, pair_of(classes, np.array(pair))).score for pair in zip(i, j, strict=True)
    ]
    return bounds[i, j], np.array(scores), unfit


@given(
    seed=st.integers(0, 2**32),
    samples=st.sampled_from(sized([50, 65, 300, 1000], [50, 65])),
    missing=st.sampled_from([0.0, 0.1]),
    rare=st.sampled_from([0.01, 0.2]),
)
@settings(max_examples=sized(60, 4))
def test_bound__is_at_least_the_likelihood_ratio(
    seed: int, samples: int, missing: float, rare: float
) -> None:
    bounds, scores, unfit = bounds_of(seed, samples, missing, rare, logistic=True)
    assert np.isnan(bounds).sum() == unfit
    assert np.isnan(scores[np.isnan(bounds)]).all()
    known = ~np.isnan(scores)
    assert (bounds[known] >= scores[known]).all()
    # A finite bound proves that there is a finite fit.
    assert known[np.isfinite(bounds)].all()


@pytest.mark.compiled("logistic regressions of a thousand samples")
def test_bound__is_close_for_common_variants() -> None:
    bounds, scores, _ = bounds_of(3, 1000, 0.0, 0.2, logistic=True)
    weak = scores < 4
    assert weak.sum() > 15
    assert np.median((bounds - scores)[weak]) < 0.5


@given(seed=st.integers(0, 2**32), missing=st.sampled_from([0.0, 0.1]))
@settings(max_examples=sized(20, 3))
def test_bound__of_f_is_f(seed: int, missing: float) -> None:
    bounds, scores, unfit = bounds_of(seed, 300, missing, 0.01, logistic=False)
    known = ~np.isnan(scores)
    assert (known == ~np.isnan(bounds)).all()
    assert unfit == (~known).sum()
    np.testing.assert_allclose(bounds[known], scores[known], rtol=3e-5, atol=3e-5)
    assert (bounds[known] >= scores[known]).all()
