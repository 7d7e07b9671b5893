from __future__ import annotations

import threading

import numpy as np
import pytest

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.gemm.dequantise import STATES, dequantised
from tests.helpers.cohorts import TAILS


def planes_of(dosage: np.ndarray, *, called: bool = True) -> PlaneRows:
    """Rows of dosages (samples, variants), -1 for missing."""

    def packed(bits: np.ndarray) -> np.ndarray:
        padded = np.zeros((bits.shape[0], -(-bits.shape[1] // 64) * 64), bool)
        padded[:, : bits.shape[1]] = bits
        return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)

    present = packed(dosage >= 0) if called else None
    return PlaneRows(False, dosage.shape[1], (packed(dosage >= 1), packed(dosage == 2)), present)


def drawn(samples: int, variants: int, *, missing: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(samples + variants)
    values = rng.normal(size=(variants, len(STATES))).astype(np.float32)
    return rng.integers(-1 if missing else 0, 3, (samples, variants)), values


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("variants", [*TAILS, 255, 256, 257, 289])
def test_each_call_gets_its_value(variants: int, missing: bool) -> None:
    dosage, values = drawn(5, variants, missing=missing)
    expected = values[np.arange(variants), dosage + 1]
    found = dequantised(planes_of(dosage, called=missing), values)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


def test_any_words_of_it_into_a_buffer() -> None:
    dosage, values = drawn(7, 400, missing=True)
    out = np.full((7, 130), np.nan, np.float32)
    found = dequantised(planes_of(dosage), values[192:322], first=3, out=out)
    assert found is out
    np.testing.assert_array_equal(out, values[np.arange(192, 322), dosage[:, 192:322] + 1])


def test_values_that_are_no_numbers_stay() -> None:
    dosage, values = drawn(3, 70, missing=True)
    values[:, 0], values[:, 3] = np.nan, -0.0
    found = dequantised(planes_of(dosage), values)
    expected = values[np.arange(70), dosage + 1]
    np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


def test_threads() -> None:
    dosage, values = drawn(64, 1000, missing=True)
    rows, expected = planes_of(dosage), values[np.arange(1000), dosage + 1]
    results: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: results.append(dequantised(rows, values))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for found in results:
        np.testing.assert_array_equal(found, expected)
