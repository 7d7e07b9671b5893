from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.options import set_options
from genobit.ld.kernels import pairs
from tests.helpers.cohorts import TAILS, random_calls
from tests.helpers.reference import banded, dosages, haplotypes, linkage_matrix
from tests.helpers.sized import KERNELS, sized
from tests.helpers.windows import rows_of, window
from tests.ld.kernels import ld_band, ld_square

# Values are rounded once, to float32 (2**-24); the oracle's float64 sums are good to 1e-12.
TOLERANCE = {"rtol": 1e-6, "atol": 1e-7}


def values_of(calls: np.ndarray, *, haploid: bool) -> np.ndarray:
    return haplotypes(calls) if haploid else dosages(calls)


def statistics(haploid: bool) -> tuple[str, ...]:
    return ("r", "r2", "D", "dprime") if haploid else ("r", "r2")


@given(
    seed=st.integers(0, 2**32),
    variants=st.integers(1, 9),
    samples=st.sampled_from(TAILS),
    missing=st.sampled_from([0.0, 0.1, 0.7, 1.0]),
    haploid=st.booleans(),
)
def test_square__equals_the_reference(
    seed: int, variants: int, samples: int, missing: float, haploid: bool
) -> None:
    calls = random_calls(seed, variants, samples, missing=missing)
    rows = rows_of(calls, haploid=haploid)
    for statistic in statistics(haploid):
        right = linkage_matrix(statistic, values_of(calls, haploid=haploid))
        found = [None] * len(KERNELS)
        for k, kernel in enumerate(KERNELS):
            with set_options(kernel=kernel):
                found[k] = ld_square(statistic, rows)
            assert found[k].tobytes() == found[0].tobytes()
        assert found[0].dtype == np.float32
        np.testing.assert_allclose(found[0], right, **TOLERANCE)
        np.testing.assert_array_equal(found[0], found[0].T)


@pytest.mark.parametrize("haploid", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("kernel", KERNELS)
def test_square__of_more_rows_than_a_block(haploid: bool, missing: float, kernel: str) -> None:
    n = sized(600, 70)
    calls = random_calls(5, n, 40, missing=missing)
    rows = rows_of(calls, haploid=haploid)
    with set_options(kernel=kernel):
        square = ld_square("r2", rows)
        rectangle = ld_square("r2", rows, rows)
    assert square.tobytes() == rectangle.tobytes()
    picked = np.r_[0, sized(np.r_[84:87, 169:172, 255:258, 511:514], np.r_[31:34, 63:66]), n - 1]
    right = linkage_matrix("r2", values_of(calls, haploid=haploid)[picked])
    np.testing.assert_allclose(square[np.ix_(picked, picked)], right, **TOLERANCE)


@pytest.mark.parametrize("haploid", [True, False])
def test_square__does_not_depend_on_whether_completeness_is_known(haploid: bool) -> None:
    calls = random_calls(8, 50, 100)
    gappy = random_calls(9, 50, 100, missing=0.1)
    for statistic in statistics(haploid):
        known = ld_square(statistic, rows_of(calls, haploid=haploid, called=False))
        found = ld_square(statistic, rows_of(calls, haploid=haploid))
        assert found.tobytes() == known.tobytes()
        # A complete tile beside a gappy one takes the way of six counts, and the same arithmetic.
        both = rows_of(np.concatenate([calls, gappy]), haploid=haploid)
        assert ld_square(statistic, both)[:50, :50].tobytes() == known.tobytes()
        mixed = ld_square(
            statistic,
            rows_of(calls, haploid=haploid, called=False),
            rows_of(gappy, haploid=haploid),
        )
        assert mixed.tobytes() == ld_square(statistic, both)[:50, 50:].tobytes()


@pytest.mark.parametrize("haploid", [True, False])
def test_diagonal_is_one_and_monomorphic_rows_are_not_a_number(haploid: bool) -> None:
    calls = random_calls(8, 60, 33, missing=0.1)
    values = values_of(calls, haploid=haploid)
    varies = np.array([np.unique(v[~np.isnan(v)]).size > 1 for v in values])
    assert 0 < varies.sum() < 60
    for statistic in {"r", "r2"} | ({"dprime"} if haploid else set()):
        square = ld_square(statistic, rows_of(calls, haploid=haploid))
        np.testing.assert_array_equal(np.diag(square), np.where(varies, np.float32(1), np.nan))
        assert np.isnan(square[~varies]).all()
        assert np.nanmax(np.abs(square)) <= 1


@pytest.mark.filterwarnings("error")
def test_everything_missing_is_silent() -> None:
    calls = np.full((3, 70, 2), -1, np.int8)
    for haploid in (True, False):
        for statistic in statistics(haploid):
            assert np.isnan(ld_square(statistic, rows_of(calls, haploid=haploid))).all()


@given(
    seed=st.integers(0, 2**16),
    n=st.sampled_from(sized([1, 2, 60, 130, 400], [1, 2, 40])),
    reach=st.sampled_from([0, 1, 40, 1000]),
    haploid=st.booleans(),
    missing=st.sampled_from([0.0, 0.1]),
    cut=st.integers(1, 400),
)
def test_band_and_pairs__equal_the_square(
    seed: int, n: int, reach: int, haploid: bool, missing: float, cut: int
) -> None:
    rows = rows_of(random_calls(seed, n, 40, missing=missing), haploid=haploid)
    last = window(n, reach, seed)
    inside = {(i, j) for i in range(n) for j in range(i + 1, last[i] + 1)}
    square = ld_square("r2", rows)
    right = banded(square, inside)
    head = min(cut, n)
    stop = int(last[head - 1]) + 1
    found = ld_band("r2", rows.part(0, head), rows.part(0, stop), last[:head], right.shape[1])
    np.testing.assert_array_equal(found, right[:head])

    i, j, r = pairs.pairs(rows, None, last, 0, 0.3)
    wanted = sorted((i, j) for i, j in inside if square[i, j] >= np.float32(0.3))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == wanted
    assert (r * r).astype(np.float32).tobytes() == square[i, j].tobytes()

    if head < n:
        i, j, r = pairs.pairs(rows.part(0, head), rows.part(head, n), last[:head] - head, head, 0.3)
        found_pairs = list(zip(i.tolist(), (j + head).tolist(), strict=True))
        assert found_pairs == [(i, j) for i, j in wanted if i < head <= j]


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_entered_from_eight_threads_at_once(kernel: str) -> None:
    rows = rows_of(random_calls(3, sized(300, 20), 65, missing=0.05), haploid=True)
    with set_options(kernel=kernel):
        right = ld_square("dprime", rows).tobytes()
        with ThreadPoolExecutor(8) as pool:
            found = pool.map(lambda _: ld_square("dprime", rows).tobytes(), range(16))
            assert all(bits == right for bits in found)


def test_r__keeps_its_digits_with_two_million_haplotypes() -> None:
    # n^2 is 4e12, and sums of products must still be exact in float64.
    n = sized(2_000_000, 200_000)
    rng = np.random.default_rng(1)
    x = rng.uniform(size=n) < 0.5
    y = x ^ (rng.uniform(size=n) < 1e-5)
    words = np.stack([np.packbits(v, bitorder="little").view(np.uint64) for v in (x, y)])
    rows = PlaneRows(True, n, (words,), None)
    right = np.corrcoef(x, y)[0, 1]
    np.testing.assert_allclose(ld_square("r", rows)[0, 1], right, rtol=1e-7)
