"""Interactions with covariates in real data against statsmodels and plink2."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import chi2

import genobit as gb
from tests.helpers import reference
from tests.helpers.programs import PLINK2, plink2

MICE = ["--mouse"]
ALL = gb.EpistasisLimits(min_n=0)


class Study(NamedTuple):
    """Genotypes, a phenotype and covariates of a data set."""

    fileset: Path
    ds: xr.Dataset
    statistic: str
    phenotype: pd.Series
    covariates: pd.DataFrame
    options: list[str]

    def searched(self, variants: list[int]) -> xr.Dataset:
        """All pairs of a variant of the list with any other variant of the study."""
        limits = gb.EpistasisLimits(variants_0=variants, min_n=0)
        return self.ds.genobit.epistasis(
            self.phenotype,
            statistic=self.statistic,
            covariates=self.covariates,
            top=10**6,
            limits=limits,
        )


def table_of(ds: xr.Dataset, file: Path) -> pd.DataFrame:
    """Rows of a table of phenotypes, in the order of the samples."""
    return pd.read_csv(file, sep="\t").set_index("IID").loc[ds.sample_id.values]


def mice(folder: Path) -> Study:
    fileset = folder / "mice_hs" / "mice_hs"
    ds = gb.open_plink(f"{fileset}.bed").isel(variants=slice(0, 300)).load()
    table = table_of(ds, folder / "mice_hs" / "pheno.tsv")
    names = {"weight": "Obesity.EndNormalBW", "month": "Obesity.Date.Month", "litter": "Litter"}
    covariates = pd.DataFrame({name: table[column] for name, column in names.items()})
    covariates = covariates.assign(male=(table.GENDER == "M") * 1.0, density=table.CageDensity)
    return Study(fileset, ds, "linear", table["Biochem.Albumin"], covariates, MICE)


def backcross(folder: Path) -> Study:
    """Half of the calls are missing; another locus is the covariate, as in composite mapping."""
    fileset = folder / "hyper_bc" / "hyper_bc"
    ds = gb.open_plink(f"{fileset}.bed").load()
    table = table_of(ds, folder / "hyper_bc" / "pheno.tsv")
    dosages = reference.dosages(ds.call_genotype.values)
    most = int(np.isfinite(dosages).sum(axis=1).argmax())
    covariates = pd.DataFrame({"locus": dosages[most]}, table.index)
    return Study(fileset, ds, "linear", table.bp, covariates, MICE)


def asthma(folder: Path) -> Study:
    fileset = folder / "asthma_cc" / "asthma_cc"
    ds = gb.open_plink(f"{fileset}.bed").load()
    table = table_of(ds, folder / "asthma_cc" / "pheno.tsv")
    covariates = table[["age", "bmi", "smoke"]].assign(
        male=(table.gender == "Males") * 1.0, spain=(table.country == "Spain") * 1.0
    )
    return Study(fileset, ds, "logistic", table.casecontrol, covariates, [])


def populations(folder: Path) -> Study:
    fileset = folder / "bigsnpr_example" / "example"
    ds = gb.open_plink(f"{fileset}.bed").isel(variants=slice(0, 300)).load()
    scores = ds.genobit.pca(3).scores.values
    covariates = pd.DataFrame(scores, ds.sample_id.values, ["pc1", "pc2", "pc3"])
    case = pd.Series(ds.sample_phenotype.values - 1, ds.sample_id.values)
    return Study(fileset, ds, "logistic", case, covariates, [])


STUDIES = [mice, backcross, asthma, populations]


@pytest.mark.parametrize("study", STUDIES)
def test_regression__equals_statsmodels(study, shared_data: Path) -> None:
    models = pytest.importorskip("statsmodels.api")
    found = study(shared_data)
    few = found.ds.isel(variants=np.linspace(0, found.ds.sizes["variants"] - 1, 9).astype(int))
    top = found._replace(ds=few).searched([*range(9)])
    pairs = {tuple(pair): rank for rank, pair in enumerate(top.variants.values.tolist())}
    dosages = reference.dosages(few.call_genotype.values)
    outside = found.phenotype.values.astype(float), *found.covariates.to_numpy(float).T
    assert len(pairs) + top.attrs["combinations_without_fit"] == 36
    assert len(pairs) >= 25
    for i, j in itertools.combinations(range(9), 2):
        if (i, j) not in pairs:
            continue
        one = top.isel(rank=pairs[i, j])
        kept = ~np.isnan([dosages[i], dosages[j], *outside]).any(axis=0)
        values, *covariates = (column[kept] for column in outside)
        x, y = dosages[i, kept], dosages[j, kept]
        columns = np.column_stack([np.ones(x.size), *covariates, x, y, x * y])
        if found.statistic == "linear":
            fit = models.OLS(values, columns).fit()
            score, p = fit.tvalues[-1] ** 2, fit.pvalues[-1]
            ours = one.f
            assert one.df_residual == fit.df_resid
        else:
            # Newton's method of statsmodels needs columns of similar size.
            columns = reference.regression_columns(x, y, np.array(covariates))
            options = {"disp": 0, "method": "newton", "maxiter": 100, "tol": 1e-14}
            fit = models.Logit(values, columns).fit(**options)
            less = models.Logit(values, columns[:, :-1]).fit(**options)
            score = 2 * (fit.llf - less.llf)
            p = chi2.sf(score, 1)
            ours = one.likelihood_ratio
            assert (one.cases, one.controls) == (values.sum(), (1 - values).sum())
        expected = [fit.params[-1], fit.bse[-1], fit.nobs]
        np.testing.assert_allclose([one.effect, one.standard_error, one.n], expected, rtol=1e-6)
        np.testing.assert_allclose(ours, score, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(one.p, p, rtol=1e-6)


@PLINK2
@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("second", [3, 40])
def test_regression__equals_plink2(study, second: int, shared_data: Path, tmp_path: Path) -> None:
    found = study(shared_data)
    dosages = reference.dosages(found.ds.call_genotype.values)
    ids = pd.DataFrame({"#FID": found.ds.sample_family_id.values, "IID": found.ds.sample_id.values})
    names = list(found.covariates)
    columns = ids.assign(**found.covariates.reset_index(drop=True), G2=dosages[second])
    trait = ids.assign(y=found.phenotype.values + (found.statistic == "logistic"))
    for name, table in (("covariates", columns), ("trait", trait)):
        table.to_csv(tmp_path / name, sep="\t", index=False, na_rep="NA")
    k = len(names)
    plink2(
        tmp_path / "out",
        *("--bfile", str(found.fileset), *found.options),
        *("--pheno", str(tmp_path / "trait"), "--covar", str(tmp_path / "covariates")),
        *("--covar-variance-standardize", *names),
        # The dosage, the covariates, the other dosage, and of the products the one of dosages.
        *("--glm", "interaction", "omit-ref", "no-firth", "cols=+beta"),
        *("--parameters", f"1-{k + 2},{2 * k + 3}"),
        # plink2 else refuses columns that are correlated, though not collinear.
        *("--vif", "1e9", "--max-corr", "1"),
    )
    kind = "linear" if found.statistic == "linear" else "logistic"
    theirs = pd.read_csv(tmp_path / f"out.y.glm.{kind}", sep="\t", dtype={"#CHROM": str})
    theirs = theirs[theirs.TEST == "ADDxG2"].set_index("ID")
    top = found.searched([second])
    members = top.variants.values
    other = np.where(members[:, 0] == second, members[:, 1], members[:, 0])
    theirs = theirs.loc[found.ds.variant_id.values[other]]
    known = theirs.P.notna().to_numpy()
    assert known.mean() > 0.95
    np.testing.assert_array_equal(top.n[known], theirs.OBS_CT[known])
    effect, error = top.effect.values[known], top.standard_error.values[known]
    beta, se = theirs.BETA[known], theirs.SE[known]
    if found.statistic == "linear":
        # plink2 prints six digits: half a unit of the last one is at most this.
        for ours, printed in ((effect, beta), (error, se), (top.p.values[known], theirs.P[known])):
            np.testing.assert_allclose(ours, printed, rtol=5.1e-6)
        return
    # plink2 of 2022 fits in single precision; its errors of near-separated pairs are off by 0.2 %.
    np.testing.assert_allclose(effect / error, beta / error, atol=1e-5)
    np.testing.assert_allclose(error, se, rtol=3e-3)
    assert np.median(np.abs(error / se - 1)) < 5e-6
