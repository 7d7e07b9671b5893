"""Decay of linkage against all pairs at once, on simulated and real genotypes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.ld.decay import (
    Resampling,
    Sums,
    decay,
    fitted_rho,
    half_parameter,
    hill_weir,
    parts_of,
)
from tests.helpers.cohorts import cohort, mosaic_calls, random_calls
from tests.ld.twins import direct


@given(
    seed=st.integers(0, 2**32),
    variants=st.integers(2, 60),
    samples=st.sampled_from([2, 31, 33, 65]),
    missing=st.sampled_from([0.0, 0.1]),
    chunk=st.sampled_from([64, 2048]),
    phased=st.booleans(),
    edges=st.sampled_from([[0, 100, 1000, 5000], [200, 3000], [0, 7000]]),
)
def test_means__equal_those_of_all_pairs(
    seed: int,
    variants: int,
    samples: int,
    missing: float,
    chunk: int,
    phased: bool,
    edges: list[float],
) -> None:
    ds = cohort(random_calls(seed, variants, samples, missing=missing), contigs=2, phased=True)
    bits = ds.genobit.pack(phased=phased)
    with gb.set_options(chunk_rows=chunk):
        found = bits.genobit.ld_decay("7kb", bins=edges, resamples=2)
    mean, pairs = direct(bits, np.array(edges, float))
    np.testing.assert_array_equal(found.pairs, pairs)
    # Sums are of units of 2^-29.
    np.testing.assert_allclose(found.r2, mean, rtol=0, atol=2**-29)


def test_chunks__change_nothing() -> None:
    calls = mosaic_calls(1, 400, 70, missing=0.05)
    results = []
    for chunk in (64, 128, 2048):
        with gb.set_options(chunk_rows=chunk):
            bits = cohort(calls, contigs=3, chunks=(100, 70)).genobit.pack()
            results.append(bits.genobit.ld_decay("20kb", bins=12, resamples=20, parts=9))
    for other in results[1:]:
        xr.testing.assert_identical(results[0], other)
    again = bits.genobit.ld_decay("20kb", bins=12, resamples=20, parts=9, seed=1)
    assert (again.half_decay_interval != results[0].half_decay_interval).any()


def test_centimorgans() -> None:
    ds = cohort(random_calls(2, 50, 40))
    found = ds.genobit.ld_decay("5cM", bins=4, resamples=2)
    mean, pairs = direct(ds, np.linspace(0, 5, 5), "variant_genetic_position")
    np.testing.assert_array_equal(found.pairs, pairs)
    np.testing.assert_allclose(found.r2, mean, rtol=0, atol=2**-29)
    assert found.attrs["unit"] == "cM"


def test_em_haplotypes() -> None:
    ds = cohort(random_calls(2, 50, 40))
    found = ds.genobit.ld_decay("5kb", bins=4, resamples=2, statistic="r2_em")
    mean, pairs = direct(ds, np.linspace(0, 5000, 5), statistic="r2_em")
    np.testing.assert_array_equal(found.pairs, pairs)
    np.testing.assert_allclose(found.r2_em, mean, rtol=0, atol=2**-29)


def test_populations__are_those_of_their_samples() -> None:
    ds = cohort(random_calls(4, 80, 60), phased=True)
    names = np.array(["b"] * 25 + ["a"] * 30 + [None] * 5, object)
    bits = ds.assign(sample_population=("samples", names)).genobit.pack(phased=True)
    found = bits.genobit.ld_decay("30kb", bins=6, populations="sample_population", resamples=9)
    assert found.populations.values.tolist() == ["a", "b"]
    assert found.observations.values.tolist() == [60, 50]
    for name, chosen in (("a", slice(25, 55)), ("b", slice(0, 25))):
        alone = bits.genobit.isel(samples=chosen).genobit.ld_decay("30kb", bins=6, resamples=9)
        assert f"{name}: {alone.attrs.pop('fit')}" in found.attrs["fit"]
        one = found.sel(populations=name, drop=True)
        xr.testing.assert_identical(one.drop_attrs(), alone.drop_attrs())
        assert {k: v for k, v in one.attrs.items() if k != "fit"} == alone.attrs


class TestCurve:
    @pytest.mark.parametrize("n", [20, 400])
    @pytest.mark.parametrize("rho", [1e-5, 1e-3, 0.1])
    def test_rho__is_found_again(self, n: int, rho: float) -> None:
        distance = np.linspace(500, 5e4, 40)
        pairs = np.linspace(1000, 10, 40)
        fitted = fitted_rho(distance, hill_weir(rho * distance, n), pairs, n)
        np.testing.assert_allclose(fitted, rho, rtol=1e-4)
        half = half_parameter(n) / fitted
        ends = hill_weir(fitted * np.array([0.0, half]), n)
        np.testing.assert_allclose(ends[1], ends[0] / 2, rtol=1e-9)

    def test_expectation__as_published(self) -> None:
        # Spelled out as in Remington et al. 2001.
        c, n = 3.7, 52
        a, b = 2 + c, 11 + c
        expected = (10 + c) / (a * b) * (1 + (3 + c) * (12 + 12 * c + c**2) / (n * a * b))
        np.testing.assert_allclose(hill_weir(np.array([c]), n), expected, rtol=1e-14)

    def test_few_observations__never_fall_to_half(self) -> None:
        assert np.isnan(half_parameter(2))

    def test_interval__covers_what_is_planted(self) -> None:
        rng = np.random.default_rng(5)
        edges = np.linspace(0, 1e5, 21)
        middle = (edges[1:] + edges[:-1]) / 2
        rho, n, covered = 2e-4, 200, 0
        for seed in range(20):
            value = hill_weir(rho * middle, n) + rng.normal(0, 0.05, (40, 20))
            sums = Sums(np.full((40, 20), 50.0), 50 * value, np.tile(50 * middle, (40, 1)))
            low, high = decay(sums, edges, n, Resampling(60, 0.95, seed)).half[1:]
            assert low < high
            covered += low <= half_parameter(n) / rho <= high
        assert covered >= 16


def test_parts__stay_within_contigs() -> None:
    contig = np.repeat([3, 1, 2], [50, 1, 9])
    parts = parts_of(60, contig, 12)
    assert parts[0] == 0
    assert set(np.diff(parts)) == {0, 1}
    assert all(len(set(contig[parts == k])) == 1 for k in range(parts[-1] + 1))
    assert parts_of(3, None, 10).tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def simulated() -> xr.Dataset:
    """A constant population: r2 falls as expected with rho = 4 N r = 4e-4 a base pair."""
    import msprime

    trees = msprime.sim_ancestry(
        100, sequence_length=1e6, recombination_rate=1e-8, population_size=1e4, random_seed=7
    )
    mutated = msprime.sim_mutations(trees, rate=1e-8, random_seed=7, model="binary")
    calls = mutated.genotype_matrix().astype("i1")
    ds = xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls.reshape(-1, 100, 2)),
            "call_genotype_phased": (("variants", "samples"), np.ones((len(calls), 100), bool)),
            "variant_position": ("variants", mutated.sites_position.astype(int)),
            "variant_contig": ("variants", np.zeros(len(calls), int)),
        }
    )
    frequency = ds.genobit.allele_frequency().values
    return ds.isel(variants=np.minimum(frequency, 1 - frequency) > 0.1)


def test_simulated__decays_as_the_population_does(simulated: xr.Dataset) -> None:
    bits = simulated.genobit.pack(phased=True)
    found = bits.genobit.ld_decay("100kb", bins=40, parts=10, resamples=50)
    mean, pairs = direct(bits, np.linspace(0, 1e5, 41))
    np.testing.assert_array_equal(found.pairs, pairs)
    np.testing.assert_allclose(found.r2, mean, rtol=0, atol=2**-29)
    # One history of one megabase: rho within a factor of 2.5.
    assert 4e-4 / 2.5 < found.rho < 4e-4 * 2.5
    low, high = found.half_decay_interval.values
    assert low < found.half_decay < high
    assert found.half_decay_of_means < 1e5
    assert found.fit == "fits"
    assert found.fit_r2 > 0.9
    assert found.attrs["fit"].startswith("the curve fits the means of the bins (R² 0.9")
    # Dosages are half as many observations, and their r2 of unlinked variants is twice as large.
    dosages = bits.genobit.ld_decay("100kb", bins=40, phased=False, resamples=2)
    assert int(dosages.observations) == 100
    assert float(dosages.rho / found.rho) == pytest.approx(1, rel=0.25)


@pytest.mark.parametrize(
    ("window", "bins", "verdict", "words"),
    [
        ("500kb", 10, "below the bins", r"before the first bin, at 2\.\d+e\+04 bp: use a smaller"),
        ("4kb", 20, "beyond the bins", r"after the last bin, at 3\d\d\d bp: use a larger"),
    ],
)
def test_half_outside_the_bins__is_not_told(
    simulated: xr.Dataset, window: str, bins: int, verdict: str, words: str
) -> None:
    found = simulated.genobit.ld_decay(window, bins=bins, parts=5, resamples=5)
    assert found.fit == verdict
    assert found.fit_r2 > 0.5
    assert np.isnan(found.half_decay)
    assert np.isnan(found.half_decay_interval).all()
    assert re.search(words, found.attrs["fit"])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("bins", [5, 25])
def test_flat_linkage__has_no_half_decay_distance(seed: int, linked: bool, bins: int) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.uniform(0.1, 0.9, (300, 1, 1))
    calls = random_calls(seed, 300, 60) if linked else rng.random((300, 60, 2)) < shares
    ds = cohort(calls.astype("i1"), phased=True)
    found = ds.genobit.ld_decay("50kb", bins=bins, phased=True, resamples=5)
    assert found.fit == "does not fit"
    assert found.fit_r2 < (0.5 if bins == 25 else 0.9)  # chance alone explains much of 5 bins
    assert np.isnan(found.half_decay)
    assert np.isnan(found.half_decay_interval).all()
    assert found.attrs["fit"].startswith("the curve does not fit the means of the bins (R² ")


def test_fits__are_said_of_each_population(simulated: xr.Dataset) -> None:
    groups = ["a"] * 60 + ["b"] * 40
    found = simulated.genobit.ld_decay("100kb", bins=20, populations=groups, resamples=2)
    assert found.fit.values.tolist() == ["fits", "fits"]
    assert [text[:19] for text in found.attrs["fit"]] == [f"{k}: the curve fits t" for k in "ab"]


def test_real__equals_all_pairs(shared_data: Path) -> None:
    ds = gb.open_plink(shared_data / "kg1_chr22/kg1_chr22_maf01.bed").isel(variants=slice(0, 2500))
    share = ds.genobit.allele_frequency().values
    bits = ds.genobit.isel(variants=np.minimum(share, 1 - share) > 0.05).genobit.pack()
    found = bits.genobit.ld_decay("100kb", bins=20, parts=10, resamples=20)
    mean, pairs = direct(bits, np.linspace(0, 1e5, 21))
    np.testing.assert_array_equal(found.pairs, pairs)
    np.testing.assert_allclose(found.r2, mean, rtol=0, atol=2**-29)
    assert found.r2[0] > 2 * found.r2[-1]
    assert found.fit == "fits"
    assert float(found.half_decay_interval[0]) < found.half_decay < found.half_decay_interval[1]


def test_refusals() -> None:
    ds = cohort(random_calls(4, 20, 30))
    with pytest.raises(ValueError, match="number of variants"):
        ds.genobit.ld_decay(100)
    with pytest.raises(ValueError, match="statistic 'D' of a decay"):
        ds.genobit.ld_decay(statistic="D")
    with pytest.raises(ValueError, match=r"bins=\[1, 0\]"):
        ds.genobit.ld_decay(bins=[1, 0])
    with pytest.raises(ValueError, match="bins=0"):
        ds.genobit.ld_decay(bins=0)
    for name in ("resamples", "parts"):
        for wrong in (0, 2.5, -1, float("nan")):
            with pytest.raises(ValueError, match=f"{name}={wrong} is not a positive whole number"):
                ds.genobit.ld_decay(**{name: wrong})
        for wrong in ("a", None, True):
            with pytest.raises(TypeError, match=f"{name}={wrong!r} is not a positive whole number"):
                ds.genobit.ld_decay(**{name: wrong})
    with pytest.raises(ValueError, match="seed=-1 is not a whole number of at least 0"):
        ds.genobit.ld_decay(seed=-1)
    for wrong in (0, 1, 1.5):
        with pytest.raises(ValueError, match=f"confidence={wrong} "):
            ds.genobit.ld_decay(confidence=wrong)
    with pytest.raises(TypeError, match="confidence='a' is not a number"):
        ds.genobit.ld_decay(confidence="a")
    with pytest.raises(KeyError, match="no variable 'nation' along 'samples'"):
        ds.genobit.ld_decay(populations="nation")
    with pytest.raises(ValueError, match="population 's0' has one observation"):
        ds.genobit.ld_decay(populations="sample_id")
    with pytest.raises(KeyError, match="variant_position"):
        ds.drop_vars("variant_position").genobit.ld_decay()
