"""Kernels of BGEN against their twin, a sample at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from genobit.io.kernels.bgen import PHASED, UNCERTAIN, call_variant, dosage_variant
from tests.helpers.bgen_files import random_probabilities
from tests.helpers.reference import bgen_calls

SAID = {"": 0, "phased": PHASED, "uncertain": UNCERTAIN}


def checked(values: NDArray[np.float32], phased: bool, swap: bool, threshold: float) -> None:
    n = len(values)
    calls, dosages = np.full(3 * n, 9, np.int8), np.full(n, 9, np.float32)
    assert call_variant(values, phased, swap, threshold, calls) == -1
    assert dosage_variant(values, phased, swap, dosages) == -1
    right, said, copies = bgen_calls(values, phased, swap, threshold)
    assert calls[: 2 * n].reshape(n, 2).tolist() == right
    assert calls[2 * n :].tolist() == [SAID[word] for word in said]
    np.testing.assert_allclose(dosages, copies, atol=1e-6)


@given(
    n=st.integers(1, 70),
    phased=st.booleans(),
    swap=st.booleans(),
    bits=st.sampled_from([1, 2, 4, 8, 16, 31]),
    threshold=st.sampled_from([0, 0.05, 0.1, 0.2, 0.4999]),
    haploid=st.sampled_from([0, 0.3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_calls_and_dosages(
    n: int, phased: bool, swap: bool, bits: int, threshold: float, haploid: float, seed: int
) -> None:
    values = random_probabilities(np.random.default_rng(seed), n, phased, bits, haploid)
    checked(values, phased, swap, threshold)


@pytest.mark.parametrize("phased", [False, True])
def test_haploid_variants__have_two_columns(phased: bool) -> None:
    first = np.linspace(0, 1, 21, dtype=np.float32)
    first[4] = np.nan
    checked(np.stack([first, 1 - first], axis=1), phased, False, 0.1)


def test_probabilities_of_layout_1__are_divided_by_their_sum() -> None:
    values = np.array([[0.4, 0.1, 0.3], [0, 0.02, 0.9], [0.5, 0, 0]], np.float32)
    checked(values, False, False, 0.1)
    checked(values, False, True, 0.1)


@pytest.mark.parametrize(
    ("phased", "row"),
    [
        (False, [0.7, 0.7, 0]),
        (False, [1.2, -0.2, 0]),
        (False, [0.6, 0.6, -0.2]),
        (False, [0, 0, 0]),
        (False, [0.7, 0.7, np.nan]),
        (True, [0.7, 0.7, 0.5, 0.5]),
        (True, [0.5, 0.5, 0.7, 0.7]),
        (True, [1.5, -0.5, 0, 1]),
        (True, [0.7, 0.7, np.nan, np.nan]),
    ],
)
def test_what_is_no_probability__is_said_by_sample(phased: bool, row: list[float]) -> None:
    values = np.tile(np.array([1, 0, 1, 0] if phased else [1, 0, 0], np.float32), (20, 1))
    values[13] = row
    calls, dosages = np.empty(60, np.int8), np.empty(20, np.float32)
    assert call_variant(values, phased, False, 0.1, calls) == 13
    assert dosage_variant(values, phased, False, dosages) == 13
