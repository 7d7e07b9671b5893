"""Similarity of binary rows against loops over pairs, whole and as nearest neighbours."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.helpers.cohorts import TAILS
from tests.helpers.prints import TWINS, prints, rows_of, twin


def nearest_of(matrix: np.ndarray, top: int, *, itself: bool) -> tuple[np.ndarray, np.ndarray]:
    """The best of each row, sorted by similarity and then by number."""
    numbers = np.full((len(matrix), top), -1)
    values = np.full((len(matrix), top), np.nan)
    for i, row in enumerate(matrix.tolist()):
        order = sorted(
            (k for k, x in enumerate(row) if not isnan(x) and (itself or k != i)),
            key=lambda k: (-row[k], k),
        )[:top]
        numbers[i, : len(order)] = order
        values[i, : len(order)] = [row[k] for k in order]
    return numbers, values


@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 40),
    bits=st.sampled_from(TAILS),
    missing=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
    measure=st.sampled_from(sorted(TWINS)),
)
def test_similarity__equals_a_loop_over_pairs(
    seed: int, rows: int, bits: int, missing: float, measure: str
) -> None:
    values = rows_of(seed, rows, bits, missing)
    expected = twin(measure, values)
    found = prints(values).genobit.similarity(measure)
    # To the last bit: one division of the same whole numbers.
    np.testing.assert_array_equal(found.values, expected)
    near = prints(values).genobit.similarity(measure, top=5, compute=True)
    numbers, best = nearest_of(expected, 5, itself=False)
    np.testing.assert_array_equal(near.neighbours, numbers)
    np.testing.assert_array_equal(near.similarity, best)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_chunks__change_nothing(missing: float) -> None:
    values = rows_of(3, 150, 90, missing)
    other = rows_of(4, 70, 90)
    with gb.set_options(chunk_rows=64):
        a, b = prints(values, (50, 40)), prints(other, (30, 90))
        assert a.genobit.similarity().data.numblocks == (3, 3)
        for measure in TWINS:
            expected = twin(measure, values, other)
            np.testing.assert_array_equal(a.genobit.similarity(measure, other=b), expected)
            near = a.genobit.similarity(measure, other=b, top=7)
            numbers, best = nearest_of(expected, 7, itself=True)
            np.testing.assert_array_equal(near.neighbours, numbers)
            np.testing.assert_array_equal(near.similarity, best)
            numbers, best = nearest_of(twin(measure, values), 3, itself=False)
            near = a.genobit.similarity(measure, top=3)
            np.testing.assert_array_equal(near.neighbours, numbers)
            np.testing.assert_array_equal(near.similarity, best)


def test_kernels_and_dtypes__agree() -> None:
    values = rows_of(5, 70, 200)
    expected = prints(values).genobit.similarity().values
    for kernel in ("matrix", "sums", "scalar"):
        with gb.set_options(kernel=kernel):
            np.testing.assert_array_equal(prints(values).genobit.similarity(), expected)
    whole = np.where(np.isnan(values), -1, values)
    for dtype in (bool, "u1", "i1", "f4"):
        found = prints(whole.astype(dtype)).T.genobit.similarity(dim="bit")
        np.testing.assert_array_equal(found, expected)
    narrow = prints(values).genobit.similarity(dtype="float32")
    assert narrow.dtype == np.float32
    np.testing.assert_array_equal(narrow, expected.astype("f4"))


def test_minus_one__is_missing() -> None:
    values = rows_of(6, 20, 65, 0.2)
    expected = prints(values).genobit.similarity("hamming").values
    whole = np.where(np.isnan(values), -1, values).astype("i1")
    np.testing.assert_array_equal(prints(whole).genobit.similarity("hamming"), expected)


def test_empty_rows__have_no_tanimoto_similarity() -> None:
    found = prints(np.zeros((2, 5), bool)).genobit.similarity()
    np.testing.assert_array_equal(found, np.zeros((2, 2)))
    np.testing.assert_array_equal(
        prints(np.zeros((2, 5), bool)).genobit.similarity("hamming"), np.ones((2, 2))
    )


def test_labels() -> None:
    fingerprints = prints(rows_of(1, 4, 70)).assign_coords(weight=("molecule", [1.0, 2, 3, 4]))
    matrix = fingerprints.genobit.similarity()
    assert matrix.dims == ("molecule_0", "molecule_1")
    assert matrix.chunks is not None
    assert matrix.sel(molecule_0="m1").weight_1.values.tolist() == [1, 2, 3, 4]
    near = fingerprints.genobit.similarity(top=2)
    assert near.neighbours.dims == ("molecule", "rank")
    assert near.sel(molecule="m1", rank=1).neighbours.dtype == np.int64


def test_threads__share_the_kernels() -> None:
    values = rows_of(8, 100, 130)
    expected = twin("tanimoto", values)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: prints(values).genobit.similarity().values, range(8)))
    for each in found:
        np.testing.assert_array_equal(each, expected)


class TestRefusals:
    def test_values(self) -> None:
        values = rows_of(2, 200, 40)
        values[130, 7] = 2
        with gb.set_options(chunk_rows=64), pytest.raises(ValueError, match="molecule=130, bit=7"):
            prints(values).chunk({"molecule": 64}).genobit.similarity(compute=True)

    def test_missing(self) -> None:
        values = rows_of(2, 20, 40)
        values[3, 9] = np.nan
        with pytest.raises(ValueError, match=r"molecule=3, bit=9 is nan, missing='refuse'"):
            prints(values).genobit.similarity(missing="refuse").compute()

    def test_choices(self) -> None:
        fingerprints = prints(rows_of(2, 20, 40))
        with pytest.raises(ValueError, match="statistic='dice' is not one of 'tanimoto'"):
            fingerprints.genobit.similarity("dice")
        with pytest.raises(ValueError, match="dim='bit'"):
            fingerprints.genobit.similarity("bit")
        with pytest.raises(ValueError, match="top=0"):
            fingerprints.genobit.similarity(top=0)
        with pytest.raises(ValueError, match="missing='drop'"):
            fingerprints.genobit.similarity(missing="drop")
        with pytest.raises(ValueError, match="float16"):
            fingerprints.genobit.similarity(dtype="float16")
        with pytest.raises(ValueError, match="which of 'a', 'b' are the bits"):
            fingerprints.rename(molecule="a", bit="b").genobit.similarity()
        with pytest.raises(ValueError, match="2 dimensions"):
            fingerprints[0].genobit.similarity()
        with pytest.raises(TypeError, match="dtype <U"):
            fingerprints.astype(str).genobit.similarity()
        with pytest.raises(ValueError, match="empty along 'molecule'"):
            fingerprints[:0].genobit.similarity()

    def test_other_bits(self) -> None:
        fingerprints = prints(rows_of(2, 20, 40))
        with pytest.raises(ValueError, match="39 along 'bit'"):
            fingerprints.genobit.similarity(other=fingerprints[:, 1:])
        named = fingerprints.assign_coords(bit=np.arange(40))
        with pytest.raises(ValueError, match=r"bit\[0\] is 0 here and 1 in other="):
            named.genobit.similarity(other=named.assign_coords(bit=1 + np.arange(40)))

    def test_size(self) -> None:
        with gb.set_options(eager_limit=100), pytest.raises(MemoryError, match="top="):
            prints(rows_of(2, 20, 40)).genobit.similarity(compute=True)
