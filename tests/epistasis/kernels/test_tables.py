"""Tables of combinations of variants against samples counted one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.gemm.scratch import Scratch
from genobit.engine.simd.count_lanes import COUNT_LANES
from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels import search as epistasis
from genobit.epistasis.kernels.combinations import combinations, numbered
from genobit.epistasis.kernels.contingency_tables import Chunk, fill, flat, room, share
from genobit.epistasis.kernels.search import search
from genobit.epistasis.kernels.statistics import GAIN, Rule
from genobit.epistasis.kernels.tables import Block, block, by_class
from tests.epistasis.twins import information
from tests.helpers.reference import words_of
from tests.helpers.sized import sized

SPLITS = [(1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (1, 3)]


def rows_of(dosage: np.ndarray) -> PlaneRows:
    called = dosage >= 0
    planes = (words_of(dosage >= 1), words_of(dosage == 2))
    return PlaneRows(False, dosage.shape[1], planes, None if called.all() else words_of(called))


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


@njit
def filled(row: int, counted: Block, start: int, chunk: Chunk) -> None:
    """`fill` as a search calls it."""
    fill(row, start, flat(counted, chunk))


@pytest.mark.parametrize("split", SPLITS)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32),
    samples=st.sampled_from([1, 31, 63, 64, 65, 130]),
    missing=st.sampled_from([0.0, 0.1, 1.0]),
    classes=st.integers(1, 3),
    wide=st.booleans(),
)
def test_tables__count_complete_cases_by_class(
    split: tuple[int, int], seed: int, samples: int, missing: float, classes: int, wide: bool
) -> None:
    p, q = split
    dosage, group = cohort(seed, 8, samples, missing, classes)
    first, last = combinations(0, math.comb(4, p), p), combinations(0, math.comb(4, q), q) + 4
    counted = block(by_class(rows_of(dosage), group, classes), first, last)
    chunk = room(counted)
    assert chunk.tables.dtype == np.int16
    if wide:
        chunk = Chunk(*(part.astype(np.int32) for part in chunk[:2]), *chunk[2:])
    width = chunk.tables.shape[-1]
    for begin in range(0, len(last), width):
        share(counted, chunk, begin)
        for i, start in enumerate(first.tolist()):
            filled(i, counted, begin, chunk)
            found = chunk.tables.reshape(classes, -1, width)
            for j, end in enumerate(last[begin : begin + width].tolist()):
                expected = table(dosage, group, (*start, *end), classes)
                np.testing.assert_array_equal(found[:, :, j], expected)


def test_tables__of_more_subsets_than_a_register_has_lanes() -> None:
    dosage, group = cohort(1, 44, 70, 0.0, 2)
    first, last = combinations(0, 3, 2), combinations(0, math.comb(41, 2), 2) + 3
    counted = block(by_class(rows_of(dosage), group, 2), first, last)
    assert counted.columns.subsets.max() > COUNT_LANES
    chunk = room(counted)
    width = chunk.tables.shape[-1]
    for begin in range(0, len(last), width):
        share(counted, chunk, begin)
        filled(1, counted, begin, chunk)
        found = chunk.tables.reshape(2, -1, width)
        for j, end in enumerate(last[begin : begin + width].tolist()):
            expected = table(dosage, group, (*first[1].tolist(), *end), 2)
            np.testing.assert_array_equal(found[:, :, j], expected)


@pytest.mark.parametrize("most", [0, 2**21])
def test_block__keeps_what_is_made_of_first_parts_until_there_are_others(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("genobit.epistasis.kernels.tables.KEPT_BYTES", most)
    dosage, group = cohort(2, 12, 40, 0.0, 2)
    classes, scratch = by_class(rows_of(dosage), group, 2), Scratch()
    other = by_class(rows_of(dosage[::-1]), group, 2)
    firsts = [combinations(k, 4, 2) for k in (0, 0, 3)]
    lasts = [combinations(0, n, 2) + 6 for n in (15, 3, 15)]
    for planes in (classes, other, classes):
        for first, last in zip(firsts, lasts, strict=True):
            found, right = block(planes, first, last, scratch), block(planes, first, last)
            rows, columns = right.rows.starts[-1], right.columns.starts[-1]
            np.testing.assert_array_equal(
                found.counts[:, :rows, :columns], right.counts[:, :rows, :columns]
            )
            np.testing.assert_array_equal(found.row_counts, right.row_counts)
            np.testing.assert_array_equal(room(found, scratch).sources, room(right).sources)


def test_room__of_large_classes_is_of_32_bits() -> None:
    dosage, group = cohort(1, 4, 2**15 + 1, 0.0, 1)
    ends = combinations(0, 2, 1)
    counted = block(by_class(rows_of(dosage), np.abs(group), 2), ends, ends + 2)
    assert counted.sizes.max() < 2**15
    assert room(counted).tables.dtype == np.int16
    counted = block(by_class(rows_of(dosage), np.zeros_like(group), 1), ends, ends + 2)
    assert room(counted).tables.dtype == np.int32


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("top", sized([1, 3, 1000], [3]))
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
@pytest.mark.parametrize("missing", sized([0.0, 0.1, 0.6], [0.1]))
@pytest.mark.parametrize("classes", [2, 3])
def test_search__sample_by_sample_is_that_by_tables(
    split: tuple[int, int], missing: float, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, q = split
    # Fewer samples than cells: the tables are put together sample by sample.
    variants = sized(9, 5)
    dosage, group = cohort(p + 10 * q, variants, 60, missing, classes)
    planes = by_class(rows_of(dosage), group, classes)
    first = combinations(0, math.comb(variants, p), p)
    last = combinations(0, math.comb(variants, q), q)
    allowed = np.random.default_rng(1).random((len(first), len(last))) < 0.7
    for rule in (Rule(), Rule(min_n=20), Rule(statistic=GAIN)):
        for threshold in (0.0, 0.2):
            dealt = search(planes, first, last, 10, threshold, allowed, rule=rule)
            with monkeypatch.context() as patch:
                patch.setattr(epistasis, "DENSE", 3**9)
                by_tables = search(planes, first, last, 10, threshold, allowed, rule=rule)
            assert ranking(dealt) == ranking(by_tables)


def ranking(found: epistasis.Best) -> list[tuple[float, tuple[int, ...]]]:
    """The ten best, to the last bit."""
    members = map(tuple, found.members.tolist())
    return sorted(zip((-found.scores).tolist(), members, strict=True))[:10]
