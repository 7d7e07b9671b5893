"""Tables of combinations of variants against samples counted one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genobit.kernels import epistasis
from genobit.kernels.combination_tables import block, by_class, fill
from genobit.kernels.combinations import combinations, numbered
from genobit.kernels.epistasis import search
from genobit.kernels.interaction_scores import GAIN, Rule
from genobit.kernels.rows import Rows
from genobit.kernels.table_scores import mutual_information, relative_chi2, x_log_x
from tests.reference import words_of

SPLITS = [(1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (1, 3)]


def rows_of(dosage: np.ndarray) -> Rows:
    called = dosage >= 0
    planes = (words_of(dosage >= 1), words_of(dosage == 2))
    return Rows(False, dosage.shape[1], planes, None if called.all() else words_of(called))


def cohort(
    seed: int, variants: int, samples: int, missing: float, classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Dosages, and classes interleaved, some samples in none."""
    rng = np.random.default_rng(seed)
    dosage = rng.integers(0, 3, (variants, samples))
    dosage[rng.random(dosage.shape) < missing] = -1
    return dosage, rng.integers(-1, classes, samples)


def table(
    dosage: np.ndarray, group: np.ndarray, members: tuple[int, ...], classes: int
) -> np.ndarray:
    """Samples (classes, 3^k) of the complete cases, one by one."""
    out = np.zeros((classes, *[3] * len(members)), int)
    for sample, label in enumerate(group):
        calls = dosage[list(members), sample]
        if label >= 0 and (calls >= 0).all():
            out[(label, *calls)] += 1
    return out.reshape(classes, -1)


def information(counts: np.ndarray) -> float:
    """Mutual information in nats, from the definition."""
    n = counts.sum()
    if n == 0:
        return math.nan
    total = 0.0
    for label, cell in zip(*np.nonzero(counts), strict=True):
        both = counts[label, cell]
        total += both / n * math.log(both * n / (counts[label].sum() * counts[:, cell].sum()))
    return total


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_combinations__stand_in_the_order_of_their_last_member(size: int) -> None:
    every = sorted(itertools.combinations(range(8), size), key=lambda members: members[::-1])
    assert [tuple(c) for c in combinations(0, len(every), size).tolist()] == every
    assert [numbered(k, size) for k in range(len(every))] == every
    assert combinations(3, 4, size).tolist() == [list(c) for c in every[3:7]]


@given(number=st.integers(0, 10**40), size=st.integers(1, 9))
def test_numbered__is_exact_for_any_number(number: int, size: int) -> None:
    members = numbered(number, size)
    assert list(members) == sorted(set(members))
    assert sum(math.comb(m, k + 1) for k, m in enumerate(members)) == number


@pytest.mark.parametrize("split", SPLITS)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32),
    samples=st.sampled_from([1, 31, 63, 64, 65, 130]),
    missing=st.sampled_from([0.0, 0.1, 1.0]),
    classes=st.integers(1, 3),
)
def test_tables__count_complete_cases_by_class(
    split: tuple[int, int], seed: int, samples: int, missing: float, classes: int
) -> None:
    p, q = split
    dosage, group = cohort(seed, 8, samples, missing, classes)
    first, last = combinations(0, math.comb(4, p), p), combinations(0, math.comb(4, q), q) + 4
    counted = block(by_class(rows_of(dosage), group, classes), first, last)
    found = np.empty((classes, 3 ** (p + q), len(last)), np.int32)
    for i, start in enumerate(first.tolist()):
        for c in range(classes):
            fill(
                i,
                counted.counts[c],
                counted.row_counts[c],
                counted.column_counts[c],
                counted.sizes[c],
                counted.rows,
                counted.columns,
                counted.row_places,
                counted.column_places,
                found[c],
            )
        for j, end in enumerate(last.tolist()):
            expected = table(dosage, group, (*start, *end), classes)
            np.testing.assert_array_equal(found[:, :, j], expected)


@given(seed=st.integers(0, 2**32), classes=st.integers(1, 3), most=st.sampled_from([1, 3, 50]))
def test_scores__are_the_definition_and_below_their_bound(
    seed: int, classes: int, most: int
) -> None:
    counts = np.random.default_rng(seed).integers(0, most + 1, (classes, 9, 6)).astype(np.int32)
    bounds = np.empty(6, np.float32)
    relative_chi2(counts, bounds)
    logarithms = x_log_x(int(counts.sum()))
    for k in range(6):
        score, n = mutual_information(counts, k, logarithms)
        assert n == counts[:, :, k].sum()
        expected = information(counts[:, :, k])
        np.testing.assert_allclose(score, expected, rtol=1e-12, atol=1e-13)
        if n:
            assert score <= math.log(float(bounds[k]) * (1 + 1e-5))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("top", [1, 3, 1000])
def test_search__finds_the_best_of_all(split: tuple[int, int], missing: float, top: int) -> None:
    p, q = split
    dosage, group = cohort(p + 10 * q, 9, 150, missing, 2)
    # Parts that overlap: only those that follow one another make a combination.
    first, last = combinations(0, math.comb(9, p), p), combinations(0, math.comb(9, q), q)
    found = search(by_class(rows_of(dosage), group, 2), first, last, top, 0.0)
    every = {
        members: information(table(dosage, group, members, 2))
        for members in itertools.combinations(range(9), p + q)
    }
    best = sorted(every.values(), reverse=True)[:top]
    scores = dict(zip(map(tuple, found.members.tolist()), found.scores.tolist(), strict=True))
    assert len(scores) == len(found.scores)
    np.testing.assert_allclose(sorted(scores.values(), reverse=True)[:top], best, rtol=1e-12)
    for members, score in scores.items():
        np.testing.assert_allclose(score, every[members], rtol=1e-12)


@pytest.mark.parametrize("split", [(2, 2), (3, 2), (1, 3)])
@pytest.mark.parametrize("missing", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("classes", [2, 3])
def test_search__sample_by_sample_is_that_by_tables(
    split: tuple[int, int], missing: float, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, q = split
    # Fewer samples than cells: the tables are put together sample by sample.
    dosage, group = cohort(p + 10 * q, 9, 60, missing, classes)
    planes = by_class(rows_of(dosage), group, classes)
    first, last = combinations(0, math.comb(9, p), p), combinations(0, math.comb(9, q), q)
    allowed = np.random.default_rng(1).random((len(first), len(last))) < 0.7
    for rule in (Rule(), Rule(min_n=20), Rule(statistic=GAIN)):
        for threshold in (0.0, 0.2):
            dealt = search(planes, first, last, 10, threshold, allowed, rule)
            with monkeypatch.context() as patch:
                patch.setattr(epistasis, "DENSE", 3**9)
                by_tables = search(planes, first, last, 10, threshold, allowed, rule)
            assert ranking(dealt) == ranking(by_tables)


def ranking(found: epistasis.Best) -> list[tuple[float, tuple[int, ...]]]:
    """The ten best, to the last bit."""
    members = map(tuple, found.members.tolist())
    return sorted(zip((-found.scores).tolist(), members, strict=True))[:10]
