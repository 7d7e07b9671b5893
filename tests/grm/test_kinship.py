"""Kinship and identity by state against plink; related pairs; unrelated sets."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.data import packed
from genobit.grm import kinship as relatives
from genobit.grm.unrelated import unrelated
from tests.grm.filesets import CHROMOSOMES, FILESETS, autosomes, first120
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import PLINK, PLINK2, plink, plink2, run
from tests.helpers.reference import dosages, relatives_matrices

PRINTED = 5.1e-6
"""plink prints six digits: half a unit of the last is 5e-6 of 1.00000."""
TOLERANCE = {"rtol": 1e-13, "atol": 1e-14}


def matrices(ds: xr.Dataset) -> list[np.ndarray]:
    """Kinship, identity by state, and the variants compared."""
    samples = packed.by_samples(ds)[2]
    return list(dask.compute(relatives.king(samples), *relatives.ibs_compared(samples)))


@pytest.mark.parametrize("fileset", FILESETS)
def test_king__equals_plink2(shared_data: Path, fileset: str) -> None:
    expected = np.loadtxt((shared_data / fileset).parent / "ref/king_p2_first120.king.gz")
    found = matrices(first120(shared_data, fileset))[0]
    # A quotient by no heterozygous call is -inf to plink2, or nan; to us it is always nan.
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    here = np.isfinite(expected)
    np.testing.assert_allclose(found[here], expected[here], rtol=PRINTED, atol=1e-12)


@pytest.mark.parametrize("fileset", ["kg1_chr22/kg1_chr22_maf01", "mice_hs/mice_hs"])
def test_ibs__equals_plink(shared_data: Path, fileset: str) -> None:
    expected = np.loadtxt((shared_data / fileset).parent / "ref/ibs_p1_first120.mibs.gz")
    found = matrices(first120(shared_data, fileset))[1]
    np.testing.assert_allclose(found, expected, rtol=PRINTED)


@PLINK
@pytest.mark.parametrize(
    "fileset", ["hapmap279/hapmap279", "hyper_bc/hyper_bc", "asthma_cc/asthma_cc"]
)
def test_ibs_with_missing_calls__equals_plink(
    shared_data: Path, fileset: str, tmp_path: Path
) -> None:
    # The references weight what is missing by allele frequencies; flat-missing counts calls.
    species = ["--mouse"] if fileset in CHROMOSOMES else []
    distances = ("--autosome", "--distance", "ibs", "square", "flat-missing")
    plink(shared_data / fileset, tmp_path / "out", *species, *distances)
    expected = np.loadtxt(tmp_path / "out.mibs")
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    found = matrices(ds.isel(variants=autosomes(ds, CHROMOSOMES.get(fileset, 22))))[1]
    np.testing.assert_allclose(found, expected, rtol=PRINTED)


def test_trios__are_of_the_first_degree(shared_data: Path) -> None:
    ds = gb.open_plink(shared_data / "hapmap279/hapmap279.bed")
    kinship = matrices(ds.isel(variants=autosomes(ds)))[0]
    place = {name: k for k, name in enumerate(ds.sample_id.values)}
    couples = [
        (place[child], place[parent])
        for parents in (ds.sample_father_id.values, ds.sample_mother_id.values)
        for child, parent in zip(ds.sample_id.values, parents, strict=True)
        if parent in place
    ]
    # One parent of the 60 trios is not in the file.
    assert len(couples) == 119
    values = np.array([kinship[couple] for couple in couples])
    assert abs(values.mean() - 0.25) < 0.005
    assert set(relatives.degree_of(values)) == {"first degree"}
    copies = [name for name in place if name.endswith(".dup")]
    assert len(copies) == 10
    twins = [kinship[place[name], place[name.removesuffix(".dup")]] for name in copies]
    assert set(relatives.degree_of(twins)) == {"duplicate or twin"}


CHUNKS = [None, (64, 30), (100, 30), (7, 13), (300, 5)]


@given(
    seed=st.integers(0, 2**32),
    samples=st.integers(1, 30),
    chunks=st.sampled_from(CHUNKS),
    rows=st.sampled_from(["variants", "samples", "calls"]),
    chunk_rows=st.sampled_from([4, 7, 2048]),
    missing=st.sampled_from([0.0, 0.03]),
)
def test_matrices__are_the_same_bits_in_any_chunks(
    seed: int,
    samples: int,
    chunks: tuple[int, int] | None,
    rows: str,
    chunk_rows: int,
    missing: float,
) -> None:
    calls = random_calls(seed, 200, samples, missing=missing)
    whole = matrices(cohort(calls))
    expected = relatives_matrices(dosages(calls).T)
    for found, right in zip(whole, expected[[0, 1, 3]], strict=True):
        np.testing.assert_allclose(found, right, **TOLERANCE)
    ds = cohort(calls, chunks=chunks)
    with gb.set_options(chunk_rows=chunk_rows):
        found = matrices(ds if rows == "calls" else ds.genobit.pack(rows=rows))
    for a, b in zip(found, whole, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def pairs_of(matrix: np.ndarray, threshold: float) -> list[tuple[int, int]]:
    n = len(matrix)
    return [(i, j) for i in range(n) for j in range(i + 1, n) if matrix[i, j] >= threshold]


@pytest.fixture
def related() -> xr.Dataset:
    """Twenty-five samples of which some are copies or children of others."""
    rng = np.random.default_rng(7)
    calls = (rng.uniform(size=(600, 25, 2)) < rng.uniform(0.2, 0.8, (600, 1, 1))).astype("int8")
    calls[:, 10] = calls[:, 3]
    for child, father, mother in ((20, 1, 2), (21, 1, 2), (22, 20, 9)):
        for h, parent in enumerate((father, mother)):
            calls[:, child, h] = calls[np.arange(600), parent, rng.integers(0, 2, 600)]
    calls[rng.uniform(size=calls.shape) < 0.01] = -1
    ds = cohort(calls, chunks=(100, 25))
    return ds.assign(sample_family_id=("samples", np.array(["f"] * 25, object)))


@pytest.mark.parametrize("chunk_rows", [4, 7, 2048])
def test_pairs__are_those_of_the_matrix(related: xr.Dataset, chunk_rows: int) -> None:
    values = dosages(related.call_genotype.values).T
    kinship, _, opposite, variants = relatives_matrices(values)
    with gb.set_options(chunk_rows=chunk_rows):
        with raise_if_dask_computes():
            lazy = related.genobit.grm_pairs("king", threshold=0.0884)
        parts = list(lazy._frames())
        whole = lazy.to_dataframe()
    tiles = -(-25 // chunk_rows)
    assert len(parts) == tiles * (tiles + 1) // 2
    for part in parts:
        places = part[["sample_0", "sample_1"]].to_numpy().tolist()
        assert places == sorted(places)
    table = pd.concat(parts).sort_values(["sample_0", "sample_1"], ignore_index=True)
    # A part without rows does not tell the type of its text.
    pd.testing.assert_frame_equal(table, whole, check_dtype=False)
    places = list(zip(table["sample_0"], table["sample_1"], strict=True))
    assert places == pairs_of(kinship, 0.0884)
    assert (3, 10) in places
    assert (1, 22) in places
    ids = related.sample_id.values
    for k in (0, 1):
        assert list(table[f"sample_id_{k}"]) == [ids[place[k]] for place in places]
        assert set(table[f"sample_family_id_{k}"]) == {"f"}
    at = tuple(np.array(places).T)
    np.testing.assert_allclose(table["king"], kinship[at], **TOLERANCE)
    np.testing.assert_array_equal(table["ibs0"], opposite[at])
    np.testing.assert_array_equal(table["variants"], variants[at])
    assert list(table["degree"]) == relatives.degree_of(kinship[at]).tolist()
    assert table["degree"].iloc[places.index((3, 10))] == "duplicate or twin"


@pytest.mark.parametrize("method", ["ibs", "vanraden1", "gcta", "dominance"])
def test_pairs_of_any_method(related: xr.Dataset, method: str) -> None:
    matrix = related.genobit.grm(method).values
    # Tiles of other sizes add their floats in another order: the threshold is between two values.
    threshold = float(np.sort(matrix[np.triu_indices(25, 1)])[[-8, -7]].mean())
    with gb.set_options(chunk_rows=6):
        table = related.genobit.grm_pairs(method, threshold=threshold).to_dataframe()
    places = list(zip(table["sample_0"], table["sample_1"], strict=True))
    assert sorted(places) == pairs_of(matrix, threshold)
    assert len(places) == 7
    np.testing.assert_allclose(table[method], [matrix[place] for place in places], atol=1e-6)
    assert "degree" not in table


def test_pairs__stream_to_parquet(related: xr.Dataset, tmp_path: Path) -> None:
    with gb.set_options(chunk_rows=6):
        lazy = related.genobit.grm_pairs(threshold=0.0884)
    lazy.to_parquet(tmp_path / "pairs")
    read = pd.read_parquet(tmp_path / "pairs")
    assert len(read) == len(lazy.to_dataframe())
    assert read["king"].dtype == np.float64


def test_planes_of_a_zarr_store__give_the_same(related: xr.Dataset, tmp_path: Path) -> None:
    related.genobit.pack().to_zarr(tmp_path / "bits.zarr", consolidated=False)
    bits = xr.open_zarr(tmp_path / "bits.zarr", consolidated=False)
    expected = related.genobit.grm_pairs(threshold=0.0884).to_dataframe()
    pd.testing.assert_frame_equal(bits.genobit.grm_pairs(threshold=0.0884).to_dataframe(), expected)
    keep = bits.genobit.unrelated()
    np.testing.assert_array_equal(keep, related.genobit.unrelated())


@pytest.mark.parametrize("threshold", [np.nan, np.inf, -np.inf])
def test_a_threshold_that_is_no_number__is_refused(related: xr.Dataset, threshold: float) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        related.genobit.grm_pairs(threshold=threshold)
    with pytest.raises(ValueError, match="not a finite number"):
        related.genobit.unrelated(threshold)


def test_no_pair__an_empty_table(related: xr.Dataset) -> None:
    table = related.genobit.grm_pairs(threshold=0.6).to_dataframe()
    assert len(table) == 0
    assert list(table)[-4:] == ["king", "ibs0", "variants", "degree"]


def is_independent(kept: np.ndarray, pairs: np.ndarray) -> bool:
    return not (kept[pairs[0]] & kept[pairs[1]]).any()


def is_maximal(kept: np.ndarray, pairs: np.ndarray) -> bool:
    excluded = ~kept
    touched = np.zeros_like(kept)
    touched[pairs[0][kept[pairs[1]]]] = True
    touched[pairs[1][kept[pairs[0]]]] = True
    return bool((~excluded | touched).all())


def largest(pairs: np.ndarray, n: int) -> int:
    """Size of the largest independent set, by trying all."""
    adjacent = [0] * n
    for i, j in pairs.T.tolist():
        adjacent[i] |= 1 << j
        adjacent[j] |= 1 << i
    return max(
        kept.bit_count()
        for kept in range(1 << n)
        if all(not kept >> k & 1 or not adjacent[k] & kept for k in range(n))
    )


@given(seed=st.integers(0, 2**32), n=st.integers(1, 60), density=st.sampled_from([0, 0.05, 0.3, 1]))
def test_unrelated__is_independent_and_maximal(seed: int, n: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(size=(n, n)) < density, 1)
    pairs = np.stack(np.nonzero(upper))
    kept = unrelated(pairs, n)
    assert kept.shape == (n,)
    assert is_independent(kept, pairs)
    assert is_maximal(kept, pairs)
    shuffled = pairs[:, rng.permutation(pairs.shape[1])]
    np.testing.assert_array_equal(unrelated(shuffled, n), kept)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 9))
def test_unrelated__is_nearly_the_largest(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.stack(np.nonzero(np.triu(rng.uniform(size=(n, n)) < 0.4, 1)))
    assert unrelated(pairs, n).sum() >= largest(pairs, n) - 1


@given(seed=st.integers(0, 2**32), n=st.integers(2, 12))
def test_unrelated_of_a_tree__is_the_largest(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    children = np.arange(1, n)
    parents = np.array([rng.integers(0, k) for k in children])
    pairs = np.stack([parents, children])
    assert unrelated(pairs, n).sum() == largest(pairs, n)


@PLINK2
@pytest.mark.parametrize(
    ("fileset", "kept"),
    [("hapmap279/hapmap279", 207), ("mice_hs/mice_hs", 143), ("kg1_chr22/kg1_chr22_maf01", 1028)],
)
def test_unrelated__keeps_no_fewer_than_plink2(
    shared_data: Path, fileset: str, kept: int, tmp_path: Path
) -> None:
    last = CHROMOSOMES.get(fileset, 22)
    asked = ("--chr-set", last, "--autosome", "--king-cutoff", "0.0884", "--memory", "2000")
    plink2(tmp_path / "out", "--bfile", shared_data / fileset, *asked)
    lines = (tmp_path / "out.king.cutoff.in.id").read_text().splitlines()[1:]
    theirs = {line.split()[-1] for line in lines}
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    ours = ds.isel(variants=autosomes(ds, last)).genobit.unrelated()
    assert ours.sum() == kept >= len(theirs)
    if kept == len(theirs):
        assert set(ours.sample_id.values[ours.values]) == theirs


def test_unrelated__has_labels(related: xr.Dataset) -> None:
    bits = related.genobit.pack(rows="samples")
    keep = bits.genobit.unrelated()
    assert keep.dims == ("samples",)
    assert keep.dtype == bool
    assert keep.attrs["threshold"] == 0.0884
    np.testing.assert_array_equal(keep.sample_id, related.sample_id)
    xr.testing.assert_identical(keep.variable, related.genobit.unrelated().variable)
    # One of the twins, and the other of the child and its parents and sibling that leaves most.
    kinship = matrices(related)[0]
    chosen = kinship[np.ix_(keep.values, keep.values)]
    assert (chosen[~np.eye(len(chosen), dtype=bool)] <= 0.0884).all()
    assert related.genobit.isel(samples=keep).sizes["samples"] == keep.sum()
    # Duplicates alone, and nobody.
    assert related.genobit.unrelated(0.354).sum() == 24
    assert related.genobit.unrelated(0.5).all()


def test_one_sample() -> None:
    ds = cohort(random_calls(0, 50, 1))
    kinship, ibs, variants = matrices(ds)
    assert (kinship.item(), ibs.item(), variants.item()) == (0.5, 1.0, 50)
    assert ds.genobit.unrelated().values.tolist() == [True]
    assert len(ds.genobit.grm_pairs(threshold=0).to_dataframe()) == 0


MEMORY = """
import sys
import dask, numpy as np, xarray as xr
import genobit as gb
from tests.helpers.memory import peak_gib
from genobit.data import layouts
from genobit.engine.bits.layout import Layout

n = 16_000
rng = np.random.default_rng(0)
carrier = rng.integers(0, 2**64, (n, 16), dtype=np.uint64)
hom_alt = carrier & rng.integers(0, 2**64, (n, 16), dtype=np.uint64)
for plane in (carrier, hom_alt):
    plane[1::1000] = plane[::1000]
layout = Layout("dosage", "samples", 1024, 1)
planes = {"plane_carrier": (("samples", "words"), carrier)}
planes["plane_hom_alt"] = ("samples", "words"), hom_alt
ds = layouts.mark_bits(xr.Dataset(planes, attrs=layout.to_attributes()), layout)
with gb.set_options(chunk_rows=1024), dask.config.set(scheduler="threads", num_workers=2):
    keep = ds.genobit.unrelated(0.354)
    assert keep.sum() == n - 16
    ds.genobit.grm_pairs(threshold=0.354).to_parquet(sys.argv[1])
print(peak_gib())
"""


@pytest.mark.long
def test_relatives_among_16_000_samples__stay_under_half_the_matrix(tmp_path: Path) -> None:
    printed = run("-c", MEMORY, str(tmp_path))
    table = pd.read_parquet(tmp_path)
    assert sorted(table["sample_0"]) == list(range(0, 16_000, 1000))
    assert (table["sample_1"] == table["sample_0"] + 1).all()
    # The dense matrix is 1.91 GiB; Python with its libraries takes 0.3.
    assert float(printed) < 0.95


@pytest.mark.parametrize("threshold", ["a", [0.1], -1, -1e-9, 0.51, 2])
def test_unrelated__refuses_a_threshold_that_is_no_kinship(threshold: object) -> None:
    ds = cohort(random_calls(1, 20, 4))
    said = r"threshold=.* is (not a number|outside \[0, 0.5\]): give the kinship above which a pair"
    with pytest.raises((TypeError, ValueError), match=said):
        ds.genobit.unrelated(threshold=threshold)


@pytest.mark.parametrize("chunk_rows", ["auto", 4])
def test_unrelated__names_samples_that_it_cannot_compare(chunk_rows: Any) -> None:
    calls = random_calls(3, 80, 9)
    assert "note" not in cohort(calls).genobit.unrelated().attrs
    calls[:, 5], calls[:, 7] = -1, 0
    said = "2 of 9 samples have no kinship with another sample and count as unrelated, first 's5'"
    with (
        gb.set_options(chunk_rows=chunk_rows),
        pytest.warns(UserWarning, match=said) as found,
    ):
        keep = cohort(calls).genobit.unrelated()
    assert keep.values[[5, 7]].all()
    assert keep.attrs["note"] in [str(each.message) for each in found]


def placed(variants: int, every: int) -> xr.Dataset:
    """A cohort of two contigs with a variant every so many base pairs."""
    ds = cohort(random_calls(5, variants, 6), contigs=2)
    half = variants - variants // 2
    at = np.r_[np.arange(half), np.arange(variants // 2)] * every + 7
    # The order of the variants decides nothing.
    return ds.assign(variant_position=("variants", at)).isel(variants=slice(None, None, -1))


KING = {
    "grm": lambda ds: ds.genobit.grm("king"),
    "grm_pairs": lambda ds: ds.genobit.grm_pairs("king", threshold=0.1),
    "unrelated": lambda ds: ds.genobit.unrelated(),
}


@pytest.mark.parametrize("method", KING)
def test_kinship__warns_of_few_or_linked_variants(method: str) -> None:
    run = KING[method]
    few = placed(999, 20_000)
    with pytest.warns(UserWarning, match="kinship from 999 variants in 999 stretches of 10 kb has"):
        run(few)
    linked = placed(2_000, 500)  # 500 kb of each contig
    said = "kinship from 2,000 variants in 100 stretches of 10 kb has a standard error of about 0.1"
    with pytest.warns(UserWarning, match=said) as found:
        run(linked.genobit.pack())
    assert [each.filename for each in found] == [__file__]
    with pytest.warns(UserWarning, match="kinship from 999 variants has a standard error of about"):
        run(few.drop_vars(["variant_position"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(placed(1_000, 10_000))
        run(linked.drop_vars("variant_position"))
        few.genobit.grm("ibs")


def test_kinship__standard_error_is_as_the_warning_says() -> None:
    rng = np.random.default_rng(8)
    shares = rng.uniform(0.05, 0.5, (900, 1, 1))
    calls = (rng.uniform(size=(900, 120, 2)) < shares).astype(np.int8)
    with pytest.warns(UserWarning, match=r"standard error of about 0\.03,"):
        kinship = cohort(calls).drop_vars("variant_position").genobit.grm("king").values
    spread = kinship[np.triu_indices(120, 1)].std()
    assert abs(spread * 900**0.5 - 1) < 0.05


NONE = cohort(np.full((6, 5, 2), -1, np.int8))
MISSING = {
    "grm": lambda ds: ds.genobit.grm(),
    "grm_pairs": lambda ds: ds.genobit.grm_pairs("gcta", threshold=0.1),
    "ld": lambda ds: ds.genobit.ld(),
    "ld_pairs": lambda ds: ds.genobit.ld_pairs(threshold=0.1),
    "kendall": lambda ds: ds.genobit.kendall(),
    "kendall_pairs": lambda ds: ds.genobit.kendall_pairs(0.1, None),
}


@pytest.mark.parametrize("method", MISSING)
@pytest.mark.parametrize("packed", [False, True])
def test_all_missing__warns_once_that_results_are_nan(method: str, packed: bool) -> None:
    ds = NONE.genobit.pack().compute() if packed else NONE
    with pytest.warns(UserWarning, match="no genotype is called, so the .* are NaN: look") as found:
        MISSING[method](ds)
    assert len(found) == 1
    one = NONE.copy(deep=True)
    one.call_genotype[3, 2] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MISSING[method](one.genobit.pack().compute() if packed else one)
