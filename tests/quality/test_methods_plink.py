"""The same numbers, to the last printed digit, and the same variants as plink 1.9."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from tests.helpers.programs import PLINK, plink, plink_log
from tests.quality.filesets import assert_printed, mixed_cohort, table, written

pytestmark = pytest.mark.compiled("millions of calls of real data")

FILESETS = [
    "asthma_cc/asthma_cc",
    "bigsnpr_example/example-missing-sorted",
    "bigsnpr_example/example-missing",
    "bigsnpr_example/example",
    "epi3_kg1/epi3_kg1",
    "gametes_2way/gametes_2way_1600x20",
    "gametes_2way/gametes_2way_18800x10",
    "hapmap279/hapmap279",
    "hyper_bc/hyper_bc",
    "kg1_chr22/kg1_chr22_maf01",
    "lct_1kg/lct_1kg",
    "mice_hs/mice_hs",
    "mixed",
]
MICE = ("hyper_bc", "mice_hs")

COMBINATIONS: list[dict[str, float]] = [
    {"min_maf": 0.05},
    {"max_missing": 0.02, "min_maf": 0.01},
    {"min_hwe": 1e-3, "max_missing": 0.05},
    {"max_sample_missing": 0.02, "max_missing": 0.01, "min_hwe": 1e-6, "min_maf": 0.01},
    {"max_sample_missing": 0.6, "max_missing": 0.5, "min_hwe": 0.01, "min_maf": 0.1},
]
OPTIONS = {
    "min_maf": "--maf",
    "max_missing": "--geno",
    "max_sample_missing": "--mind",
    "min_hwe": "--hwe",
}


@pytest.fixture(params=FILESETS)
def fileset(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "mixed":
        return written(mixed_cohort(3, 350, 157, heteroplasmy=False), tmp_path)
    folder: Path = request.getfixturevalue("shared_data")
    return folder / str(request.param)


def species(fileset: Path) -> tuple[list[str], dict[str, Any]]:
    mice = any(name in str(fileset) for name in MICE)
    return (["--mouse"], {"autosomes": 19}) if mice else ([], {})


@PLINK
def test_variant_stats__equal_plink(fileset: Path, tmp_path: Path) -> None:
    options, arguments = species(fileset)
    plink(fileset, tmp_path / "p", "--freq", "--missing", "--hardy", *options)
    ds = gb.open_plink(f"{fileset}.bed")
    stats = ds.genobit.variant_stats(founders=True, **arguments).compute()
    frequency, missing = table(tmp_path / "p.frq"), table(tmp_path / "p.lmiss")
    hardy = table(tmp_path / "p.hwe")
    hardy = hardy[hardy.TEST.str.startswith("ALL")].reset_index()
    assert frequency.SNP.tolist() == missing.SNP.tolist() == stats.variant_id.values.tolist()
    # plink counts two alleles for each call on MT.
    of_two = (frequency.CHR != 26).to_numpy()
    assert_printed(stats.maf, frequency.MAF)
    assert_printed(stats.allele_number[of_two], frequency.NCHROBS[of_two], 9)
    assert_printed(1 - stats.call_rate, missing.F_MISS)
    assert_printed(stats.n_called, missing.N_GENO - missing.N_MISS, 9)
    tested = np.isfinite(stats.hwe_p.values)
    assert tested.sum() == np.isin(frequency.CHR, (24, 26), invert=True).sum()
    hardy, some = hardy[tested], stats.isel(variants=tested)
    assert_printed(some.hwe_p, hardy.P)
    assert_printed(some.het, hardy["O(HET)"])
    assert_printed(some.het_expected, hardy["E(HET)"])
    counts = np.sort([some.n_hom_ref.values, some.n_hom_alt.values], axis=0)
    printed = np.array([list(map(int, text.split("/"))) for text in hardy.GENO])
    np.testing.assert_array_equal(some.n_het, printed[:, 1])
    np.testing.assert_array_equal(counts, np.sort(printed[:, ::2].T, axis=0))


@PLINK
def test_variant_stats__equal_plink_midp(tmp_path: Path) -> None:
    fileset = written(mixed_cohort(9, 350, 157), tmp_path)
    plink(fileset, tmp_path / "p", "--hardy", "midp")
    ds = gb.open_plink(f"{fileset}.bed")
    hardy = table(tmp_path / "p.hwe")
    for test, case in (("ALL", None), ("AFF", 2), ("UNAFF", 1)):
        chosen = {} if case is None else {"hwe_samples": ds.sample_phenotype == case}
        stats = ds.genobit.variant_stats(hwe="midp", founders=True, **chosen).compute()
        tested = np.isfinite(stats.hwe_p.values)
        assert_printed(stats.hwe_p[tested], hardy.P[test == hardy.TEST][tested])


@PLINK
def test_sample_stats__equal_plink(fileset: Path, tmp_path: Path) -> None:
    options, arguments = species(fileset)
    plink(fileset, tmp_path / "p", "--missing", "--het", *options)
    ds = gb.open_plink(f"{fileset}.bed")
    stats = ds.genobit.sample_stats(founders=True, **arguments).compute()
    missing, het = table(tmp_path / "p.imiss"), table(tmp_path / "p.het")
    assert_printed(1 - stats.call_rate, missing.F_MISS)
    assert_printed(stats.n_called, missing.N_GENO - missing.N_MISS, 9)
    assert_het(stats, het)
    plink(fileset, tmp_path / "s", "--het", "small-sample", *options)
    corrected = ds.genobit.sample_stats(founders=True, small_sample=True, **arguments).compute()
    assert_het(corrected, table(tmp_path / "s.het"))


def assert_het(stats: xr.Dataset, het: pd.DataFrame) -> None:
    assert_printed(stats.n_hom, het["O(HOM)"], 9)
    assert_printed(stats.n_hom_expected, het["E(HOM)"])
    assert_printed(stats.n_autosomal, het["N(NM)"], 9)
    assert_printed(stats.inbreeding, het.F)


@PLINK
@pytest.mark.parametrize("name", ["mice_hs/mice_hs", "hapmap279/hapmap279", "mixed"])
def test_sample_stats__equal_plink_check_sex(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if name == "mixed":
        fileset = written(mixed_cohort(3, 350, 157, heteroplasmy=False), tmp_path)
    else:
        fileset = request.getfixturevalue("shared_data") / name
    options, arguments = species(fileset)
    plink(fileset, tmp_path / "p", "--check-sex", *options)
    ds = gb.open_plink(f"{fileset}.bed")
    stats = ds.genobit.sample_stats(founders=True, **arguments).compute()
    sex = table(tmp_path / "p.sexcheck")
    assert_printed(stats.x_inbreeding, sex.F)
    np.testing.assert_array_equal(stats.sex_inferred, sex.SNPSEX)
    np.testing.assert_array_equal(stats.sex_status, sex.STATUS)
    assert "OK" in set(sex.STATUS)


def controls(ds: xr.Dataset) -> xr.DataArray | None:
    """The samples that plink tests by --hwe: controls of a case/control phenotype."""
    phenotype = ds.sample_phenotype
    whole = bool((phenotype.dropna("samples") % 1 == 0).all())
    cases = whole and bool(phenotype.isin([1, 2]).any())
    return phenotype == 1 if cases and (phenotype == 1).any() else None


@PLINK
@pytest.mark.filterwarnings("ignore:.* most of them:UserWarning")
@pytest.mark.parametrize("number", range(len(COMBINATIONS)))
def test_filter__keeps_the_variants_of_plink(fileset: Path, tmp_path: Path, number: int) -> None:
    rules = COMBINATIONS[number]
    options, arguments = species(fileset)
    options += [text for name, limit in rules.items() for text in (OPTIONS[name], str(limit))]
    ds = gb.open_plink(f"{fileset}.bed")
    arguments |= {"founders": True, "hwe_samples": controls(ds), **rules}
    command = ["--write-snplist", "--make-just-fam", *options]
    if nothing_left(plink_log(fileset, tmp_path / "p", *command)):
        with pytest.raises(ValueError, match="leaves none of the"):
            ds.genobit.filter(**arguments)
        return
    for data in (ds, ds.genobit.pack()):
        kept = data.genobit.filter(**arguments)
        left = (tmp_path / "p.snplist").read_text().split()
        assert kept.variant_id.values.tolist() == left
        people = table_of_names(tmp_path / "p.fam")
        ours = zip(kept.sample_family_id.values, kept.sample_id.values, strict=True)
        assert [f"{family} {name}" for family, name in ours] == people


def table_of_names(path: Path) -> list[str]:
    return [" ".join(line.split()[:2]) for line in path.read_text().splitlines()]


def nothing_left(log: str) -> bool:
    """Whether plink stopped because a rule removed all samples or variants."""
    return "Error: All " in log
