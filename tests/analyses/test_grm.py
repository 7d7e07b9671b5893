"""Relationship matrices against plink, GCTA's formats, numpy and exact fractions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.analyses.grm_sums import RelationshipSums
from genobit.lazy import pair_sums
from tests.analyses.test_relatives import FILESETS, first120
from tests.cohorts import TAILS, cohort, random_calls
from tests.laziness import raise_if_dask_computes
from tests.reference import dosages, exact_relationships, relationships, variants_compared

SUMMED = ("vanraden1", "vanraden2", "gcta", "dominance")
METHODS = (*SUMMED, "hadamard", "endelman_jannink", "king", "ibs")
RULES = ("mean", "pairwise")
FLOAT32 = 3e-6
"""Of the largest entry: what sums in float32 are good to."""
FORMS = ("calls", "chunks", "variants", "samples", "haplotypes", "leaves")


def in_form(form: str, calls: np.ndarray, contigs: int = 1) -> xr.Dataset:
    """The same cohort in one of the ways that a user may have it."""
    chunks = {"chunks": (70, 13), "variants": (33, 100), "leaves": (40, 100)}.get(form)
    phased = True if form == "haplotypes" else None
    ds = cohort(calls, contigs=contigs, chunks=chunks, phased=phased)
    if form in {"calls", "chunks"}:
        return ds
    if form == "haplotypes":
        return ds.genobit.pack(phased=True)
    bits = ds.genobit.pack(rows="samples" if form == "samples" else "variants")
    return bits.chunk(variants=40) if form == "leaves" else bits


def whole_calls(*args: int, missing: float = 0.0) -> np.ndarray:
    """Calls that are missing on both alleles or neither: half a call is one on haplotypes."""
    calls = random_calls(*args, missing=missing)
    calls[(calls < 0).any(axis=2)] = -1
    return calls


def assert_close(found: np.ndarray, expected: np.ndarray, within: float = FLOAT32) -> None:
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    known = expected[~np.isnan(expected)]
    scale = np.abs(known).max() if known.size else 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=within * max(scale, 1e-3))


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


@pytest.mark.skipif(shutil.which("plink2") is None, reason="plink2 is not installed")
def test_given_frequencies__are_those_of_plink2(shared_data: Path, tmp_path: Path) -> None:
    fileset = shared_data / "hapmap279/hapmap279"
    base = ["plink2", "--threads", "1", "--nonfounders", "--autosome"]
    everyone = [*base, "--bfile", str(fileset), "--freq", "--out", str(tmp_path / "all")]
    subprocess.run(everyone, check=True, capture_output=True)
    ds = first120(shared_data, "hapmap279/hapmap279")
    ids, number = np.unique(ds.variant_id.values, return_counts=True)
    once = np.isin(ds.variant_id.values, ids[number == 1])
    ds = ds.isel(variants=once)
    (tmp_path / "keep.txt").write_text("\n".join(ds.variant_id.values))
    command = [*base, "--bfile", str(fileset), "--read-freq", str(tmp_path / "all.afreq")]
    command += ["--keep", str(fileset.parent / "ref/first120.keep")]
    command += ["--extract", str(tmp_path / "keep.txt"), "--make-rel", "square"]
    subprocess.run([*command, "--out", str(tmp_path / "out")], check=True, capture_output=True)
    rows = [line.split() for line in (tmp_path / "all.afreq").read_text().splitlines()]
    place = {name: rows[0].index(name) for name in ("ID", "ALT", "ALT_FREQS")}
    alt = {row[place["ID"]]: row[place["ALT"]] for row in rows[1:]}
    frequency = {row[place["ID"]]: float(row[place["ALT_FREQS"]]) for row in rows[1:]}
    p = np.array([frequency[name] for name in ds.variant_id.values])
    counted = ds.variant_allele.values[:, 1]
    p = np.where(counted == [alt[name] for name in ds.variant_id.values], p, 1 - p)
    found = ds.genobit.grm("gcta", allele_frequency=p).values
    np.testing.assert_allclose(found, table(tmp_path / "out.rel"), rtol=2e-5, atol=1e-6)


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
    from genobit import packed
    from genobit.analyses import relatives

    ds = cohort(whole_calls(1, 200, 20, missing=0.05))
    samples = packed.by_samples(ds)[2]
    for method, function in (("king", relatives.king), ("ibs", relatives.ibs)):
        found = ds.genobit.grm(method)
        np.testing.assert_array_equal(found, function(samples).compute())
        np.testing.assert_array_equal(
            found.variants_compared, relatives.variants_compared(samples).compute()
        )


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


# Exact


def exact(calls: np.ndarray) -> np.ndarray:
    return np.array(exact_relationships(calls.sum(axis=2, dtype=int).T))


@given(
    form=st.sampled_from(FORMS),
    samples=st.integers(1, 40),
    variants=st.one_of(st.sampled_from(TAILS[:11]), st.integers(1, 150)),
    rule=st.sampled_from(RULES),
    chunk_rows=st.sampled_from([3, 64, 2048]),
    scheduler=st.sampled_from(["threads", "synchronous"]),
    seed=st.integers(0, 2**32),
)
def test_vanraden1__is_exact_to_its_last_division(
    form: str,
    samples: int,
    variants: int,
    rule: str,
    chunk_rows: int,
    scheduler: str,
    seed: int,
) -> None:
    calls = random_calls(seed, variants, samples)
    leaf = 1 if form == "leaves" else pair_sums.LEAF_BITS
    with (
        gb.set_options(chunk_rows=chunk_rows),
        mock.patch.object(pair_sums, "LEAF_BITS", leaf),
        dask.config.set(scheduler=scheduler),
    ):
        found = in_form(form, calls).genobit.grm(missing=rule).values
    np.testing.assert_array_equal(found, exact(calls))


@pytest.mark.parametrize("kernel", ["sums", "table", "popcount", "scalar"])
def test_vanraden1__is_the_same_bits_by_every_kernel(kernel: str) -> None:
    calls = random_calls(8, 1000, 230)
    expected = cohort(calls).genobit.grm().values
    with gb.set_options(kernel=kernel, chunk_rows=200):
        np.testing.assert_array_equal(cohort(calls, chunks=(100, 50)).genobit.grm(), expected)


def test_vanraden1__of_numbers_past_64_bits_falls_back_on_floats() -> None:
    calls = np.abs(random_calls(8, 100, 10))
    expected = cohort(calls).genobit.grm().values
    from genobit import packed

    samples = packed.by_samples(cohort(calls))[2]
    for variants, fits in ((2**53, True), (2**54, False)):
        sums = RelationshipSums.of(
            "vanraden1", samples._replace(variants=(variants,)), None, pairwise=False
        )
        assert sums.exact == fits
    sums = RelationshipSums.of("vanraden1", samples, None, pairwise=False)._replace(exact=False)
    assert_close(sums.matrix(samples, None).values.compute(), expected)


# One chromosome left out


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("method", [*SUMMED, "hadamard"])
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_loco__is_the_matrix_without_the_contig(
    method: str, rule: str, form: str, missing: float
) -> None:
    calls = whole_calls(2, 150, 40, missing=missing)
    calls[:50] = np.abs(calls[:50])
    p = np.random.default_rng(1).uniform(0.1, 0.9, 150)
    contig = cohort(calls, contigs=4).variant_contig.values
    for frequency in (None, p):
        with gb.set_options(chunk_rows=17):
            ds = in_form(form, calls, contigs=4)
            found = ds.genobit.grm(method, missing=rule, allele_frequency=frequency, loco=True)
        assert found.dims == ("contigs", "samples_0", "samples_1")
        assert found.contig_left_out.values.tolist() == ["chr1", "chr2", "chr3", "chr4"]
        for k, values in enumerate(found.values):
            rest = contig != k
            g = dosages(calls[rest]).T
            q = None if frequency is None else frequency[rest]
            assert_close(values, relationships(method, g, missing=rule, frequency=q))
            if rule == "pairwise":
                np.testing.assert_array_equal(found.variants_compared[k], variants_compared(g, q))
            if method == "vanraden1" and frequency is None and not missing:
                np.testing.assert_array_equal(values, exact(calls[rest]))


def test_loco__of_contigs_of_one_variant() -> None:
    calls = np.abs(random_calls(2, 70, 9))
    found = cohort(calls, contigs=70).genobit.grm(loco=True).values
    assert found.shape == (70, 9, 9)
    for k in (0, 13, 69):
        np.testing.assert_array_equal(found[k], exact(np.delete(calls, k, axis=0)))


def test_loco__of_the_only_contig_is_nan() -> None:
    ds = cohort(random_calls(2, 70, 9, missing=0.1))
    for method in SUMMED:
        for rule in RULES:
            found = ds.genobit.grm(method, missing=rule, loco=True)
            assert found.shape == (1, 9, 9)
            assert np.isnan(found).all()


def test_loco__contigs_may_go_without_names_or_have_them_in_place() -> None:
    ds = cohort(random_calls(2, 70, 9), contigs=2)
    expected = ds.genobit.grm(loco=True)
    unnamed = ds.drop_vars("contig_id").genobit.grm(loco=True)
    assert unnamed.contig_left_out.values.tolist() == ["0", "1"]
    names = ds.contig_id.values[ds.variant_contig.values]
    named = ds.assign(variant_contig=("variants", names)).genobit.grm(loco=True)
    assert named.contig_left_out.values.tolist() == ["chr1", "chr2"]
    for found in (unnamed, named):
        np.testing.assert_array_equal(found.values, expected.values)


# Labels, laziness, errors


def test_labels() -> None:
    ds = cohort(random_calls(0, 80, 12, missing=0.1), chunks=(20, 12))
    ds = ds.assign(sample_population=("samples", np.array(list("abcdefabcdef"), object)))
    ds.call_genotype.attrs["counted_allele"] = "variant_allele[:, 1] (ALT)"
    for form in (ds, ds.genobit.pack(), ds.genobit.pack(rows="samples")):
        for method in METHODS:
            grm = form.genobit.grm(method)
            assert grm.dims == ("samples_0", "samples_1")
            assert grm.name == grm.attrs["method"] == method
            assert grm.dtype == np.float64
            for side in "01":
                labels = {name for name in grm.coords if name.endswith(f"_{side}")}
                assert labels == {f"sample_id_{side}", f"sample_population_{side}"}
                np.testing.assert_array_equal(grm[f"sample_id_{side}"], ds.sample_id)
            assert grm.attrs["variants"] == 80
            assert grm.attrs["allele_frequency"] == "of these samples"
            assert grm.attrs["counted_allele"] == "variant_allele[:, 1] (ALT)"
            pairwise = method in {"gcta", "king", "ibs"}
            assert grm.attrs["missing"].startswith("pairwise" if pairwise else "mean")
            assert ("variants_compared" in grm.coords) == pairwise
            assert grm.attrs["long_name"]
    assert ds.genobit.grm(allele_frequency=np.full(80, 0.5)).attrs["allele_frequency"] == "given"
    bare = ds.drop_vars(["sample_id", "sample_population"]).genobit.grm()
    assert not bare.coords


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


@pytest.mark.parametrize("method", METHODS)
def test_nothing_computes_before_it_is_asked_to(method: str) -> None:
    ds = cohort(random_calls(0, 130, 12, missing=0.1), chunks=(20, 6), contigs=2)
    loco = method in {*SUMMED, "hadamard"}
    with raise_if_dask_computes():
        for form in (ds, ds.genobit.pack(), ds.genobit.pack(rows="samples")):
            grm = form.genobit.grm(method, loco=loco)
            grm[..., :3, :4] - 1
            assert isinstance(grm.data, da.Array)
    assert form.genobit.grm(method).data.name == form.genobit.grm(method).data.name


def test_compute__is_one_pass_and_in_memory() -> None:
    ds = cohort(random_calls(0, 130, 12, missing=0.1), chunks=(20, 6), contigs=2)
    for method in METHODS:
        lazy = ds.genobit.grm(method).compute()
        with raise_if_dask_computes(max_computes=1):
            now = ds.genobit.grm(method, compute=True)
        xr.testing.assert_identical(now, lazy)
        assert all(x.chunks is None for x in (now, *now.coords.values()))


def test_compute__past_the_limit_is_refused() -> None:
    ds = cohort(random_calls(0, 30, 12), contigs=3)
    with gb.set_options(eager_limit=12 * 12 * 8):
        ds.genobit.grm(compute=True)
        with pytest.raises(MemoryError, match=r"vanraden1 of 3 x 12 x 12 .*eager_limit"):
            ds.genobit.grm(loco=True, compute=True)


REFUSED = {
    "a method that does not exist": (
        {"method": "vanraden3"},
        "method='vanraden3' is not one of 'vanraden1', 'vanraden2', 'gcta'",
    ),
    "a rule that does not exist": ({"missing": "drop"}, "takes missing='mean' or 'pairwise', not"),
    "king with imputed calls": (
        {"method": "king", "missing": "mean"},
        "method='king' takes missing='pairwise', not 'mean'",
    ),
    "shrinkage of pairwise calls": (
        {"method": "endelman_jannink", "missing": "pairwise"},
        "method='endelman_jannink' takes missing='mean', not 'pairwise'",
    ),
    "ibs by frequencies": (
        {"method": "ibs", "allele_frequency": np.full(40, 0.5)},
        "method='ibs' uses no allele frequencies",
    ),
    "king without a contig": ({"method": "king", "loco": True}, "loco=True goes with .*'king'"),
    "shrinkage without a contig": (
        {"method": "endelman_jannink", "loco": True},
        "loco=True goes with .*'endelman_jannink'",
    ),
    "too few frequencies": (
        {"allele_frequency": np.full(39, 0.5)},
        r"has shape \(39,\), expected \(40,\)",
    ),
    "one frequency": ({"allele_frequency": 0.5}, r"has shape \(\), expected \(40,\)"),
    "a frequency that is none": (
        {"allele_frequency": np.where(np.arange(40) == 7, np.nan, 0.5)},
        "allele_frequency is nan at variants=7",
    ),
    "a frequency past 1": (
        {"allele_frequency": np.where(np.arange(40) == 9, 1.5, 0.5)},
        "allele_frequency is 1.5 at variants=9",
    ),
    "a negative frequency": (
        {"allele_frequency": np.where(np.arange(40) == 2, -0.5, 0.5)},
        "allele_frequency is -0.5 at variants=2",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refuses(kind: str) -> None:
    keywords, message = REFUSED[kind]
    ds = cohort(random_calls(0, 40, 6), contigs=2)
    for form in (ds, ds.genobit.pack(), ds.genobit.pack(rows="samples")):
        with raise_if_dask_computes(), pytest.raises(ValueError, match=message):
            form.genobit.grm(**keywords)


def test_refuses__contigs_in_pieces_or_none() -> None:
    ds = cohort(random_calls(0, 40, 6), contigs=2)
    mixed = ds.assign(variant_contig=("variants", np.arange(40) // 10 % 2))
    with pytest.raises(ValueError, match="contig 0 starts again at variants=20: sort"):
        mixed.genobit.grm(loco=True)
    mixed.genobit.grm()
    with pytest.raises(KeyError, match="needs the variable 'variant_contig'"):
        ds.drop_vars("variant_contig").genobit.grm(loco=True)


def test_refuses__genotypes_it_cannot_take() -> None:
    calls = random_calls(0, 40, 6)
    ds = cohort(calls)
    with pytest.raises(ValueError, match="ploidy 1, a dosage needs 2"):
        cohort(calls[..., :1]).genobit.grm()
    with pytest.raises(ValueError, match="ploidy 1"):
        cohort(calls[..., :1], phased=True).genobit.pack(phased=True).genobit.grm()
    mixed = calls.copy()
    mixed[5, 3] = (0, -2)
    with pytest.raises(ValueError, match="variants=5, samples=3: this sample has lower ploidy"):
        cohort(mixed).genobit.grm().compute()
    for dim in ("variants", "samples"):
        with pytest.raises(ValueError, match=f"empty along '{dim}'"):
            ds.isel({dim: slice(0, 0)}).genobit.grm()
    mask = da.from_array(np.ones(40, bool), chunks=10)
    unknown = da.from_array(calls, chunks=(10, 6, 2))[mask]
    with pytest.raises(ValueError, match="unknown size along 'variants'"):
        xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), unknown)}).genobit.grm()
    with pytest.raises(ValueError, match=r"\.genobit\.isel"):
        ds.genobit.pack().isel(samples=slice(1, 4)).genobit.grm()


@pytest.mark.parametrize("method", METHODS)
def test_planes_of_no_variant__have_no_relationship(method: str) -> None:
    bits = cohort(random_calls(0, 40, 6, missing=0.1)).genobit.pack()
    found = bits.genobit.isel(variants=slice(0, 0)).genobit.grm(method).values
    assert np.isnan(found[~np.eye(6, dtype=bool)]).all()


def test_selections__are_of_the_samples_left() -> None:
    calls = whole_calls(0, 200, 90, missing=0.02)
    chosen = np.random.default_rng(0).permutation(90)[:67]
    expected = relationships("gcta", dosages(calls[::2, chosen]).T, missing="pairwise")
    for form in FORMS:
        ds = in_form(form, calls).genobit.isel(variants=slice(None, None, 2), samples=chosen)
        grm = ds.genobit.grm("gcta")
        assert_close(grm.values, expected)
        assert grm.sample_id_1.values.tolist() == [f"s{k}" for k in chosen]


# Elsewhere


@pytest.mark.parametrize("loco", [False, True])
def test_zarr_round_trip(tmp_path: Path, loco: bool) -> None:
    ds = cohort(random_calls(0, 130, 12, missing=0.1), chunks=(20, 6), contigs=2)
    with gb.set_options(chunk_rows=5):
        lazy = ds.genobit.grm("gcta", loco=loco)
    lazy.to_zarr(tmp_path / "grm.zarr", consolidated=False)
    again = xr.open_dataarray(tmp_path / "grm.zarr", engine="zarr", consolidated=False)
    xr.testing.assert_identical(again.compute(), lazy.compute())


@pytest.mark.distributed
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the cluster's own, at start and at the end
def test_on_a_cluster__is_the_same() -> None:
    from distributed import Client, LocalCluster

    ds = cohort(whole_calls(7, 300, 97, missing=0.1), contigs=3, chunks=(50, 97))
    bits = ds.genobit.pack(rows="samples")
    with gb.set_options(chunk_rows=40):
        asked = [form.genobit.grm(method) for method in METHODS for form in (ds, bits)]
        asked.append(ds.genobit.grm(loco=True))
    expected = [grm.compute(scheduler="synchronous") for grm in asked]
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, Client(cluster):
        for found, right in zip(dask.compute(*asked), expected, strict=True):
            xr.testing.assert_identical(found, right)


MEMORY = """
import resource, sys
import dask, dask.array as da, numpy as np, xarray as xr
import genobit as gb
from genobit import model
from genobit.packing import Layout, tail_mask

n, variants, chunk = 10_000, 100_000, 2048
words = -(-n // 64)

def planes(block_info=None):
    _, (start, stop), _ = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    out = rng.integers(0, 2**64, (2, stop - start, words), dtype=np.uint64)
    out[1] &= out[0]
    out[:, :, -1] &= tail_mask(n)
    return out

sizes = tuple(min(chunk, variants - s) for s in range(0, variants, chunk))
meta = np.empty((0, 0, 0), np.uint64)
both = da.map_blocks(planes, chunks=((2,), sizes, (words,)), dtype=np.uint64, meta=meta)
layout = Layout("dosage", "variants", n, 1)
named = {"plane_carrier": both[0], "plane_hom_alt": both[1]}
ds = xr.Dataset(
    {name: (("variants", "words"), plane) for name, plane in named.items()},
    attrs=layout.to_attributes(),
)
ds = model.mark_bits(ds, layout)
with dask.config.set(scheduler="threads", num_workers=2):
    ds.genobit.grm().to_zarr(sys.argv[1] + "/grm.zarr", consolidated=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.slow
def test_matrix_of_10_000_samples_and_100_000_variants__stays_under_3_gb(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 2.8
