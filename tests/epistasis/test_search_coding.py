"""Scores and ranks are the same to the last bit for any coding of alleles and order of members."""

from __future__ import annotations

import itertools
from typing import Any

import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.epistasis.kernels import statistics as scores
from genobit.epistasis.kernels.mutual_information import x_log_x
from genobit.epistasis.kernels.trait import f_of_table
from tests.helpers.cohorts import cohort, random_calls

STATISTICS = ["mutual_information", "chi2", "gain", "boost", "f"]
NUMBERS = {
    "mutual_information": scores.MUTUAL_INFORMATION,
    "chi2": scores.CHI2,
    "gain": scores.GAIN,
    "boost": scores.BOOST,
}


def recoded(calls: np.ndarray, variants: np.ndarray) -> np.ndarray:
    """Calls with the alleles of some variants exchanged."""
    out = calls.copy()
    out[variants] = np.where(calls[variants] < 0, calls[variants], 1 - calls[variants])
    return out


ANY_N = gb.EpistasisLimits(min_n=0)


def ranking(
    calls: np.ndarray,
    phenotype: np.ndarray,
    limits: gb.EpistasisLimits = ANY_N,
    **asked: Any,
) -> xr.Dataset:
    return cohort(calls, chunks=(3, 40)).genobit.epistasis(
        phenotype, top=1000, limits=limits, **asked
    )


def assert_same(found: xr.Dataset, expected: xr.Dataset) -> None:
    np.testing.assert_array_equal(found.variants, expected.variants)
    for name in ("mi", "chi2", "gain", "boost", "f", "g", "p", "p_familywise", "n", "df"):
        assert (name in found) == (name in expected)
        if name in found:
            np.testing.assert_array_equal(found[name], expected[name])


def phenotype_of(statistic: str, seed: int, samples: int, classes: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=samples) if statistic == "f" else rng.integers(0, classes, samples)


@pytest.mark.parametrize("statistic", STATISTICS)
@settings(max_examples=6, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    order=st.sampled_from([2, 3, 4]),
    missing=st.sampled_from([0.0, 0.05]),
    classes=st.sampled_from([2, 3]),
)
def test_recoded_alleles__change_no_bit(
    statistic: str, seed: int, order: int, missing: float, classes: int
) -> None:
    order = 2 if statistic in {"boost", "f"} else order
    # Few samples give ties, and with order 4 tables that are filled sample by sample.
    calls = random_calls(seed, 7, 60, missing=missing)
    phenotype = phenotype_of(statistic, seed, 60, 2 if statistic == "boost" else classes)
    some = np.flatnonzero(np.random.default_rng(seed).random(7) < 0.5)
    asked = {"statistic": statistic, "order": order, "permutations": 3}
    expected = ranking(calls, phenotype, **asked)
    assert_same(ranking(recoded(calls, some), phenotype, **asked), expected)


@pytest.mark.parametrize("statistic", STATISTICS[:-1])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32), order=st.sampled_from([2, 3]))
def test_exchanged_classes__change_no_bit(statistic: str, seed: int, order: int) -> None:
    order = 2 if statistic == "boost" else order
    calls, phenotype = random_calls(seed, 7, 80), phenotype_of(statistic, seed, 80)
    expected = ranking(calls, phenotype, statistic=statistic, order=order)
    assert_same(ranking(calls, 1 - phenotype, statistic=statistic, order=order), expected)


@pytest.mark.parametrize("statistic", STATISTICS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_variants_in_another_order__keep_their_scores(statistic: str, seed: int) -> None:
    calls, phenotype = random_calls(seed, 8, 80), phenotype_of(statistic, seed, 80)
    order = np.random.default_rng(seed).permutation(8)
    column = {"mutual_information": "mi"}.get(statistic, statistic)
    here = ranking(calls, phenotype, statistic=statistic)
    there = ranking(calls[order], phenotype, statistic=statistic)
    members = order[there.variants.values]
    found = dict(zip(map(frozenset, members), there[column].values, strict=True))
    known = dict(zip(map(frozenset, here.variants.values), here[column].values, strict=True))
    assert found == known


@pytest.mark.parametrize("statistic", ["mutual_information", "f"])
def test_threads_chunks_and_sets__change_no_bit(statistic: str) -> None:
    calls, phenotype = random_calls(4, 30, 90), phenotype_of(statistic, 4, 90)
    expected = ranking(calls, phenotype, statistic=statistic)
    # Sets put the variants in another order for the search.
    sets = gb.EpistasisLimits(variants_0=range(15), variants_1=range(10, 30), min_n=0)
    within = ranking(calls, phenotype, sets, statistic=statistic)
    kept = [(m < 15).any() and (m >= 10).any() for m in expected.variants.values]
    one_set = expected.isel(rank=np.flatnonzero(kept))
    chosen = {tuple(m) for m in within.variants.values.tolist()}
    listed = [tuple(m) for m in one_set.variants.values.tolist() if tuple(m) in chosen]
    assert listed == [tuple(m) for m in within.variants.values.tolist()]
    for scheduler in ("sync", "threads"):
        with dask.config.set(scheduler=scheduler):
            other = cohort(calls, chunks=(30, 90)).genobit.epistasis(
                phenotype, top=1000, limits=gb.EpistasisLimits(min_n=0), statistic=statistic
            )
        assert_same(other, expected)


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    """Tables (2, 3, 3) of few and of many samples, some cells empty."""
    most = draw(st.sampled_from([1, 3, 30, 10_000]))
    return np.array(draw(st.lists(st.integers(0, most), min_size=18, max_size=18))).reshape(2, 3, 3)


def images(table: np.ndarray) -> list[np.ndarray]:
    """The table under all codings, orders of the variants and orders of the classes."""
    out = []
    for rows, columns, classes in itertools.product([1, -1], repeat=3):
        image = table[::classes, ::rows, ::columns]
        out += [image, image.swapaxes(1, 2)]
    return out


@pytest.mark.parametrize("statistic", STATISTICS[:-1])
@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_scores__of_mirror_images_are_the_same_bits(statistic: str, table: np.ndarray) -> None:
    many = np.stack([image.reshape(2, 9) for image in images(table)], axis=-1).astype(np.int32)
    found = scores.scores_of(many, NUMBERS[statistic], x_log_x(int(table.sum())))
    np.testing.assert_array_equal(found, found[0])


@settings(max_examples=60, deadline=None)
@given(table=tables(), seed=st.integers(0, 2**32))
def test_f__of_mirror_images_is_the_same_bits(table: np.ndarray, seed: int) -> None:
    n = table[0].astype(float)
    s = np.random.default_rng(seed).integers(-1000, 1000, (3, 3)) * n
    square = float((s * s).sum() + 1)
    found = []
    for rows, columns in itertools.product([1, -1], repeat=2):
        here = n[::rows, ::columns], s[::rows, ::columns]
        for pair in (here, (here[0].T, here[1].T)):
            found += [f_of_table(*map(np.ascontiguousarray, pair), square, -np.inf)]
    np.testing.assert_array_equal(found, [found[0]] * len(found))


def test_ties__go_to_the_lowest_positions_for_any_coding() -> None:
    # The same variant seven times, coded in either way: all pairs tie.
    one = random_calls(1, 1, 50)
    calls = recoded(np.repeat(one, 7, axis=0), np.array([1, 4, 5]))
    for statistic in STATISTICS[:-1]:
        top = ranking(calls, np.arange(50) % 2, statistic=statistic)
        assert top.variants.values.tolist() == [
            list(m) for m in itertools.combinations(range(7), 2)
        ]
