"""F tests of interactions on a trait against least squares, R and published loci."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from tests.helpers import reference
from tests.helpers.cohorts import cohort, random_calls


def every_f(calls: np.ndarray, trait: np.ndarray) -> dict[tuple[int, ...], tuple[float, int, int]]:
    dosages = reference.dosages(calls)
    return {
        (i, j): reference.interaction_f(dosages[i], dosages[j], trait)
        for i, j in itertools.combinations(range(len(calls)), 2)
    }


@given(
    seed=st.integers(0, 2**32),
    missing=st.sampled_from([0.0, 0.05]),
    samples=st.sampled_from([30, 64, 65, 200]),
    shift=st.sampled_from([0.0, 1e4]),
)
@settings(max_examples=15, deadline=None)
def test_f__equals_least_squares(seed: int, missing: float, samples: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    calls = random_calls(seed, 7, samples, missing=missing)
    trait = rng.normal(size=samples) + shift
    trait[rng.random(samples) < 0.05] = np.nan
    ds = cohort(calls, chunks=(3, 20))
    every = ds.genobit.epistasis(trait, statistic="f", top=100, limits=gb.EpistasisLimits(min_n=0))
    expected = {m: found for m, found in every_f(calls, trait).items() if not np.isnan(found[0])}
    members = [tuple(m) for m in every.variants.values.tolist()]
    assert set(members) == set(expected)
    assert (np.diff(every.f) <= 0).all()
    for rank, pair in enumerate(members):
        f, df, residual = expected[pair]
        np.testing.assert_allclose(every.f[rank], f, rtol=1e-6, atol=1e-7)
        assert (every.df[rank], every.df_residual[rank]) == (df, residual)
        assert every.n[rank] == every.cells[rank].sum()
    few = ds.genobit.epistasis(trait, statistic="f", top=3, limits=gb.EpistasisLimits(min_n=0))
    np.testing.assert_array_equal(few.f, every.f[:3])


def test_f__means_are_of_cells_and_permutations_of_the_trait() -> None:
    calls, rng = random_calls(6, 6, 150, missing=0.02), np.random.default_rng(2)
    trait = rng.normal(50, 4, 150)
    top = cohort(calls).genobit.epistasis(
        trait, statistic="f", permutations=5, seed=7, limits=gb.EpistasisLimits(min_n=0)
    )
    dosages = reference.dosages(calls)
    a, b = dosages[top.variants.values[0]]
    for cell, (x, y) in enumerate(top.genotype.values):
        here = (a == x) & (b == y)
        assert top.cells[0, cell, 0] == here.sum()
        expected = trait[here].mean() if here.any() else np.nan
        np.testing.assert_allclose(top.cell_mean[0, cell], expected)
    for k in range(5):
        order = np.random.default_rng((7, k)).permutation(150)
        largest = np.nanmax([f for f, *_ in every_f(calls, trait[order]).values()])
        np.testing.assert_allclose(top.permutation_maximum[k], largest, rtol=1e-8)


def test_f__equals_r(tmp_path: Path) -> None:
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not on the path")
    rng = np.random.default_rng(12)
    calls = random_calls(3, 4, 90, missing=0.04)
    trait = rng.normal(size=90)
    top = cohort(calls).genobit.epistasis(
        trait, statistic="f", top=1, limits=gb.EpistasisLimits(min_n=0)
    )
    a, b = reference.dosages(calls)[top.variants.values[0]]
    kept = ~(np.isnan(a) | np.isnan(b))
    file = tmp_path / "pair.tsv"
    np.savetxt(file, np.stack([a[kept], b[kept], trait[kept]], axis=1), fmt="%.17g")
    code = (
        f"d <- read.table('{file}'); a <- factor(d$V1); b <- factor(d$V2); t <- d$V3;"
        "x <- anova(lm(t ~ a + b), lm(t ~ a * b));"
        "cat(format(c(x$F[2], x$Df[2], x$Res.Df[2], x$`Pr(>F)`[2]), digits = 15))"
    )
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=True)
    found = [float(top[name][0]) for name in ("f", "df", "df_residual", "p")]
    np.testing.assert_allclose(found, [float(x) for x in done.stdout.split()], rtol=1e-8)


def test_f__finds_the_published_interaction_of_blood_pressure(shared_data: Path) -> None:
    # Chromosomes 6 and 15 (Sugiyama et al. 2001); R/qtl's fitqtl has p = 1e-5 for that term.
    ds = gb.open_plink(shared_data / "hyper_bc" / "hyper_bc.bed")
    top = ds.genobit.epistasis(
        "sample_phenotype", statistic="f", top=1, limits=gb.EpistasisLimits(min_n=0, min_count=5)
    )
    assert top.variant_id.values[0].tolist()[0].startswith("D6Mit")
    assert top.variant_id.values[0].tolist()[1].startswith("D15Mit")
    assert top.p.values[0] < 5e-5
