"""LD scores against brute force and the formula of ldsc."""

from __future__ import annotations

from pathlib import Path

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.reference import dosages, haplotypes, ld_scores, window_pairs

ROUNDED = 2.0**-37
"""Of an r2 that is added."""


@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.sampled_from([2, 3, 20, 65]),
    st.sampled_from([0.0, 0.2]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 8),
    st.integers(1, 5),
)
def test_scores__equal_the_reference(
    seed: int,
    variants: int,
    samples: int,
    missing: float,
    phased: bool,
    adjust: bool,
    window: int,
    chunk: int,
) -> None:
    calls = random_calls(seed, variants, samples, missing=missing)
    ds = cohort(calls, contigs=1 + seed % 2, phased=True)
    x = haplotypes(calls) if phased else dosages(calls)
    pairs = window_pairs(variants, ds.variant_contig.values, None, window)
    expected, counts = ld_scores(x, pairs, adjust=adjust)

    packed = ds.genobit.pack(phased=phased)
    with dask.config.set(scheduler="synchronous"):
        found = packed.chunk(variants=chunk).genobit.ld_score(window, adjust=adjust).compute()
        whole = packed.genobit.ld_score(window, adjust=adjust).compute()
    np.testing.assert_allclose(found.ld_score, expected, rtol=1e-12, atol=variants * ROUNDED)
    np.testing.assert_array_equal(found.ld_score_count, counts)
    assert found.ld_score_count.dtype == np.int64
    # The same bits for other chunks.
    np.testing.assert_array_equal(found.ld_score.values, whole.ld_score.values)


def test_ldsc(shared_data: Path) -> None:
    """ldsc's own arithmetic: standardised columns, their correlations, unbiased, by distance."""
    ds = gb.open_plink(shared_data / "lct_1kg/lct_1kg.bed")
    ds = ds.isel(variants=slice(100, 300))
    calls = ds.call_genotype.values
    complete = (calls >= 0).all(axis=(1, 2)) & (np.ptp(calls.sum(axis=2), axis=1) > 0)
    ds = ds.isel(variants=np.flatnonzero(complete))
    g = dosages(ds.call_genotype.values)
    n = g.shape[1]
    z = (g - g.mean(axis=1, keepdims=True)) / g.std(axis=1, keepdims=True)
    squared = (z @ z.T / n) ** 2
    adjusted = squared - (1 - squared) / (n - 2)
    position = ds.variant_position.values
    near = np.abs(position[:, None] - position) <= 20_000
    found = ds.genobit.ld_score("20kb")
    np.testing.assert_allclose(found.ld_score, (adjusted * near).sum(axis=1), rtol=1e-9)
    np.testing.assert_array_equal(found.ld_score_count, near.sum(axis=1))
    assert found.ld_score.chunks is not None


def test_variant_of_one_allele__has_no_score() -> None:
    calls = random_calls(5, 3, 40)
    calls[1] = 0
    assert np.unique(calls[0]).size == np.unique(calls[2]).size == 2
    found = cohort(calls).genobit.ld_score(2)
    assert np.isnan(found.ld_score.values).tolist() == [False, True, False]
    assert found.ld_score_count.values.tolist() == [2, 0, 2]


def test_centimorgans_are_needed() -> None:
    ds = cohort(random_calls(0, 3, 5)).drop_vars("variant_genetic_position")
    with pytest.raises(KeyError, match="variant_genetic_position"):
        ds.genobit.ld_score()


def test_centimorgans_without_a_map__are_explained() -> None:
    """The remedy is in the message, for every method that takes a window."""
    ds = cohort(random_calls(1, 4, 6)).drop_vars("variant_genetic_position", errors="ignore")
    for call in (
        ds.genobit.ld_score,
        lambda: ds.genobit.ld_prune("0.5cM"),
        lambda: ds.genobit.ld(window="0.5cM"),
        lambda: ds.genobit.ld_decay("0.5cM"),
    ):
        with pytest.raises(KeyError, match=r"ds\.genobit\.genetic_map\(.*'1Mb'"):
            call()
