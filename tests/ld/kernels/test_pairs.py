"""Pairs whose r2 is at least a minimum, against all pairs looked at one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.options import set_options
from genobit.engine.simd.count_lanes import RATIO_LANES, abs_ge_mask, load_ratios, splat_ratio
from genobit.engine.simd.jit import njit
from genobit.engine.simd.vector import multiply_add
from genobit.ld.kernels import pairs
from tests.helpers.cohorts import random_calls
from tests.helpers.reference import words_of
from tests.helpers.sized import KERNELS, sized
from tests.helpers.windows import rows_of as calls_as_rows
from tests.helpers.windows import window
from tests.ld.kernels import ld_square


def alike(variants: int, bits: int, seed: int, share: float) -> np.ndarray:
    """Haplotypes of neighbours that differ in a share of the bits; some with one allele."""
    rng = np.random.default_rng(seed)
    x = np.empty((variants, bits), bool)
    x[0] = rng.uniform(size=bits) < 0.4
    for i in range(1, variants):
        x[i] = x[i - 1] ^ (rng.uniform(size=bits) < share)
    x[rng.uniform(size=variants) < 0.1] = False
    x[rng.uniform(size=variants) < 0.05] = True
    return x


def rows_of(x: np.ndarray) -> PlaneRows:
    return PlaneRows(True, x.shape[1], (words_of(x),), None)


def one_by_one(x: np.ndarray, last: np.ndarray, minimum: float) -> list[tuple[int, int]]:
    """Every pair of the window, by numpy's own correlation of two rows."""
    found = []
    for i in range(len(x)):
        for j in range(i + 1, last[i] + 1):
            if 0 < x[i].sum() < len(x[i]) and 0 < x[j].sum() < len(x[j]):
                r = np.corrcoef(x[i], x[j])[0, 1]
                if np.float32(r * r) >= np.float32(minimum):
                    found.append((i, j))
    return found


@given(
    variants=st.sampled_from(sized([1, 2, 40, 90], [1, 2, 20])),
    # Counts of 16 bits hold 32,767.
    bits=st.sampled_from(sized([30, 64, 511, 32_767, 32_768], [30, 64, 511])),
    reach=st.sampled_from([0, 1, 20, 200]),
    minimum=st.sampled_from([0.0, 0.1, 0.5, 0.97]),
    share=st.sampled_from([0.005, 0.1]),
    seed=st.integers(0, 2**16),
    cut=st.integers(1, sized(90, 20)),
)
def test_pairs__are_those_found_one_by_one(
    variants: int, bits: int, reach: int, minimum: float, share: float, seed: int, cut: int
) -> None:
    x = alike(variants, bits, seed, share)
    rows, last = rows_of(x), window(variants, reach, seed)
    wanted = one_by_one(x, last, minimum)
    square = ld_square("r", rows)
    for kernel in KERNELS:
        with set_options(kernel=kernel):
            i, j, r = pairs.pairs(rows, None, last, 0, minimum)
            assert list(zip(i.tolist(), j.tolist(), strict=True)) == wanted, kernel
            assert r.astype(np.float32).tobytes() == square[i, j].tobytes()
            if cut < variants:
                i, j, _ = pairs.pairs(
                    rows.part(0, cut), rows.part(cut, variants), last[:cut] - cut, cut, minimum
                )
                across = [pair for pair in wanted if pair[0] < cut <= pair[1]]
                assert list(zip(i.tolist(), (j + cut).tolist(), strict=True)) == across, kernel


@given(
    seed=st.integers(0, 2**16),
    variants=st.sampled_from(sized([2, 45, 80], [2, 20])),
    samples=st.sampled_from(sized([3, 40, 500], [3, 40])),
    minimum=st.sampled_from([0.0, 1e-12, 0.05, 1.0]),
)
def test_pairs_of_dosages__are_those_of_the_square(
    seed: int, variants: int, samples: int, minimum: float
) -> None:
    calls = random_calls(seed, variants, samples)
    calls[1] = calls[0]
    rows, last = calls_as_rows(calls, haploid=False), window(variants, 50, seed)
    square = ld_square("r", rows)
    for kernel in KERNELS:
        with set_options(kernel=kernel):
            i, j, r = pairs.pairs(rows, None, last, 0, minimum)
            found = set(zip(i.tolist(), j.tolist(), strict=True))
            assert r.astype(np.float32).tobytes() == square[i, j].tobytes()
            everything, *_ = pairs.pairs(rows, None, last, 0, 0.0)
            for a in range(variants):
                for b in range(a + 1, last[a] + 1):
                    near = abs(float(square[a, b]) ** 2 - minimum) < 1e-6
                    assert near or ((a, b) in found) == (square[a, b] ** 2 >= minimum), kernel
            assert len(everything) == sum(
                int(np.isfinite(square[a, a + 1 : last[a] + 1]).sum()) for a in range(variants)
            )


@pytest.mark.parametrize("n", [60, 5_000, 2**20 + 7, 2**30])
def test_a_pair_at_the_minimum__is_not_lost(n: int) -> None:
    rng, columns = np.random.default_rng(n), 2 * pairs.STRETCH
    for _ in range(sized(400, 40)):
        x, y = rng.integers(1, n, 1).astype(float), rng.integers(1, n, columns).astype(float)
        scale_x, scale_y = 1 / np.sqrt(x * (n - x)), 1 / np.sqrt(y * (n - y))
        # All others have the count that chance gives: the stretch stands or falls with this one.
        k, counts = int(rng.integers(columns)), np.rint(x * y / n).astype(np.int32)[None]
        least, most = max(0, x[0] + y[k] - n), min(x[0], y[k])
        counts[0, k] = rng.integers(least, most + 1)
        r = (n * float(counts[0, k]) - x[0] * y[k]) * (scale_x[0] * scale_y[k])
        found, kept = np.empty((2, columns), np.int64), np.empty(columns)
        count = pairs._collect_counts(
            counts,
            float(n),
            (x, scale_x),
            (y, scale_y),
            0,
            0,
            np.array([columns - 1]),
            1,
            min(np.float32(r * r), np.float32(1)),
            found,
            kept,
        )
        assert k in found[1, :count]


@njit
def _in_lanes(counts: np.ndarray, x: np.ndarray, least: float) -> tuple[int, int]:
    three, own = splat_ratio(np.float32(3.0)), load_ratios(x, 0)
    a = multiply_add(three, load_ratios(counts, 1), load_ratios(x, 1))
    return abs_ge_mask(a, splat_ratio(np.float32(least))), abs_ge_mask(own, own)


@pytest.mark.parametrize("kind", [np.int16, np.int32])
def test_reaching__is_of_sizes(kind: type) -> None:
    rng = np.random.default_rng(2)
    counts = rng.integers(-99, 99, RATIO_LANES + 1).astype(kind)
    x = np.abs(rng.normal(0, 50, RATIO_LANES + 1)).astype(np.float32)
    x[1] = -7
    x[3] = np.nan
    wanted = np.abs(3.0 * counts + x)[1:] >= 100.0
    assert 0 < wanted.sum() < RATIO_LANES
    reached, itself = _in_lanes(counts, x, 100.0)
    assert reached == sum(1 << k for k in range(RATIO_LANES) if wanted[k])
    # The size of a negative number is above it; NaN reaches nothing.
    assert itself == (1 << RATIO_LANES) - 1 - (1 << 3)
