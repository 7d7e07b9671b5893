"""Sums with values for each call: tables of sums, and corrections for missing calls."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.gemm.weighted import add_products
from genobit.grm.kernels.missing_corrections import missing_call_correction
from tests.helpers.reference import words_of
from tests.helpers.sized import sized

BITS = sized((1, 33, 63, 64, 65, 130, 1023, 1024, 2100), (1, 33, 65, 130))


def cohort(
    rows: int, bits: int, missing: float, seed: int
) -> tuple[NDArray[np.float64], PlaneRows]:
    """Dosages (rows, bits) with NaN for missing calls, and their planes."""
    generator = np.random.default_rng(seed)
    dosages = generator.integers(0, 3, (rows, bits)).astype(float)
    dosages[generator.random((rows, bits)) < missing] = np.nan
    called = ~np.isnan(dosages)
    planes = words_of(dosages >= 1), words_of(dosages == 2)
    return dosages, PlaneRows(haplotypes=False, bits=bits, planes=planes, called=words_of(called))


def chosen(dosages: NDArray[np.float64], values: NDArray[np.float32]) -> NDArray[np.float64]:
    states = np.where(np.isnan(dosages), 0, np.nan_to_num(dosages) + 1).astype(int)
    return values[np.arange(dosages.shape[1]), states].astype(float)


@given(
    rows=st.integers(1, sized(40, 9)),
    columns=st.integers(1, sized(40, 9)),
    bits=st.sampled_from(BITS),
    missing=st.sampled_from((0.0, 0.1, 1.0)),
    seed=st.integers(0, 2**32),
)
def test_add_products__equals_the_product_of_the_values(
    rows: int, columns: int, bits: int, missing: float, seed: int
) -> None:
    left, a = cohort(rows, bits, missing, seed)
    right, b = cohort(columns, bits, missing, seed + 1)
    values = np.random.default_rng(seed).normal(size=(bits, 4)).astype(np.float32)
    x, y = chosen(left, values), chosen(right, values)
    out = np.ones((rows, columns))
    add_products(a, b, values, out)
    # Rounding of float32 sums, relative to the sum of the terms' sizes.
    np.testing.assert_array_less(np.abs(out - 1 - x @ y.T), 2e-6 * (np.abs(x) @ np.abs(y).T) + 1e-9)
    square = np.zeros((rows, rows))
    add_products(a, None, values, square)
    upper = np.triu_indices(rows)
    error = np.abs(square - x @ x.T)[upper]
    np.testing.assert_array_less(error, 2e-6 * (np.abs(x) @ np.abs(x).T)[upper] + 1e-9)


def test_add_products__is_the_same_from_several_threads() -> None:
    rows, bits = sized((70, 3000), (9, 300))
    _, a = cohort(rows, bits, 0.05, 3)
    values = np.random.default_rng(0).normal(size=(bits, 4)).astype(np.float32)

    def run(_: int) -> NDArray[np.float64]:
        out = np.zeros((rows, rows))
        add_products(a, a, values, out)
        return out

    alone = run(0)
    with ThreadPoolExecutor(4) as pool:
        for out in pool.map(run, range(8)):
            np.testing.assert_array_equal(out, alone)


@given(
    rows=st.integers(1, sized(70, 9)),
    columns=st.integers(1, 40),
    bits=st.sampled_from(BITS),
    missing=st.sampled_from((0.0, 0.01, 0.3, 1.0)),
    seed=st.integers(0, 2**32),
)
def test_missing_call_correction__is_what_counting_missing_calls_as_heterozygous_adds(
    rows: int, columns: int, bits: int, missing: float, seed: int
) -> None:
    left, a = cohort(rows, bits, missing, seed)
    right, b = cohort(columns, bits, missing, seed + 1)
    p = np.random.default_rng(seed).random(bits)
    with_hets = [np.where(np.isnan(g), 1, g) - 2 * p for g in (left, right)]
    wanted = [np.where(np.isnan(g), 0, g - 2 * p) for g in (left, right)]
    excess = with_hets[0] @ with_hets[1].T - wanted[0] @ wanted[1].T
    found = missing_call_correction(a, b, p) + missing_call_correction(b, a, p).T
    np.testing.assert_allclose(found, excess, rtol=0, atol=1e-6 * bits + 1e-6)


@pytest.mark.parametrize("complete", [True, False])
def test_missing_call_correction__of_complete_rows_is_nothing(*, complete: bool) -> None:
    _, a = cohort(9, 200, 0.0, 1)
    b = a._replace(called=None) if complete else a
    assert not missing_call_correction(a, b, np.full(200, 0.3)).any()


def test_missing_call_correction__of_few_samples_and_many_variants_keeps_its_digits() -> None:
    bits = sized(2**18, 2**12)
    dosages, a = cohort(3, bits, 0.05, 1)
    p = np.full(bits, 0.02)
    with_hets = np.where(np.isnan(dosages), 1, dosages) - 2 * p
    wanted = np.where(np.isnan(dosages), 0, dosages - 2 * p)
    excess = with_hets @ with_hets.T - wanted @ wanted.T
    found = missing_call_correction(a, a, p)
    np.testing.assert_allclose(found + found.T, excess, rtol=3e-7)
