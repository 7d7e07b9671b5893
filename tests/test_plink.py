"""Analyses of a simulated cohort, beside what plink 1.9 and plink2 print of its files.

Tests of the analyses compare real data too, where there are any.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from tests.helpers.programs import either_plink
from tests.helpers.reference import dosages

pytestmark = pytest.mark.compiled("every analysis, of 30,000 calls")

P = 10 ** np.random.default_rng(2).uniform(-6, 0, 150)
"""A p-value of each variant."""


class Case(NamedTuple):
    """A command of plink, what it prints, and the same of genobit."""

    program: str
    options: str
    printed: Callable[[Path], Any]
    """Of the prefix of the files that plink writes."""
    ours: Callable[[xr.Dataset], Any]
    rtol: float = 1e-5
    """Of numbers, of which plink prints six digits."""


@pytest.fixture(scope="module")
def ds() -> xr.Dataset:
    """Families and strangers of one population, with LD, missing calls and cases."""
    region = gb.sample_dataset().genobit.sel(variants="2:25.5Mb-26Mb")
    some = region.genobit.filter(min_maf=0.02).isel(variants=slice(0, 150))
    some = some.isel(samples=slice(1200, 1400)).load()
    calls = some.call_genotype.values.copy()
    calls[np.random.default_rng(1).random(calls.shape[:2]) < 0.02] = -1
    return some.assign(
        call_genotype=(some.call_genotype.dims, calls),
        sample_phenotype=some.sample_case + 1,
        # Founders only, as plink computes LD and frequencies from them.
        sample_father_id=("samples", np.full(200, "0")),
        sample_mother_id=("samples", np.full(200, "0")),
    )


@pytest.fixture(scope="module")
def fileset(ds: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix: Path = gb.to_plink(ds, tmp_path_factory.mktemp("plink") / "cohort").with_suffix("")
    rows = zip(ds.variant_id.values, P.tolist(), strict=True)
    Path(f"{prefix}.p").write_text("SNP P\n" + "".join(f"{name} {p!r}\n" for name, p in rows))
    ids = pd.DataFrame({"#FID": ds.sample_family_id.values, "IID": ds.sample_id.values})
    trait = ids.assign(y=ds.sample_trait.values)
    first = ids.assign(G2=dosages(ds.call_genotype.values)[0])
    for suffix, columns in (("trait", trait), ("first", first)):
        columns.to_csv(f"{prefix}.{suffix}", sep="\t", index=False, na_rep="NA")
    return prefix


def table(prefix: Path, suffix: str) -> pd.DataFrame:
    return pd.read_csv(f"{prefix}.{suffix}", sep=r"\s+")


def square(suffix: str) -> Callable[[Path], np.ndarray]:
    return lambda prefix: np.loadtxt(f"{prefix}.{suffix}")


def lines(suffix: str) -> Callable[[Path], list[str]]:
    return lambda prefix: Path(f"{prefix}.{suffix}").read_text().split()


def their_kinship(prefix: Path) -> np.ndarray:
    """NaN, not -inf, for a sample without heterozygous calls."""
    found = np.loadtxt(f"{prefix}.king")
    return np.where(np.isinf(found), np.nan, found)


def linkage(prefix: Path) -> np.ndarray:
    """r2 and |D'| of all pairs."""
    return table(prefix, "ld")[["R2", "DP"]].to_numpy()


def our_linkage(ds: xr.Dataset) -> np.ndarray:
    pairs = np.triu_indices(ds.sizes["variants"], 1)
    found = [ds.genobit.ld(name).values[pairs] for name in ("r2_em", "dprime_em")]
    both = np.abs(np.stack(found, axis=1))
    return both[np.isfinite(both).all(axis=1)]  # plink leaves the others out


def blocks(ds: xr.Dataset) -> list[list[int]]:
    found = ds.genobit.ld_blocks("200kb")
    return np.stack([found.first_position, found.last_position], axis=1).tolist()


def clumps(ds: xr.Dataset) -> list[list[Any]]:
    found = ds.genobit.ld_clump(P, threshold=0.3, window="100kb", p1=1e-2, p2=0.1)
    return [found.clump_variant_id.values.tolist(), found.total.values.tolist()]


def boost(ds: xr.Dataset) -> list[tuple[str, str, int]]:
    """The twenty best pairs with their degrees of freedom."""
    top = ds.genobit.epistasis(
        "sample_phenotype", statistic="boost", top=20, limits=gb.EpistasisLimits(min_n=0)
    )
    return sorted(
        (*pair, df) for pair, df in zip(top.variant_id.values.tolist(), top.df.values, strict=True)
    )


def their_boost(prefix: Path) -> list[tuple[str, str, int]]:
    best = table(prefix, "epi.cc").nlargest(20, "STAT")[["SNP1", "SNP2", "DF"]]
    return sorted(best.itertuples(index=False, name=None))


def interactions(ds: xr.Dataset) -> np.ndarray:
    """Effects and p of the product of dosages, of the first variant with each other."""
    limits = gb.EpistasisLimits(variants_0=[0], min_n=0)
    top = ds.genobit.epistasis("sample_trait", statistic="linear", top=1000, limits=limits)
    order = np.argsort(top.variants.values.max(axis=1))
    return np.stack([top.effect.values[order], top.p.values[order]], axis=1)


def their_interactions(prefix: Path) -> np.ndarray:
    found = table(prefix, "y.glm.linear")
    found = found[(found.TEST == "ADDxG2") & found.P.notna()]
    return found[["BETA", "P"]].to_numpy()


def components(scores: Any) -> np.ndarray:
    """Without their signs, which are arbitrary."""
    return np.abs(np.asarray(scores))


def our_components(ds: xr.Dataset) -> np.ndarray:
    pcs = ds.genobit.pca(3, missing="pairwise", count_monomorphic=True)
    return components(pcs.scores / np.sqrt(pcs.explained_variance))


ALL_PAIRS = "--ld-window-r2 0 --ld-window 9999 --ld-window-kb 9999"
CASES = {
    "blocks": Case(
        "plink1.9",
        "--blocks no-pheno-req",
        lambda prefix: table(prefix, "blocks.det")[["BP1", "BP2"]].to_numpy().tolist(),
        blocks,
    ),
    "clump": Case(
        "plink1.9",
        "--clump {fileset}.p --clump-r2 0.3 --clump-kb 100 --clump-p1 1e-2 --clump-p2 0.1",
        lambda prefix: table(prefix, "clumped")[["SNP", "TOTAL"]].to_numpy().T.tolist(),
        clumps,
    ),
    "r2 and D' by EM": Case(
        "plink1.9", f"--r2 dprime {ALL_PAIRS}", linkage, our_linkage, rtol=1e-4
    ),
    "prune by kb": Case(
        "plink1.9",
        "--indep-pairwise 50 kb 1 0.2",
        lines("prune.in"),
        lambda ds: ds.variant_id.values[ds.genobit.ld_prune("50kb", 1, 0.2).values].tolist(),
    ),
    "BOOST": Case("plink1.9", "--fast-epistasis boost --epi1 1", their_boost, boost),
    "interactions with a trait": Case(
        "plink2",
        "--pheno {fileset}.trait --covar {fileset}.first --glm interaction omit-ref "
        "--parameters 1-3 --vif 1e9 --max-corr 1",
        their_interactions,
        interactions,
    ),
    "identity by state": Case(
        "plink1.9",
        "--distance square ibs flat-missing",
        square("mibs"),
        lambda ds: ds.genobit.grm("ibs").values,
    ),
    "relationships": Case(
        "plink1.9",
        "--make-rel square",
        square("rel"),
        lambda ds: ds.genobit.grm("gcta", count_monomorphic=True).values,
        rtol=1e-4,
    ),
    "KING": Case(
        "plink2",
        "--make-king square",
        their_kinship,
        lambda ds: ds.genobit.grm("king").values,
    ),
    "components": Case(
        "plink1.9",
        "--pca 3",
        lambda prefix: components(np.loadtxt(f"{prefix}.eigenvec", usecols=(2, 3, 4))),
        our_components,
        rtol=1e-3,
    ),
    "frequencies": Case(
        "plink2",
        "--freq",
        lambda prefix: table(prefix, "afreq").ALT_FREQS,
        lambda ds: ds.genobit.allele_frequency().values,
    ),
    "Hardy-Weinberg": Case(
        "plink2",
        "--hardy",
        lambda prefix: table(prefix, "hardy").P,
        lambda ds: ds.genobit.variant_stats().hwe_p.values,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_genobit_computes_what_plink_prints(
    name: str, ds: xr.Dataset, fileset: Path, tmp_path: Path
) -> None:
    case = CASES[name]
    options = case.options.format(fileset=fileset).split()
    printed = case.printed(either_plink(case.program, fileset, tmp_path / "out", *options))
    ours = case.ours(ds)
    assert len(ours)
    if isinstance(ours, list):
        assert ours == printed
    else:
        np.testing.assert_allclose(ours, printed, rtol=case.rtol, atol=1e-5)
