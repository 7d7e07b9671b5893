"""Haploid genotypes, of bacteria and fungi: quality control, relationships and components."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls

FORMS: dict[str, Callable[[xr.Dataset], xr.Dataset]] = {
    "calls": lambda ds: ds,
    "chunks": lambda ds: ds.chunk(variants=40),
    "planes": lambda ds: ds.genobit.pack(phased=True),
    "planes in memory": lambda ds: ds.genobit.pack(phased=True).compute(),
}
FORM = pytest.mark.parametrize("form", FORMS)


def haploid(missing: float = 0.05, samples: int = 30) -> xr.Dataset:
    """Isolates with a sex that means nothing, on contigs that would mean something in humans."""
    ds = cohort(random_calls(7, 130, samples, missing=missing, ploidy=1), contigs=3)
    sexes = np.arange(samples, dtype=np.int8) % 3
    return ds.assign(
        contig_id=("contigs", np.array(["chr1", "X", "plasmid"], object)),
        sample_sex=("samples", sexes),
    )


def alleles(ds: xr.Dataset) -> np.ndarray:
    """0, 1 or NaN: (variants, samples)."""
    calls = ds.call_genotype.values[..., 0].astype(float)
    return np.where(calls < 0, np.nan, calls)


@FORM
def test_variant_stats__count_one_allele_a_call(form: str) -> None:
    ds = haploid()
    a = alleles(ds)
    stats = FORMS[form](ds).genobit.variant_stats().compute()
    p = np.nanmean(a, axis=1)
    right = {
        "call_rate": (~np.isnan(a)).mean(axis=1),
        "n_called": (~np.isnan(a)).sum(axis=1),
        "allele_count": np.nansum(a, axis=1),
        "allele_number": (~np.isnan(a)).sum(axis=1),
        "allele_frequency": p,
        "maf": np.minimum(p, 1 - p),
    }
    assert list(stats.data_vars) == list(right)
    for name, values in right.items():
        np.testing.assert_allclose(stats[name], values, rtol=1e-14, err_msg=name)
    frequency = FORMS[form](ds).genobit.allele_frequency()
    np.testing.assert_allclose(frequency, p, rtol=1e-14)
    of = FORMS[form](ds).genobit.variant_stats(populations=np.arange(30) % 2).compute()
    np.testing.assert_allclose(of.maf[1], stats_of(a[:, 1::2]), rtol=1e-14)


def stats_of(a: np.ndarray) -> np.ndarray:
    p = np.nanmean(a, axis=1)
    return np.minimum(p, 1 - p)


@FORM
def test_sample_stats__count_calls_and_alleles(form: str) -> None:
    ds = haploid()
    a = alleles(ds)
    stats = FORMS[form](ds).genobit.sample_stats().compute()
    assert list(stats.data_vars) == ["call_rate", "n_called", "n_alt"]
    np.testing.assert_allclose(stats.call_rate, (~np.isnan(a)).mean(axis=0))
    np.testing.assert_array_equal(stats.n_called, (~np.isnan(a)).sum(axis=0))
    np.testing.assert_array_equal(stats.n_alt, np.nansum(a, axis=0))


@FORM
def test_filter__keeps_common_variants_and_called_samples(form: str) -> None:
    ds = haploid(missing=0.15)
    a = alleles(ds)
    kept = FORMS[form](ds).genobit.filter(min_maf=0.1, max_missing=0.2, max_sample_missing=0.17)
    people = np.isnan(a).mean(axis=0) <= 0.17 + 1e-9
    some = a[:, people]
    variants = (np.isnan(some).mean(axis=1) <= 0.2 + 1e-9) & ~(stats_of(some) < 0.1 - 1e-9)
    assert 5 < people.sum() < 30
    assert 20 < variants.sum() < 130
    assert kept.sample_id.values.tolist() == ds.sample_id.values[people].tolist()
    assert kept.variant_id.values.tolist() == ds.variant_id.values[variants].tolist()
    assert ("plane_alt" in kept) == form.startswith("planes")
    with pytest.raises(
        ValueError, match="a Hardy-Weinberg test needs diploid genotypes, and these are haploid"
    ):
        FORMS[form](ds).genobit.filter(min_hwe=0.01)
    with pytest.raises(ValueError, match="hwe_samples= needs diploid genotypes"):
        FORMS[form](ds).genobit.variant_stats(hwe_samples=ds.sample_sex == 1)


def relationships(a: np.ndarray, method: str, missing: str) -> np.ndarray:
    """The formulas of haploid dosages, 0 and 1, of variance p (1 - p)."""
    called = ~np.isnan(a)
    if method == "ibs":
        same = sum((a == x).astype(float).T @ (a == x) for x in (0, 1))
        return np.asarray(same / (called.T.astype(float) @ called))
    p = np.nanmean(a, axis=1)
    some = (p > 0) & (p < 1)
    a, called, p = a[some], called[some].astype(float), p[some]
    w = p * (1 - p) if method == "vanraden1" else np.ones(p.size)
    z = np.nan_to_num(a - p[:, None])
    z = z if method == "vanraden1" else z / np.sqrt(p * (1 - p))[:, None]
    below = (called * w[:, None]).T @ called if missing == "pairwise" else w.sum()
    return np.asarray(z.T @ z / below)


@FORM
@pytest.mark.parametrize(
    ("method", "missing"),
    [*product(["vanraden1", "vanraden2"], ["mean", "pairwise"]), ("ibs", "pairwise")],
)
def test_grm__is_of_dosages_0_and_1(form: str, method: str, missing: str) -> None:
    for share in (0.0, 0.1):
        ds = haploid(share)
        asked = {"missing": missing, "autosomes": False}
        grm = FORMS[form](ds).genobit.grm(method, **asked)
        right = relationships(alleles(ds), method, missing)
        np.testing.assert_allclose(grm.values, right, rtol=2e-6, atol=2e-6)
        assert grm.attrs["ploidy"] == 1
        assert grm.sample_id_0.values.tolist() == ds.sample_id.values.tolist()
        pairs = FORMS[form](ds).genobit.grm_pairs(method, threshold=0.3, **asked).to_dataframe()
        i, j = pairs.sample_0.to_numpy(), pairs.sample_1.to_numpy()
        np.testing.assert_array_equal(pairs[method], grm.values[i, j])
        assert len(pairs) == (np.triu(grm.values, 1) >= 0.3).sum() > 0


def test_grm__of_one_chromosome_left_out() -> None:
    ds = haploid()
    grm = ds.genobit.grm("vanraden2", loco=True, autosomes=False)
    a = alleles(ds.isel(variants=ds.variant_contig.values != 1))
    right = relationships(a, "vanraden2", "mean")
    np.testing.assert_allclose(grm[1].values, right, rtol=2e-6, atol=2e-6)


@FORM
def test_relationships_of_diploids__are_refused(form: str) -> None:
    ds = FORMS[form](haploid())
    for method in ("gcta", "king", "dominance", "hadamard", "endelman_jannink"):
        said = f"method='{method}' needs diploid genotypes, and these are haploid: take one of 'van"
        with pytest.raises(ValueError, match=said):
            ds.genobit.grm(method)
    with pytest.raises(ValueError, match=r"KING-robust kinship needs diploid .*pairs="):
        ds.genobit.unrelated()
    pairs = ds.genobit.grm_pairs("ibs", threshold=0.7)
    keep = ds.genobit.unrelated(0.7, pairs=pairs).values
    same = ds.genobit.grm("ibs").values[np.ix_(keep, keep)]
    assert 1 < keep.sum() < 30
    assert (same[~np.eye(keep.sum(), dtype=bool)] <= 0.7).all()


@FORM
@pytest.mark.parametrize("method", ["exact", "randomized"])
def test_pca__is_of_dosages_0_and_1(form: str, method: str) -> None:
    ds = haploid(0.03)
    a = alleles(ds)
    pcs = FORMS[form](ds).genobit.pca(3, method=method, autosomes=False)
    values, vectors = np.linalg.eigh(relationships(a, "vanraden2", "mean"))
    np.testing.assert_allclose(pcs.explained_variance, values[::-1][:3], rtol=1e-6)
    ratio = values[::-1][:3] / values.sum()
    np.testing.assert_allclose(pcs.explained_variance_ratio, ratio, rtol=1e-6)
    scores = vectors[:, ::-1][:, :3] * np.sqrt(values[::-1][:3])
    signs = np.sign((scores * pcs.scores.values).sum(axis=0))
    np.testing.assert_allclose(pcs.scores.values, scores * signs, atol=1e-5)
    assert pcs.attrs["ploidy"] == 1
    assert pcs.attrs["scaling"] == "(dosage - p) / sqrt(p (1 - p))"
    # Their own scores, from the components.
    again = FORMS[form](ds).genobit.project(pcs)
    np.testing.assert_allclose(again, pcs.scores, atol=1e-5)


def test_project__takes_components_of_the_same_ploidy() -> None:
    ds = haploid()
    twice = ds.isel(ploidy=[0, 0])
    with pytest.raises(ValueError, match="ploidy 2, and these have ploidy 1: take each haploid"):
        ds.genobit.project(twice.genobit.pca(2))
    with pytest.raises(ValueError, match="ploidy 1, and these have ploidy 2"):
        twice.genobit.project(ds.genobit.pca(2))


def test_a_haploid_vcf__from_file_to_components(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    calls = rng.choice(["0", "1", "."], (60, 12), p=[0.5, 0.45, 0.05])
    names = "\t".join(f"iso{k}" for k in range(12))
    lines = [
        "##fileformat=VCFv4.2",
        "##contig=<ID=NC_000913.3>",
        '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
        f"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t{names}",
    ]
    lines += [
        f"NC_000913.3\t{10 * k + 10}\t.\tA\tC\t.\t.\t.\tGT\t" + "\t".join(row)
        for k, row in enumerate(calls)
    ]
    (tmp_path / "isolates.vcf").write_text("\n".join(lines) + "\n")
    ds = gb.open_vcf(tmp_path / "isolates.vcf")
    a = np.where(calls == ".", np.nan, (calls == "1").astype(float))
    kept = ds.genobit.filter(min_maf=0.2)
    np.testing.assert_allclose(kept.genobit.variant_stats().maf, stats_of(a)[stats_of(a) >= 0.2])
    np.testing.assert_allclose(
        ds.genobit.grm().values, relationships(a, "vanraden1", "mean"), rtol=1e-5, atol=1e-5
    )
    assert ds.genobit.pca(2).scores.shape == (12, 2)


ESTIMATED: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("variant_stats", "sample_stats", "allele_frequency", "grm", "pca")},
    "filter": {"min_maf": 0.1},
}


@pytest.mark.parametrize("method", ESTIMATED)
def test_estimates__take_haploid_genotypes(method: str) -> None:
    found = getattr(haploid().genobit.estimate, method)(**ESTIMATED[method])
    assert " variants" in found.what


@FORM
def test_report__says_that_it_is_of_diploids(form: str, tmp_path: Path) -> None:
    path = FORMS[form](haploid()).genobit.report(tmp_path / "report.html")
    assert "the report is of diploid genotypes, and these are haploid" in path.read_text()
