"""Values of relationship matrices against plink, GCTA's formats and numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.engine.schedule import pair_sums
from tests.grm.cohorts import (
    FORMS,
    METHODS,
    RULES,
    SUMMED,
    assert_close,
    in_form,
    whole_calls,
)
from tests.grm.filesets import FILESETS, first120
from tests.helpers.cohorts import TAILS, cohort, random_calls
from tests.helpers.programs import PLINK, PLINK2, plink, plink2
from tests.helpers.reference import dosages, relationships, variants_compared

# Against other programs


def table(path: Path) -> np.ndarray:
    return np.atleast_2d(np.loadtxt(path))


@pytest.mark.parametrize("reference", ["grm_p1", "grm_p2"])
@pytest.mark.parametrize("fileset", FILESETS)
def test_gcta__equals_plink(shared_data: Path, fileset: str, reference: str) -> None:
    expected = table((shared_data / fileset).parent / f"ref/{reference}_first120.rel.gz")
    found = first120(shared_data, fileset).genobit.grm("gcta")
    # Six digits: half of the last is 5e-6 of 1.
    np.testing.assert_allclose(found.values, expected, rtol=5.5e-6, atol=2e-7)


@pytest.mark.parametrize("fileset", ["hapmap279/hapmap279", "lct_1kg/lct_1kg"])
def test_gcta__equals_the_binary_of_gcta(shared_data: Path, fileset: str) -> None:
    folder = (shared_data / fileset).parent / "ref"
    found = first120(shared_data, fileset).genobit.grm("gcta")
    lower = np.tril_indices(found.sizes["samples_0"])
    expected = np.fromfile(folder / "gcta_first120.grm.bin", "<f4")
    assert_close(found.values[lower], expected.astype(float), 1e-6)
    number = np.fromfile(folder / "gcta_first120.grm.N.bin", "<f4")
    np.testing.assert_array_equal(found.variants_compared.values[lower], number)


@pytest.mark.parametrize(
    "fileset", ["kg1_chr22/kg1_chr22_maf01", "mice_hs/mice_hs", "epi3_kg1/epi3_kg1"]
)
def test_vanraden1__equals_the_covariance_of_plink2(shared_data: Path, fileset: str) -> None:
    expected = table((shared_data / fileset).parent / "ref/cov_p2_first120.rel.gz")
    ds = first120(shared_data, fileset)
    p = ds.genobit.allele_frequency().values
    found = ds.genobit.grm().values * (2 * p * (1 - p)).mean()
    np.testing.assert_allclose(found, expected, rtol=5.5e-6, atol=1e-12)
    np.testing.assert_array_equal(ds.genobit.grm(missing="pairwise"), ds.genobit.grm())


@PLINK2
def test_given_frequencies__are_those_of_plink2(shared_data: Path, tmp_path: Path) -> None:
    fileset = shared_data / "hapmap279/hapmap279"
    base = ("--bfile", fileset, "--nonfounders", "--autosome")
    plink2(tmp_path / "all", *base, "--freq")
    ds = first120(shared_data, "hapmap279/hapmap279")
    ids, number = np.unique(ds.variant_id.values, return_counts=True)
    once = np.isin(ds.variant_id.values, ids[number == 1])
    ds = ds.isel(variants=once)
    (tmp_path / "keep.txt").write_text("\n".join(ds.variant_id.values))
    some = ("--keep", fileset.parent / "ref/first120.keep", "--extract", tmp_path / "keep.txt")
    given = ("--read-freq", tmp_path / "all.afreq")
    plink2(tmp_path / "out", *base, *given, *some, "--make-rel", "square")
    rows = [line.split() for line in (tmp_path / "all.afreq").read_text().splitlines()]
    place = {name: rows[0].index(name) for name in ("ID", "ALT", "ALT_FREQS")}
    alt = {row[place["ID"]]: row[place["ALT"]] for row in rows[1:]}
    frequency = {row[place["ID"]]: float(row[place["ALT_FREQS"]]) for row in rows[1:]}
    p = np.array([frequency[name] for name in ds.variant_id.values])
    counted = ds.variant_allele.values[:, 1]
    p = np.where(counted == [alt[name] for name in ds.variant_id.values], p, 1 - p)
    found = ds.genobit.grm("gcta", allele_frequency=p).values
    np.testing.assert_allclose(found, table(tmp_path / "out.rel"), rtol=2e-5, atol=1e-6)


@PLINK
def test_count_monomorphic__has_the_divisors_of_plink(shared_data: Path, tmp_path: Path) -> None:
    fileset = shared_data / "hapmap279/hapmap279"
    keep = (fileset.parent / "ref/first120.keep").read_text().splitlines(keepends=True)[:20]
    (tmp_path / "keep.txt").write_text("".join(keep))
    for made in ("--make-rel square", "--make-grm-bin", "--pca 3"):
        some = ("--nonfounders", "--keep", tmp_path / "keep.txt")
        plink(fileset, tmp_path / "out", *some, *made.split())
    ds = gb.open_plink(fileset).isel(samples=slice(0, 20))
    found = ds.genobit.grm("gcta", count_monomorphic=True)
    expected = table(tmp_path / "out.rel")
    np.testing.assert_allclose(found, expected, rtol=5.1e-6, atol=1e-6)
    # Many variants have one allele in 20 samples: the default divides by fewer.
    default = ds.genobit.grm("gcta")
    assert (np.diagonal(default.values) > 1.04 * np.diagonal(expected)).all()
    assert found.attrs["divisor"] != default.attrs["divisor"]
    numbers = gb.open_gcta(tmp_path / "out").variants_compared
    np.testing.assert_array_equal(found.variants_compared, numbers)
    for method, missing in (("vanraden2", "pairwise"), ("gcta", "pairwise")):
        same = ds.genobit.grm(method, missing=missing, count_monomorphic=True)
        np.testing.assert_array_equal(same, found)
    pcs = ds.genobit.pca(3, missing="pairwise", count_monomorphic=True)
    values = np.loadtxt(tmp_path / "out.eigenval")
    np.testing.assert_allclose(pcs.explained_variance, values, rtol=5.1e-6)


def test_count_monomorphic__of_each_form() -> None:
    calls = random_calls(8, 300, 12, missing=0.1)
    calls[:90] = 0
    calls[0] = -1  # nobody is called, so it is no variant of one allele
    ds = cohort(calls, contigs=3)
    for missing in ("mean", "pairwise"):
        default = ds.genobit.grm("gcta", missing=missing, autosomes=False)
        found = ds.genobit.grm("gcta", missing=missing, count_monomorphic=True)
        called = (calls >= 0).all(axis=2).T.astype(int)
        dosage = np.where(called.T, calls.sum(axis=2), 0)
        two = (dosage.sum(axis=1) > 0) & (dosage.sum(axis=1) < 2 * called.sum(axis=0))
        before, after = called[:, two] @ called[:, two].T, called @ called.T
        if missing == "mean":
            before, after = two.sum(), (called.sum(axis=0) > 0).sum()
        np.testing.assert_allclose(found, default * before / after, rtol=1e-5, atol=1e-7)
        pcs = ds.genobit.pca(3, missing=missing, count_monomorphic=True)
        values = np.linalg.eigvalsh(found.values)[::-1][:3]
        np.testing.assert_allclose(pcs.explained_variance, values, rtol=1e-5)
        if missing == "mean":
            np.testing.assert_allclose(ds.genobit.project(pcs), pcs.scores, atol=1e-5)
    loco = ds.genobit.grm("gcta", loco=True, count_monomorphic=True)
    some = ds.isel(variants=ds.variant_contig.values != 1)
    expected = some.genobit.grm("gcta", count_monomorphic=True)
    np.testing.assert_allclose(loco[1], expected, rtol=1e-5, atol=1e-7)
    g = np.where(called == 1, dosage.T, np.nan)
    for p in (None, np.random.default_rng(1).uniform(0.1, 0.9, 300)):
        options: dict[str, Any] = {"allele_frequency": p, "count_monomorphic": True}
        shrunk = ds.genobit.grm("endelman_jannink", autosomes=False, **options)
        expected = relationships("endelman_jannink", g, frequency=p, count_monomorphic=True)
        assert_close(shrunk, expected)
    with pytest.raises(ValueError, match="goes with endelman_jannink, gcta, vanraden2"):
        ds.genobit.grm("vanraden1", count_monomorphic=True)


# Against numpy


@given(
    method=st.sampled_from(SUMMED),
    rule=st.sampled_from(RULES),
    form=st.sampled_from(FORMS),
    samples=st.sampled_from([1, 2, 7, 31, 64, 65]),
    variants=st.one_of(st.sampled_from(TAILS), st.integers(1, 200)),
    missing=st.sampled_from([0.0, 0.0, 0.02, 0.6, 1.0]),
    given_frequency=st.booleans(),
    chunk_rows=st.sampled_from([5, 64, 2048]),
    seed=st.integers(0, 2**32),
)
def test_matrix__equals_numpy(
    method: str,
    rule: str,
    form: str,
    samples: int,
    variants: int,
    missing: float,
    given_frequency: bool,
    chunk_rows: int,
    seed: int,
) -> None:
    calls = whole_calls(seed, variants, samples, missing=missing)
    # Only the middle misses calls, so that chunks are of both kinds.
    calls[: variants // 3] = np.abs(calls[: variants // 3])
    p = np.random.default_rng(seed).uniform(0.02, 0.98, variants) if given_frequency else None
    leaf = 1 if form == "leaves" else pair_sums.LEAF_BITS
    with gb.set_options(chunk_rows=chunk_rows), mock.patch.object(pair_sums, "LEAF_BITS", leaf):
        found = in_form(form, calls).genobit.grm(method, missing=rule, allele_frequency=p)
        found = found.compute()
    values = found.values
    g = dosages(calls).T
    assert_close(values, relationships(method, g, missing=rule, frequency=p))
    np.testing.assert_array_equal(values, values.T)
    if rule == "pairwise":
        np.testing.assert_array_equal(found.variants_compared, variants_compared(g, p))
    else:
        assert "variants_compared" not in found.coords


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("method", "rule"),
    [("hadamard", "mean"), ("hadamard", "pairwise"), ("endelman_jannink", "mean")],
)
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_transformed_matrix__equals_numpy(
    method: str, rule: str, form: str, missing: float
) -> None:
    calls = whole_calls(3, 240, 71, missing=missing)
    g = dosages(calls).T
    for p in (None, np.random.default_rng(1).uniform(0.1, 0.9, 240)):
        with gb.set_options(chunk_rows=30):
            ds = in_form(form, calls)
            found = ds.genobit.grm(method, missing=rule, allele_frequency=p).values
        assert_close(found, relationships(method, g, missing=rule, frequency=p))


def test_king_and_ibs__are_those_of_relatives() -> None:
    from genobit.data import packed
    from genobit.grm import kinship

    ds = cohort(whole_calls(1, 200, 20, missing=0.05))
    samples = packed.by_samples(ds)[2]
    functions = {"king": kinship.king_compared, "ibs": kinship.ibs_compared}
    for method, function in functions.items():
        found = ds.genobit.grm(method)
        values, compared = function(samples)
        np.testing.assert_array_equal(found, values.compute())
        np.testing.assert_array_equal(found.variants_compared, compared.compute())


@pytest.mark.parametrize("method", SUMMED)
@pytest.mark.parametrize("rule", RULES)
def test_samples_that_miss_a_chunk_altogether(method: str, rule: str) -> None:
    """A tile without a call in some variants divides by all of them all the same."""
    calls = np.abs(random_calls(1, 200, 20))
    calls[100:150, :10] = -1
    calls[150:] = -1
    with gb.set_options(chunk_rows=10):
        bits = cohort(calls).genobit.pack().chunk(variants=50)
        found = bits.genobit.grm(method, missing=rule).values
    assert_close(found, relationships(method, dosages(calls).T, missing=rule))


@pytest.mark.parametrize("method", METHODS)
def test_sample_without_a_call(method: str) -> None:
    calls = np.abs(random_calls(1, 200, 8))
    calls[:, 3] = -1
    others = [k for k in range(8) if k != 3]
    rules = {"king": ["pairwise"], "ibs": ["pairwise"], "endelman_jannink": ["mean"]}
    for rule in rules.get(method, RULES):
        found = cohort(calls).genobit.grm(method, missing=rule).values
        assert not np.isnan(found[np.ix_(others, others)]).any()
        if method not in {"king", "ibs"}:
            assert_close(found, relationships(method, dosages(calls).T, missing=rule))
        if rule == "pairwise":
            assert np.isnan(found[3, others]).all()


@pytest.mark.parametrize("method", ["vanraden1", "vanraden2", "gcta", "dominance", "hadamard"])
@pytest.mark.parametrize("kind", ["all missing", "one allele", "frequencies of 0 and 1"])
def test_nothing_to_divide_by__is_nan(method: str, kind: str) -> None:
    calls = np.abs(random_calls(1, 30, 5))
    p = None
    if kind == "frequencies of 0 and 1":
        p = np.arange(30) % 2.0
    else:
        calls[:] = -1 if kind == "all missing" else 1
    ds = cohort(calls)
    for rule in RULES:
        assert np.isnan(ds.genobit.grm(method, missing=rule, allele_frequency=p)).all()


def test_nothing_to_shrink__is_nan() -> None:
    for call in (-1, 0):
        ds = cohort(np.full((30, 5, 2), call, np.int8))
        assert np.isnan(ds.genobit.grm("endelman_jannink")).all()
    het = np.tile(np.array([0, 1], np.int8), (10, 1, 1))
    np.testing.assert_array_equal(cohort(het).genobit.grm("endelman_jannink"), [[0.0]])


def test_samples_all_alike__are_unrelated_by_their_own_frequencies() -> None:
    """Everyone heterozygous: z is 0, and 2pq is not."""
    calls = np.tile(np.array([0, 1], np.int8), (70, 5, 1))
    for method in ("vanraden1", "vanraden2", "gcta"):
        np.testing.assert_array_equal(cohort(calls).genobit.grm(method), np.zeros((5, 5)))


def test_given_frequency_of_0_or_1__counts_nowhere() -> None:
    calls = np.abs(random_calls(4, 130, 9))
    rng = np.random.default_rng(1)
    p = rng.uniform(0.1, 0.9, 130)
    kept = rng.uniform(size=130) < 0.8
    some = np.where(kept, p, rng.integers(0, 2, 130))
    for method in (*SUMMED, "endelman_jannink"):
        for calls_of in (calls, np.where(rng.uniform(size=(130, 9, 1)) < 0.1, -1, calls)):
            ds = cohort(calls_of.astype(np.int8))
            found = ds.genobit.grm(method, allele_frequency=some).values
            fewer = ds.isel(variants=kept).genobit.grm(method, allele_frequency=p[kept]).values
            assert_close(found, fewer)


def test_frequencies__may_be_a_data_array() -> None:
    ds = cohort(random_calls(0, 80, 12, missing=0.1))
    p = ds.genobit.allele_frequency()
    for method in SUMMED:
        given_p, own = ds.genobit.grm(method, allele_frequency=p), ds.genobit.grm(method)
        known = ~np.isnan(p.values)
        assert known.all()
        assert_close(given_p.values, own.values)


def test_counted_allele__does_not_matter() -> None:
    calls = whole_calls(0, 300, 40, missing=0.05)
    other = np.where(calls < 0, calls, 1 - calls)
    for method in METHODS:
        found, swapped = (cohort(x).genobit.grm(method).values for x in (calls, other))
        assert_close(swapped, found)


def test_selections__are_of_the_samples_left() -> None:
    calls = whole_calls(0, 200, 90, missing=0.02)
    chosen = np.random.default_rng(0).permutation(90)[:67]
    expected = relationships("gcta", dosages(calls[::2, chosen]).T, missing="pairwise")
    for form in FORMS:
        ds = in_form(form, calls).genobit.isel(variants=slice(None, None, 2), samples=chosen)
        grm = ds.genobit.grm("gcta")
        assert_close(grm.values, expected)
        assert grm.sample_id_1.values.tolist() == [f"s{k}" for k in chosen]


@pytest.mark.parametrize("method", METHODS)
def test_planes_of_no_variant__have_no_relationship(method: str) -> None:
    bits = cohort(random_calls(0, 40, 6, missing=0.1)).genobit.pack()
    found = bits.genobit.isel(variants=slice(0, 0)).genobit.grm(method).values
    assert np.isnan(found[~np.eye(6, dtype=bool)]).all()
