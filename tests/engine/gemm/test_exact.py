"""Sums of standardised dosages: exact integers in any chunks and tiles, and their error."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.gemm import exact, listed_sums, matrix_unit
from tests.helpers.reference import standardised_products, words_of
from tests.helpers.sized import sized

ERROR = 1e-12
"""Of the largest entry."""


def planes(dosages: np.ndarray) -> PlaneRows:
    """Planes of dosages (samples, variants), -1 where missing."""
    called = words_of(dosages >= 0) if (dosages < 0).any() else None
    return PlaneRows(
        haplotypes=False,
        bits=dosages.shape[1],
        planes=(words_of(dosages >= 1), words_of(dosages == 2)),
        called=called,
    )


def drawn_dosages(
    seed: int, samples: int, variants: int, missing: float
) -> tuple[np.ndarray, np.ndarray]:
    """Dosages (samples, variants) of rare and common alleles, and the samples' frequencies."""
    rng = np.random.default_rng(seed)
    p = 10 ** rng.uniform(-3, -0.3, variants)
    dosages = rng.binomial(2, p, (samples, variants))
    dosages[rng.random(dosages.shape) < missing] = -1
    called = (dosages >= 0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return dosages, np.maximum(dosages, 0).sum(axis=0) / (2 * called)


def whole(sums: np.ndarray) -> np.ndarray:
    """The sums as Python integers: their halves depend on chunks and methods."""
    low, high = sums.astype(object)
    return high * 2**32 + low


def assert_within(found: np.ndarray, right: object) -> None:
    values = np.array(right, float)
    np.testing.assert_allclose(found, values, rtol=0, atol=ERROR * abs(values).max())


@given(
    samples=st.integers(1, sized(70, 34)),
    variants=st.one_of(st.sampled_from([1, 63, 64, 65, 127, 128]), st.integers(1, 200)),
    missing=st.sampled_from([0, 0.01, 0.03, 0.1, 0.9]),
    seed=st.integers(0, 2**32),
)
def test_gram__is_right_and_the_same_in_any_chunks_and_tiles(
    samples: int, variants: int, missing: float, seed: int
) -> None:
    dosages, frequency = drawn_dosages(seed, samples, variants, missing)
    rows = planes(dosages)
    found = exact.gram([(rows, None, frequency)])
    right = standardised_products(dosages, np.nan_to_num(frequency))
    assert_within(exact.total(found), right)
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, variants + 1, 2))
    parts = np.split(np.arange(variants), cuts)
    chunks = [(planes(dosages[:, k]), None, frequency[k]) for k in parts if k.size]
    np.testing.assert_array_equal(whole(exact.gram(chunks)), whole(found))
    np.testing.assert_array_equal(exact.total(exact.gram(chunks)), exact.total(found))
    if samples > 1:
        half = samples // 2
        a, b = rows.part(0, half), rows.part(half, samples)
        np.testing.assert_array_equal(
            whole(exact.gram([(a, b, frequency)])), whole(found)[:half, half:], strict=True
        )


def test_gram__of_several_blocks_of_rows_columns_and_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dosages, frequency = drawn_dosages(3, sized(150, 70), 320, 0.05)
    right = exact.gram([(planes(dosages), None, frequency)])
    monkeypatch.setattr(exact, "MOST_WORDS", 2)
    monkeypatch.setattr(exact, "MOST_ROWS", 64)
    monkeypatch.setattr(exact, "MOST_COLUMNS", 96)
    found = exact.gram([(planes(dosages), None, frequency)])
    np.testing.assert_array_equal(whole(found), whole(right))
    p = np.nan_to_num(frequency)
    spread = np.sqrt(np.where((p > 0) & (p < 1), 2 * p * (1 - p), np.inf))
    z = np.where(dosages >= 0, (dosages - 2 * p) / spread, 0)
    assert_within(exact.total(right), z @ z.T)


def test_gram__is_the_same_by_lists_of_missing_calls_and_by_digits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Two strips of 64 rows, and three blocks of 1,024 variants or two of 128.
    monkeypatch.setattr(listed_sums, "WORDS", sized(16, 2))
    dosages, frequency = drawn_dosages(5, 66, sized(2100, 130), 0.02)
    dosages[3] = -1
    rows = planes(dosages)
    halves = rows.part(0, 65), rows.part(65, 66)
    full = planes(np.maximum(dosages[:7], 0))
    filled = full._replace(called=full.call_mask())

    def sums(few: float) -> list[np.ndarray]:
        monkeypatch.setattr(exact, "FEW", few)
        pairs = (rows, None), halves, halves[::-1], (rows, full), (full, rows), (filled, rows)
        return [whole(exact.gram([(a, b, frequency)])) for a, b in pairs]

    for listed, by_digits in zip(sums(1), sums(-1), strict=True):
        np.testing.assert_array_equal(listed, by_digits, strict=True)


@pytest.mark.parametrize("bits", [20, 47, 53, 55])
def test_add_unlisted__sums_weights_of_any_size_that_fits(bits: int) -> None:
    rng = np.random.default_rng(bits)
    variants = sized(1100, 300)
    dosages = rng.integers(-1, 3, (3, variants))
    dosages[0] = 2
    largest = 2**bits - 1
    weights = rng.integers(-largest, largest, (3, variants), endpoint=True)
    weights[2] = largest
    listed = rng.random((5, variants)) < 0.5
    out = np.ones((2, 3, 5), np.int64)
    listed_sums.add_unlisted(planes(dosages), words_of(listed), weights, False, out)
    of_calls = np.where(dosages < 0, 0, weights.astype(object)[dosages, np.arange(variants)])
    right = of_calls @ (~listed).T.astype(object) + 2**32 + 1
    np.testing.assert_array_equal(whole(out), right)
    assert listed_sums.added_bits(weights) == bits


@pytest.mark.parametrize(("rows", "variants"), [(0, 5), (3, 0), (0, 0)])
def test_gram__of_nothing_is_zero(rows: int, variants: int) -> None:
    calls = planes(np.zeros((rows, variants), int))
    for few in calls, calls._replace(called=calls.call_mask()):
        found = exact.gram([(few, None, np.zeros(variants))])
        np.testing.assert_array_equal(found, np.zeros((2, rows, rows), np.int64), strict=True)


def test_total__has_the_same_bits_for_any_halves_of_a_sum() -> None:
    # A float cannot hold these lower halves.
    low = np.array([[2**60 + 1, -(2**61) - 3, 2**53 + 1]])
    carry = low >> 32
    sums = np.stack([low, np.full_like(low, 7)])
    others = np.stack([low - (carry << 32), 7 + carry])
    np.testing.assert_array_equal(whole(sums), whole(others))
    np.testing.assert_array_equal(exact.total(sums), exact.total(others))
    right = [[float(value * Fraction(1, 2**exact.FRACTION)) for value in whole(sums)[0]]]
    np.testing.assert_array_equal(exact.total(sums), right)


def test_gram__of_the_largest_weights_that_fit(unit_by_twin: pytest.MonkeyPatch) -> None:
    # The second half of the samples has the alleles that the frequencies call rare.
    dosages, _ = drawn_dosages(4, 40, 100, 0)
    dosages[20:] = 2
    smallest = 1 / exact.LARGEST
    given = np.full(100, 1.0001 * smallest)
    assert exact.pays(given, 40)
    assert not exact.pays(given * 0.99 / 1.0001, 40)
    assert_within(
        exact.total(exact.gram([(planes(dosages), None, given)])),
        standardised_products(dosages, given),
    )
    assert exact.pays(None, 2**19)
    assert not exact.pays(None, 2**20)
    assert exact.pays(np.array([0.0, 1.0]), 40)
    unit_by_twin.setattr(matrix_unit, "permitted", lambda: False)
    matrix_unit.usable.cache_clear()
    assert not exact.pays(None, 40)
