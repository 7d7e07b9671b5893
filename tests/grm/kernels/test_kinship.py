from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.options import set_options
from genobit.grm.kernels import kinship as relatives
from genobit.grm.kernels.missing_overlaps import missing_overlaps
from tests.helpers.cohorts import TAILS, random_calls
from tests.helpers.reference import and_counts, dosages, relatives_matrices, words_of
from tests.helpers.sized import KERNELS, sized

# The formulas as published round a few times more.
TOLERANCE = {"rtol": 1e-13, "atol": 1e-14}


def rows_of(values: np.ndarray, *, called: bool = True) -> PlaneRows:
    """Planes of dosages (samples, variants)."""
    present = words_of(~np.isnan(values)) if called else None
    return PlaneRows(
        False, values.shape[1], (words_of(values >= 1), words_of(values == 2)), present
    )


def samples_of(seed: int, samples: int, variants: int, missing: float) -> np.ndarray:
    return dosages(random_calls(seed, variants, samples, missing=missing)).T


def found(
    chunks: list[tuple[PlaneRows, PlaneRows | None]], a: int, b: int | None = None
) -> np.ndarray:
    """What the kernels give, as `relatives_matrices`."""
    counted = relatives.sums(chunks, "THh", np.int32)
    first = np.arange(a)
    second = first if b is None else a + np.arange(b)
    shared = relatives.shared(counted, first, second)
    kinship = relatives.kinship(counted, first, second)
    np.testing.assert_array_equal(shared["kinship"], kinship)
    np.testing.assert_array_equal(shared["variants"], relatives.called(counted))
    ibs = relatives.identity_by_state(counted)
    return np.stack([kinship, ibs, shared["ibs0"], shared["variants"]])


@given(
    seed=st.integers(0, 2**32),
    samples=st.integers(1, 9),
    others=st.integers(1, 9),
    variants=st.sampled_from(TAILS),
    missing=st.sampled_from([0.0, 0.01, 0.1, 0.6, 1.0]),
)
def test_counts__equal_the_reference(
    seed: int, samples: int, others: int, variants: int, missing: float
) -> None:
    values = samples_of(seed, samples + others, variants, missing)
    a, b = values[:samples], values[samples:]
    results = []
    for kernel in KERNELS:
        with set_options(kernel=kernel):
            square = found([(rows_of(a), None)], samples)
            rectangle = found([(rows_of(a), rows_of(b))], samples, others)
        results.append((square.tobytes(), rectangle.tobytes()))
    assert len(set(results)) == 1
    np.testing.assert_allclose(square, relatives_matrices(a), **TOLERANCE)
    np.testing.assert_allclose(rectangle, relatives_matrices(a, b), **TOLERANCE)
    # Opposite homozygotes and variants are integers over integers, without another rounding.
    np.testing.assert_array_equal(rectangle[2:], relatives_matrices(a, b)[2:])


@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(0, 200), max_size=4).map(sorted),
    square=st.booleans(),
)
def test_chunks__give_the_same_bits(seed: int, cuts: list[int], square: bool) -> None:
    values = samples_of(seed, 12, 200, 0.02)
    # Some chunks miss no call, so that both ways of counting are added up.
    values[:, 64:128] = np.nan_to_num(values[:, 64:128], nan=1)
    a, b = values[:5], values[5:]
    edges = sorted({0, 64, 128, 200, *cuts})
    parts = list(pairwise(edges))

    def rows(x: np.ndarray, start: int, stop: int) -> PlaneRows:
        part = x[:, start:stop]
        return rows_of(part, called=bool(np.isnan(part).any()))

    if square:
        chunks = [(rows(values, *part), None) for part in parts]
        expected = found([(rows_of(values), None)], 12)
        assert found(chunks, 12).tobytes() == expected.tobytes()
    else:
        chunks = [(rows(a, *part), rows(b, *part)) for part in parts]
        expected = found([(rows_of(a), rows_of(b))], 5, 7)
        assert found(chunks, 5, 7).tobytes() == expected.tobytes()


@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 5),
    columns=st.sampled_from([1, 2, 63, 64, 65, 130]),
    variants=st.sampled_from(TAILS),
    missing=st.sampled_from([0.0, 0.01, 0.5, 1.0]),
)
def test_missing_overlaps__equal_products(
    seed: int, rows: int, columns: int, variants: int, missing: float
) -> None:
    rng = np.random.default_rng(seed)
    lost = rng.uniform(size=(rows + columns, variants)) < missing
    a, b = lost[:rows], lost[rows:]
    hets = (rng.uniform(size=b.shape) < 0.4) & ~b
    found = missing_overlaps(words_of(a), words_of(hets), words_of(b))
    np.testing.assert_array_equal(found[0], and_counts(a, hets))
    np.testing.assert_array_equal(found[1], and_counts(a, b))


@pytest.mark.compiled("70,000 variants one by one take half a minute")
def test_missing_overlaps__of_more_than_16_bits() -> None:
    a, hets = np.ones((2, 70_000), bool), np.ones((3, 70_000), bool)
    found = missing_overlaps(words_of(a), words_of(hets), words_of(hets))
    assert (np.stack(found) == 70_000).all()


@pytest.mark.parametrize("square", [True, False])
def test_lists_and_products__agree(square: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    values = samples_of(5, *sized((20, 700), (7, 300)), 0.01)
    a, b = rows_of(values), None if square else rows_of(values[::-1])
    counts = []
    for few in (0.0, 1.0):
        monkeypatch.setattr(relatives, "FEW", few)
        counts.append(relatives.sums([(a, b)], "THh", np.int32))
    for left, right in zip(*counts, strict=True):
        np.testing.assert_array_equal(left, right)


def test_no_heterozygous_calls__no_kinship() -> None:
    values = np.array([[0.0, 2, 2, 0], [1, 1, 1, 1], [0, 2, 1, 1]])
    kinship = found([(rows_of(values), None)], 3)[0]
    assert np.isnan(kinship[0, 1:]).all()
    assert (np.diag(kinship) == 0.5).all()
    # All heterozygous against two of four: (2 - 0) / 4 + 1/2 - 6 / 8.
    assert kinship[1, 2] == 0.25


def test_no_common_call__nothing() -> None:
    values = np.array([[1.0, np.nan], [np.nan, 1.0]])
    kinship, ibs, opposite, variants = found([(rows_of(values), None)], 2)
    assert kinship[0, 1] != kinship[0, 1]
    assert ibs[0, 1] != ibs[0, 1]
    assert opposite[0, 1] != opposite[0, 1]
    np.testing.assert_array_equal(variants, np.eye(2))
    assert (np.diag(ibs) == 1).all()


def test_identical_samples__are_twins() -> None:
    one = samples_of(3, 1, 500, 0.1)
    kinship, ibs, opposite, _ = found([(rows_of(one), rows_of(one))], 1, 1)
    assert kinship[0, 0] == 0.5
    assert ibs[0, 0] == 1
    assert opposite[0, 0] == 0


def test_sums__hold_more_than_32_bits() -> None:
    a = rows_of(np.ones((2, 3)), called=False)
    counted = relatives.sums([(a, None)], "THh", np.int64)
    huge = relatives.Sums(*(None if part is None else part * 2**31 for part in counted))
    assert relatives.kinship(huge, np.arange(2), np.arange(2) + 2).tolist() == [[0.5, 0.5]] * 2
    assert (relatives.identity_by_state(huge) == 1).all()


def test_what_was_not_counted__is_refused() -> None:
    counted = relatives.sums([(rows_of(np.ones((2, 3))), None)], "", np.int32)
    with pytest.raises(ValueError, match="needs the counts T and h"):
        relatives.kinship(counted, np.arange(2), np.arange(2))
    with pytest.raises(ValueError, match="needs the counts T and H"):
        relatives.identity_by_state(counted)


def test_threads__give_the_same() -> None:
    samples, variants = sized((60, 3000), (9, 200))
    rows = rows_of(samples_of(1, samples, variants, 0.01))
    expected = found([(rows, None)], samples).tobytes()
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(found, [(rows, None)], samples) for _ in range(8)]
        assert all(job.result().tobytes() == expected for job in jobs)
