from __future__ import annotations

import itertools
import platform
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from genobit.grm.kinship import degree_of
from genobit.io.samples import sample as sample_module
from genobit.io.samples.sample import sample_dataset
from tests.helpers import reference
from tests.helpers.programs import run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def cohort(cache_dir: Path) -> xr.Dataset:
    return sample_dataset(cache_dir=cache_dir)


@pytest.fixture(scope="module")
def dosage(cohort: xr.Dataset) -> np.ndarray:
    return cohort.call_genotype.values.sum(axis=2)


def mutual_information(dosage: np.ndarray, variants: tuple[int, ...], case: np.ndarray) -> float:
    table = np.zeros((2, *[3] * len(variants)), np.int64)
    np.add.at(table, (case.astype(int), *dosage[list(variants)]), 1)
    return reference.mutual_information(table)


def test_shape_and_labels(cohort: xr.Dataset) -> None:
    assert dict(cohort.sizes) == {
        "variants": 20_000,
        "samples": 2_000,
        "ploidy": 2,
        "alleles": 2,
        "contigs": 2,
    }
    assert cohort.call_genotype.dtype == np.int8
    assert cohort.call_genotype.chunksizes["samples"] == (2_000,)
    assert cohort.call_genotype.attrs["counted_allele"] == "variant_allele[:, 1] (ALT)"
    assert cohort.call_genotype_phased.all()
    assert cohort.contig_id.values.tolist() == ["1", "2"]
    assert len(set(cohort.variant_id.values)) == 20_000
    assert len(set(cohort.sample_id.values)) == 2_000
    assert set(cohort.variant_allele.values.ravel()) == set("ACGT")
    names, counts = np.unique(cohort.sample_population.values.astype(str), return_counts=True)
    assert dict(zip(names, counts, strict=True)) == {"AFR": 700, "EAS": 600, "EUR": 700}
    for contig in (0, 1):
        here = cohort.isel(variants=cohort.variant_contig.values == contig)
        assert (np.diff(here.variant_position) > 0).all()
        assert (np.diff(here.variant_genetic_position) > 0).all()


def test_frequencies_and_linkage(dosage: np.ndarray) -> None:
    frequency = dosage.mean(axis=1) / 2
    assert np.minimum(frequency, 1 - frequency).min() >= 0.01
    near = [np.corrcoef(dosage[i], dosage[i + 1])[0, 1] ** 2 for i in range(0, 9_000, 50)]
    far = [np.corrcoef(dosage[i], dosage[i + 9_999])[0, 1] ** 2 for i in range(0, 9_000, 50)]
    assert np.mean(near) > 0.1
    assert np.mean(far) < 0.03


def test_ld_blocks_span_tens_of_kilobases(cohort: xr.Dataset) -> None:
    blocks = cohort.genobit.ld_blocks()
    assert 20 < blocks.kb.median() < 60
    assert 100 < blocks.kb.quantile(0.95) < 200
    assert blocks.n[blocks.kb >= 20].sum() > 8_000  # of 20,000 variants
    assert 20_000 < cohort.genobit.ld_decay().half_decay_of_means < 80_000


def test_genetic_map(cohort: xr.Dataset) -> None:
    for contig in (0, 1):
        here = cohort.isel(variants=cohort.variant_contig.values == contig)
        assert abs(here.variant_genetic_position[-1] - 100) < 10  # 1 cM per Mb


def test_planted_variants_are_unlinked(cohort: xr.Dataset, dosage: np.ndarray) -> None:
    pair = np.flatnonzero(cohort.variant_planted_pair)
    triple = np.flatnonzero(cohort.variant_planted_triple)
    assert (pair.size, triple.size) == (2, 3)
    r2 = np.corrcoef(dosage[[*pair, *triple]]) ** 2
    assert r2[~np.eye(5, dtype=bool)].max() < 0.05


def test_planted_interactions_have_no_marginal_effects(
    cohort: xr.Dataset, dosage: np.ndarray
) -> None:
    case = cohort.sample_case.values
    assert abs(case.mean() - 0.5) < 0.05
    random = np.random.default_rng(0).choice(20_000, size=(2_000, 3), replace=True)
    for name, order in (("pair", 2), ("triple", 3)):
        planted = tuple(np.flatnonzero(cohort[f"variant_planted_{name}"]))
        joint = mutual_information(dosage, planted, case)
        chance = max(mutual_information(dosage, tuple(row[:order]), case) for row in random)
        assert joint > 5 * chance
        for fewer in range(1, order):
            for part in itertools.combinations(planted, fewer):
                assert mutual_information(dosage, part, case) < chance


def test_trait_is_additive(cohort: xr.Dataset, dosage: np.ndarray) -> None:
    variants = np.flatnonzero(cohort.variant_planted_trait)
    design = np.column_stack([np.ones(2_000), dosage[variants].T])
    trait = cohort.sample_trait.values
    residual = trait - design @ np.linalg.lstsq(design, trait)[0]
    assert abs(1 - residual.var() / trait.var() - 0.4) < 0.05


def test_a_dense_region_holds_a_variant_of_the_trait(cohort: xr.Dataset) -> None:
    region = cohort.genobit.sel(variants="2:25Mb-26Mb")
    assert region.sizes["variants"] > 400
    assert region.variant_planted_trait.sum() == 1
    for _, some in region.groupby("sample_population"):
        dosage = some.call_genotype.values.sum(axis=2)
        r2 = [np.corrcoef(g, some.sample_trait)[0, 1] ** 2 if np.ptp(g) else 0 for g in dosage]
        lead = np.flatnonzero(region.variant_planted_trait)[0]
        assert np.corrcoef(dosage[lead], dosage[np.argmax(r2)])[0, 1] ** 2 > 0.5


def kinship_by_pedigree(cohort: xr.Dataset) -> np.ndarray:
    """Expected kinship of all pairs, by the recursion over parents: (samples, samples)."""
    names = cohort.sample_id.values.astype(str).tolist()
    place = {name: k for k, name in enumerate(names)} | {"0": -1, "": -1}
    father, mother, twin = (
        [place[name] for name in cohort[f"sample_{who}_id"].values.astype(str)]
        for who in ("father", "mother", "twin")
    )
    out = 0.5 * np.eye(len(names))
    for k in range(len(names)):  # parents stand before their children
        if father[k] >= 0:
            assert max(father[k], mother[k]) < k
            row = (out[father[k]] + out[mother[k]]) / 2
            row[k:] = 0
            if 0 <= twin[k] < k:
                row[twin[k]] = 0.5
            out[k, :k] = out[:k, k] = row[:k]
    return out


def test_pedigree_is_whole(cohort: xr.Dataset) -> None:
    names = cohort.sample_id.values.astype(str)
    sex, population, family = (
        dict(zip(names, cohort[f"sample_{name}"].values.tolist(), strict=True))
        for name in ("sex", "population", "family_id")
    )
    assert set(sex.values()) == {1, 2}
    for who, expected in (("father", 1), ("mother", 2)):
        parents = cohort[f"sample_{who}_id"].values.astype(str)
        for child, parent in zip(names[parents != "0"], parents[parents != "0"], strict=True):
            assert sex[parent] == expected
            assert population[parent] == population[child]
            assert family[parent] == family[child]
        assert (parents != "0").sum() == 3 * 10 * 7
    counts = np.unique(list(family.values()), return_counts=True)[1]
    assert np.unique(counts, return_counts=True)[1].tolist() == [2_000 - 360, 30]


def test_king_finds_the_pedigree(cohort: xr.Dataset) -> None:
    kinship = cohort.genobit.grm("king", compute=True).values
    expected = kinship_by_pedigree(cohort)
    pairs = np.triu_indices(2_000, 1)
    found, expected = degree_of(kinship[pairs]), expected[pairs]
    related = expected > 0
    np.testing.assert_array_equal(found[related], degree_of(expected[related]))
    names, counts = np.unique(found[related], return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        "duplicate or twin": 30,
        "first degree": 510,
        "second degree": 480,
        "third degree": 180,
    }
    # Two contigs hold too few independent variants to tell all strangers from the third degree.
    assert set(found[~related]) == {"third degree", "unrelated"}
    assert (found[~related] == "third degree").mean() < 0.005


def test_it_is_made_once_and_always_the_same(
    cohort: xr.Dataset, cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    xr.testing.assert_identical(cohort, sample_dataset(cache_dir=tmp_path))
    monkeypatch.setattr(sample_module, "_build", None)
    assert sample_dataset(cache_dir=cache_dir, chunks=1_000).chunksizes["variants"][0] == 1_000
    assert [path.name for path in (cache_dir / "sample").iterdir()] == ["cohort-3.1.zarr"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numpy and glibc choose code by x86 CPU")
def test_it_is_the_same_on_an_older_cpu(cohort: xr.Dataset, tmp_path: Path) -> None:
    code = f"import genobit; genobit.sample_dataset(cache_dir={str(tmp_path)!r})"
    run(
        "-c",
        code,
        NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX2 FMA3 AVX512F AVX512_SKX",
        GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-AVX512F,-FMA,-AVX2_Usable,-FMA_Usable",
    )
    xr.testing.assert_identical(cohort, sample_dataset(cache_dir=tmp_path))


def test_missing_simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install msprime"):
        sample_dataset(cache_dir=tmp_path)
    assert list((tmp_path / "sample").iterdir()) == []
