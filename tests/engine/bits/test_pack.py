from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits import pack
from tests.helpers.cohorts import TAILS, random_calls
from tests.helpers.reference import dosages, haplotypes, words_of

seeds = st.integers(0, 2**32)
missing = st.sampled_from([0.0, 0.1, 0.6, 1.0])


def rules(rows: int, limit: int = 1, allele: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return np.full(rows, allele, np.int8), np.full(rows, limit, np.int8)


def dosage_planes(g: np.ndarray) -> list[np.ndarray]:
    return [words_of(g >= 1), words_of(g == 2), words_of(~np.isnan(g))]


def run(kernel: object, calls: np.ndarray, words: int, planes: int, **keywords: object) -> tuple:
    rows = calls.shape[0]
    alleles, limits = keywords.pop("rules", rules(rows))
    # All ones: whatever a kernel does not write shows.
    out = np.full((planes, rows, words), ~np.uint64(0))
    found = kernel(
        calls.reshape(rows, -1), alleles, limits, keywords.get("refuse_missing", False), out
    )
    return out, found


@given(seeds, st.sampled_from(TAILS), missing)
def test_pack_dosages__equals_the_definition(seed: int, samples: int, absent: float) -> None:
    calls = random_calls(seed, 4, samples, missing=absent)
    out, found = run(pack.pack_dosages, calls, -(-samples // 64), 3)
    assert found == (pack.FINE, 0, 0)
    for plane, expected in zip(out, dosage_planes(dosages(calls)), strict=True):
        np.testing.assert_array_equal(plane, expected)


@given(seeds, st.sampled_from(TAILS), missing, st.sampled_from([1, 2, 3, 4]))
def test_pack_haplotypes__equals_the_definition(
    seed: int, samples: int, absent: float, ploidy: int
) -> None:
    calls = random_calls(seed, 3, samples, missing=absent, ploidy=ploidy)
    calls[0, samples // 2, -1] = -2
    out, found = run(pack.pack_haplotypes, calls, -(-samples * ploidy // 64), 2)
    assert found == (pack.FINE, 0, 0)
    h = haplotypes(calls)
    np.testing.assert_array_equal(out[0], words_of(h == 1))
    np.testing.assert_array_equal(out[1], words_of(~np.isnan(h)))


def pack_rows(calls: np.ndarray, out: np.ndarray) -> tuple[bool, bool]:
    """Pack rows of calls, each with zeros up to a whole word; return what `pack_row` finds."""
    rows = calls.reshape(len(calls), -1)
    padded = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 64)))
    found = [
        pack.pack_row(padded.reshape(-1), i * padded.shape[1], rows.shape[1], *out, i)
        for i in range(len(rows))
    ]
    return tuple(np.any(found, axis=0).tolist())


@given(seeds, st.sampled_from(TAILS), missing, st.sampled_from([1, 2, 3]))
def test_pack_row__equals_the_definition(
    seed: int, samples: int, absent: float, ploidy: int
) -> None:
    calls = random_calls(seed, 3, samples, missing=absent, ploidy=ploidy)
    n = samples * ploidy
    out = np.full((2, 3, -(-n // 64)), ~np.uint64(0))
    assert pack_rows(calls, out) == (False, (calls < 0).any())
    h = haplotypes(calls)
    np.testing.assert_array_equal(out[0], words_of(h == 1))
    np.testing.assert_array_equal(out[1], words_of(~np.isnan(h)))


@given(st.sampled_from(TAILS), st.data(), st.sampled_from([-2, 2, 127]))
def test_pack_row__finds_any_other_call(n: int, data: st.DataObject, other: int) -> None:
    calls = np.zeros((2, n), np.int8)
    calls[data.draw(st.integers(0, 1)), data.draw(st.integers(0, n - 1))] = other
    out = np.empty((2, 2, -(-n // 64)), np.uint64)
    assert pack_rows(calls, out) == (True, other < 0)


@given(seeds, st.sampled_from(TAILS), st.integers(1, 3))
def test_pack_dosages__of_another_allele(seed: int, samples: int, allele: int) -> None:
    calls = np.random.default_rng(seed).integers(-1, 4, (2, samples, 2)).astype(np.int8)
    out, found = run(
        pack.pack_dosages, calls, -(-samples // 64), 3, rules=rules(2, limit=3, allele=allele)
    )
    assert found == (pack.FINE, 0, 0)
    for plane, expected in zip(out, dosage_planes(dosages(calls, allele)), strict=True):
        np.testing.assert_array_equal(plane, expected)


@pytest.mark.parametrize("kernel", [pack.pack_dosages, pack.pack_haplotypes])
@pytest.mark.parametrize("samples", [1, 32, 33, 63, 64, 65, 100, 130])
@pytest.mark.parametrize(
    ("call", "rule"), [(2, pack.ALLELE), (127, pack.ALLELE), (-3, pack.VALUE), (-128, pack.VALUE)]
)
def test_pack__finds_the_first_call_that_breaks_a_rule(
    kernel: object, samples: int, call: int, rule: int
) -> None:
    for sample in {0, samples // 2, samples - 1}:
        for allele in (0, 1):
            calls = random_calls(3, 3, samples, missing=0.1)
            calls[1, sample, allele] = call
            calls[2] = call
            _, found = run(kernel, calls, -(-2 * samples // 64), 3)
            assert found == (rule, 1, 2 * sample + allele)


def test_pack__lower_ploidy_is_for_haplotypes_only() -> None:
    calls = random_calls(3, 2, 70)
    calls[1, 66] = (0, -2)
    _, found = run(pack.pack_dosages, calls, 2, 3)
    assert found == (pack.PLOIDY, 1, 133)
    _, found = run(pack.pack_haplotypes, calls, 3, 2)
    assert found == (pack.FINE, 0, 0)


@pytest.mark.parametrize("kernel", [pack.pack_dosages, pack.pack_haplotypes])
def test_pack__refuses_missing_calls_when_asked(kernel: object) -> None:
    calls = random_calls(3, 2, 70)
    _, found = run(kernel, calls, 3, 3, refuse_missing=True)
    assert found == (pack.FINE, 0, 0)
    calls[1, 69, 0] = -1
    _, found = run(kernel, calls, 3, 3, refuse_missing=True)
    assert found == (pack.MISSING, 1, 138)


def test_pack__accepts_the_largest_allele_of_int8() -> None:
    calls = random_calls(3, 1, 70)
    calls[0, 3, 1] = 127
    _, found = run(pack.pack_dosages, calls, 2, 3, rules=rules(1, limit=127, allele=127))
    assert found == (pack.FINE, 0, 0)


@given(seeds, st.sampled_from(TAILS))
def test_split_bed__equals_the_definition_whatever_the_padding(seed: int, samples: int) -> None:
    rng = np.random.default_rng(seed)
    raw = rng.integers(0, 256, (5, -(-samples // 4))).astype(np.uint8)
    codes = raw[:, np.arange(samples) // 4] >> (2 * (np.arange(samples) % 4)).astype(np.uint8) & 3
    g = np.array([2.0, np.nan, 1.0, 0.0])[codes]
    out = np.full((3, 5, -(-samples // 64)), ~np.uint64(0))
    pack.split_bed(raw, samples, out)
    for plane, expected in zip(out, dosage_planes(g), strict=True):
        np.testing.assert_array_equal(plane, expected)


@given(seeds, st.sampled_from(TAILS), missing)
def test_pack_counts__equals_the_definition(seed: int, samples: int, absent: float) -> None:
    g = dosages(random_calls(seed, 4, samples, missing=absent))
    counts = np.where(np.isnan(g), -9, g).astype(np.int8)
    out = np.full((3, 4, -(-samples // 64)), ~np.uint64(0))
    pack.pack_counts(counts, out)
    for plane, expected in zip(out, dosage_planes(g), strict=True):
        np.testing.assert_array_equal(plane, expected)


@given(seeds, st.sampled_from(TAILS), missing)
def test_pair_haplotypes__equals_packing_dosages(seed: int, samples: int, absent: float) -> None:
    calls = random_calls(seed, 4, samples, missing=absent)
    h = haplotypes(calls)
    out = np.full((3, 4, -(-samples // 64)), ~np.uint64(0))
    pack.pair_haplotypes(words_of(h == 1), words_of(~np.isnan(h)), out)
    for plane, expected in zip(out, dosage_planes(dosages(calls)), strict=True):
        np.testing.assert_array_equal(plane, expected)
