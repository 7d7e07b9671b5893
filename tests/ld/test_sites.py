"""Linkage between sites of an alignment against twins that look at one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

import genobit as gb
from genobit.data.alignment import states_of
from tests.helpers.cohorts import TAILS
from tests.helpers.reference import linkage, window_pairs
from tests.helpers.sites import alignment, letters, twin


@given(
    seed=st.integers(0, 2**32),
    taxa=st.sampled_from(TAILS),
    sites=st.integers(1, 7),
    noise=st.sampled_from([0.0, 0.1, 0.6, 1.0]),
)
def test_t__equals_a_sum_over_states(seed: int, taxa: int, sites: int, noise: float) -> None:
    values = letters(seed, taxa, sites, noise=noise)
    found = alignment(values).genobit.ld("T")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, twin(values), rtol=1e-6)


def test_t__is_pearson_chi2_of_two_states_and_of_linked_ones() -> None:
    values = letters(5, 300, 12, "AC", noise=0.0)
    found = alignment(values).genobit.ld("T").values
    r2 = alignment(values).genobit.ld("r2").values
    np.testing.assert_allclose(found, 300 * r2, rtol=1e-6)
    i, j = np.argwhere(found > 0)[0]
    table = [[((values[:, i] == a) & (values[:, j] == b)).sum() for b in "AC"] for a in "AC"]
    expected = chi2_contingency(table, correction=False)
    np.testing.assert_allclose(found[i, j], expected.statistic, rtol=1e-6)
    # One site against itself: each of four states has r2 = 1 with itself.
    same = np.repeat(np.array(list("ACGT"))[:, None], 2, axis=1).repeat(8, axis=0)
    others = 4 * 3 / 9  # r2 of "s or not" with "t or not" is (1 / 3)^2
    expected_t = 3 * 3 * 32 / 16 * (4 + others)
    np.testing.assert_allclose(alignment(same).genobit.ld("T"), expected_t, rtol=1e-6)


def test_t__is_chi2_where_nothing_is_linked() -> None:
    rng = np.random.default_rng(0)
    values = np.array(list("ACGT"))[rng.choice(4, (200, 400), p=[0.4, 0.3, 0.2, 0.1])]
    found = alignment(values).genobit.ld("T").values[np.triu_indices(400, 1)]
    # Degrees of freedom are the mean of chi2 and half of its variance; 79,800 pairs.
    assert abs(found.mean() - 9) < 0.1
    assert abs(found.var() / 18 - 1) < 0.1


@given(
    seed=st.integers(0, 2**32),
    taxa=st.sampled_from(TAILS),
    noise=st.sampled_from([0.0, 0.2]),
    statistic=st.sampled_from(["r", "r2", "D", "dprime"]),
)
def test_two_states__equal_haplotypes_of_the_valid_taxa(
    seed: int, taxa: int, noise: float, statistic: str
) -> None:
    values = letters(seed, taxa, 6, "CT", noise=noise)
    counted = np.where(values == "T", 1.0, np.where(values == "C", 0.0, np.nan))
    alone = (np.nansum(counted, axis=0) == 0) & ~np.isnan(counted).all(axis=0)
    counted[:, alone] = 1 - counted[:, alone]  # a site of C alone counts C
    found = alignment(values).genobit.ld(statistic)
    columns = counted.T
    expected = np.array([[linkage(statistic, x, y) for y in columns] for x in columns])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_gap__may_be_a_state() -> None:
    values = letters(3, 65, 8, "AC-", noise=0.0)
    found = alignment(values).genobit.ld("T", gap="state")
    np.testing.assert_allclose(found, twin(values, "AC-"), rtol=1e-6)
    assert states_of(found.attrs) == ["A", "C", "G", "T", "-"]


def test_window__is_the_band_of_the_square() -> None:
    values = letters(9, 40, 150)
    position = np.sort(np.random.default_rng(1).integers(0, 2000, 150))
    aln = alignment(values, variant_position=("sites", position))
    with gb.set_options(chunk_rows=256):
        assert aln.genobit.ld("T").data.numblocks == (3, 3)
        square = aln.genobit.ld("T", compute=True)
        assert square.variant_position_1.values.tolist() == position.tolist()
        for window, place, size in ((20, None, 20), ("100bp", position, 100)):
            band = aln.genobit.ld("T", window=window)
            expected = np.full(band.shape, np.nan, "f4")
            for i, j in window_pairs(150, None, place, size):
                expected[i, j - i - 1] = square.values[i, j]
            np.testing.assert_array_equal(band, expected)
    np.testing.assert_array_equal(aln.genobit.ld("T"), square)


def test_two_states__have_a_window_too() -> None:
    aln = alignment(letters(9, 40, 60, "AC"))
    band, square = aln.genobit.ld("r2", window=3), aln.genobit.ld("r2").values
    for k in (1, 2, 3):
        np.testing.assert_array_equal(band[: 60 - k, k - 1], np.diagonal(square, k))


def test_labels() -> None:
    aln = alignment(np.array([list("AC-"), list("GC-"), list("GT-")]))
    found = aln.genobit.ld("r2")
    assert found.dims == ("sites_0", "sites_1")
    assert found.states_0.values.tolist() == [2, 2, 0]
    assert found.counted_state_1.values.tolist() == ["G", "T", ""]
    assert found.attrs["missing"].startswith("pairwise complete")
    assert aln.genobit.ld("T", compute=True).chunks is None


def test_sample_alignment__has_linkage_of_all_sites() -> None:
    pytest.importorskip("dendropy")
    aln = gb.sample_alignment()
    found = aln.genobit.ld("T")
    part = aln.values[:, 200:215]
    np.testing.assert_allclose(found[200:215, 200:215], twin(part), rtol=1e-6)


def test_refusals() -> None:
    aln = alignment(np.array([list("AC"), list("GC"), list("TT")]))
    with pytest.raises(ValueError, match=r"first site 0 \(A, G, T\): take statistic='T'"):
        aln.genobit.ld("r2")
    with pytest.raises(ValueError, match="statistic 'r2_em' of an alignment is not one of"):
        aln.genobit.ld("r2_em")
    with pytest.raises(KeyError, match="variant_position"):
        aln.genobit.ld("T", window="1kb")
    with pytest.raises(ValueError, match="dimensions 'taxa' and 'sites'"):
        aln.rename(sites="columns").genobit.ld("T")
