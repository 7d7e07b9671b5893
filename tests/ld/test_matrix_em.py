"""r2 and D' of EM haplotype frequencies against plink 1.9, and all ways to ask for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import genobit as gb
from genobit.ld.explorer.data import STATISTICS
from tests.helpers.cohorts import cohort, random_calls
from tests.ld.filesets import FILESETS, PRINTED, founders, listed

DATA_WITHOUT_A_COMPLETE_PAIR = {"hyper_bc/hyper_bc": 125}
"""Pairs that plink leaves out of its table: no sample, or one allele, among the calls of both."""


@pytest.mark.parametrize("fileset", FILESETS)
def test_em__equals_plink(shared_data: Path, fileset: str) -> None:
    ref = (shared_data / fileset).parent / "ref"
    table = pd.read_csv(ref / "dprime100.ld.gz", sep=r"\s+")
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    ids = listed(ds, ref / "first100.txt")
    bits = ds.genobit.pack().genobit.isel(samples=founders(ds)).isel(variants=ids)
    r2, dprime = (bits.genobit.ld(name).values for name in ("r2_em", "dprime_em"))

    names = pd.Index(bits.variant_id.values.astype(str))
    assert names.is_unique
    i, j = names.get_indexer(table["SNP_A"]), names.get_indexer(table["SNP_B"])
    np.testing.assert_allclose(r2[i, j], table["R2"], rtol=PRINTED, atol=1e-9)
    # plink prints |D'|.
    np.testing.assert_allclose(np.abs(dprime[i, j]), table["DP"], rtol=PRINTED, atol=1e-9)
    # What it leaves out has no value.
    left_out = np.triu(np.ones_like(r2, dtype=bool), 1)
    left_out[np.minimum(i, j), np.maximum(i, j)] = False
    assert left_out.sum() == DATA_WITHOUT_A_COMPLETE_PAIR.get(fileset, 0)
    assert np.isnan(r2[left_out]).all()
    assert np.isnan(dprime[left_out]).all()


def test_em__of_phased_calls_without_double_heterozygotes_is_that_of_haplotypes() -> None:
    # Nothing is to be estimated where nobody is heterozygous: D' and its sign are those of
    # haplotypes, 0 included.
    alleles = np.random.default_rng(1).integers(0, 2, (9, 50)).astype("int8")
    alleles[7] = np.arange(50) % 2
    alleles[8] = np.arange(50) // 2 % 2
    alleles[7:, 48:] = -1
    ds = cohort(np.stack([alleles, alleles], axis=-1))
    phased = ds.genobit.pack(phased=True).genobit
    for name in ("r2", "dprime"):
        found = ds.genobit.ld(name + "_em").values
        np.testing.assert_allclose(found, phased.ld(name).values, atol=1e-7)
    assert ds.genobit.ld("dprime_em").values[7, 8] == 0


def test_em__does_not_depend_on_chunks_or_on_how_it_is_asked_for() -> None:
    calls = random_calls(4, 60, 70, missing=0.05)
    ds = cohort(calls, contigs=2)
    for name in ("r2_em", "dprime_em"):
        square = ds.genobit.ld(name).values
        with gb.set_options(chunk_rows=16):
            bits = ds.genobit.pack()
            assert bits.genobit.ld(name).values.tobytes() == square.tobytes()
            two = bits.isel(variants=[40, 3]).genobit.ld(name, other=bits).values
            np.testing.assert_array_equal(two, square[[40, 3]])
            band = bits.genobit.ld(name, window=7)
        contig = ds.variant_contig.values
        for i, k in np.ndindex(60, 7):
            j = i + 1 + k
            right = square[i, j] if j < 60 and contig[i] == contig[j] else np.nan
            np.testing.assert_array_equal(band.values[i, k], right)
        assert band.name == name
        assert "EM" in band.attrs["long_name"]


def test_pairs__by_r2_of_em() -> None:
    ds = cohort(random_calls(4, 60, 70, missing=0.05), contigs=2, chunks=(17, 70))
    square = ds.genobit.ld("r2_em").values
    table = ds.genobit.ld_pairs(threshold=0.3, window=20, statistic="r2_em").to_dataframe()
    assert [*table.columns[-2:]] == ["variant_id_1", "r2_em"]
    i, j = table["variant_0"].values, table["variant_1"].values
    np.testing.assert_array_equal(table["r2_em"], square[i, j])
    contig = ds.variant_contig.values
    wanted = [
        (a, b)
        for a in range(60)
        for b in range(a + 1, min(a + 21, 60))
        if contig[a] == contig[b] and square[a, b] >= np.float32(0.3)
    ]
    assert len(wanted) > 20
    assert sorted(zip(i, j, strict=True)) == wanted


def test_em__needs_dosages() -> None:
    ds = cohort(random_calls(4, 5, 10), phased=True)
    phased = ds.genobit.pack(phased=True).genobit
    with pytest.raises(ValueError, match="take 'dprime', or use dosages with phased=False"):
        phased.ld("dprime_em")
    np.testing.assert_array_equal(phased.ld("r2_em", phased=False), ds.genobit.ld("r2_em"))
    with pytest.raises(ValueError, match="'dprime' of a table of pairs is not one of r2, r2_em"):
        phased.ld_pairs(threshold=0.5, statistic="dprime")


def test_explorer__offers_em_of_dosages() -> None:
    explorer = cohort(random_calls(4, 30, 20)).genobit.explore.ld(statistic="dprime_em")
    assert explorer.statistics == STATISTICS["dosage"]
    assert "EM D′" in explorer.status
    assert np.nanmin(explorer.visible["dprime_em"]) < 0
