"""One-sided p-values against scipy, and a least number of observations against pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.kendall.values import measured, random_values

SIDES = ("two-sided", "greater", "less")
METHODS: dict[Any, str] = {True: "auto", "exact": "exact", "asymptotic": "asymptotic"}


def of_scipy(x: np.ndarray, y: np.ndarray, method: str, side: str) -> float:
    """The p-value of scipy over the observations present in both."""
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    if min(np.unique(x).size, np.unique(y).size) < 2:
        return np.nan
    return float(stats.kendalltau(x, y, method=method, alternative=side).pvalue)


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([3, 4, 5, 9, 20, 33, 34, 60]),
    tied=st.booleans(),
    missing=st.sampled_from([0.0, 0.1]),
    pvalue=st.sampled_from([*METHODS]),
    side=st.sampled_from(SIDES),
    rows=st.sampled_from([2, 100]),
)
def test_pvalues__are_those_of_scipy(
    seed: int, n: int, tied: bool, missing: float, pvalue: Any, side: str, rows: int
) -> None:
    tied = tied and pvalue != "exact"
    values = random_values(seed, 6, n, tied=tied, missing=missing)
    if pvalue == "exact":
        values = values[1:]  # without the constant one
    # One exchange from equal and from reverse orders: the exact test of any n.
    near = np.arange(n, dtype=float)
    near[[0, 1]] = near[[1, 0]]
    values = np.concatenate([values, [np.arange(n), near, -near]])
    ready = [np.unique(row[~np.isnan(row)]).size == (~np.isnan(row)).sum() for row in values]
    values = values[ready] if pvalue == "exact" else values
    if pvalue == "asymptotic" and missing and n < 5:
        return  # scipy divides by 0 for two observations
    with gb.set_options(chunk_rows=rows):
        found = measured(values).genobit.kendall(pvalue=pvalue, alternative=side).compute()
    method = METHODS[pvalue]
    enough = found.n.values > 2
    right = np.array([[of_scipy(x, y, method, side) for y in values] for x in values])
    np.testing.assert_allclose(
        found.pvalue.values[enough], right[enough], rtol=1e-12, atol=1e-14, equal_nan=True
    )
    assert found.pvalue.attrs["long_name"].startswith("two-sided p") == (side == "two-sided")
    assert found.pvalue.attrs["alternative"] == side


def test_pvalues__of_genotypes_are_those_of_scipy() -> None:
    ds = cohort(random_calls(3, 12, 40, missing=0.05))
    dosages = ds.call_genotype.sum("ploidy").where((ds.call_genotype >= 0).all("ploidy")).values
    for side in SIDES:
        found = ds.genobit.kendall(pvalue=True, alternative=side)
        right = [[of_scipy(x, y, "asymptotic", side) for y in dosages] for x in dosages]
        np.testing.assert_allclose(found.pvalue.values, right, rtol=1e-12, equal_nan=True)


def test_pvalues__of_permutations_count_one_side() -> None:
    values = random_values(8, 5, 9, tied=True)
    asked = {"pvalue": "permutation", "permutations": 300, "seed": 5}
    found = {
        side: measured(values).genobit.kendall(**asked, alternative=side).pvalue.values
        for side in SIDES
    }
    orders = np.random.default_rng(5)
    signs = [np.sign(x[:, None] - x[None]) for x in values]
    observed = np.array([[(a * b).sum() for b in signs] for a in signs])
    further = {side: np.zeros((5, 5)) for side in SIDES}
    for _ in range(300):
        order = orders.permutation(9)
        turned = [b[np.ix_(order, order)] for b in signs]
        scores = np.array([[(a * b).sum() for b in turned] for a in signs])
        further["greater"] += scores >= observed
        further["less"] += scores <= observed
        further["two-sided"] += np.abs(scores) >= np.abs(observed)
    known = ~np.isnan(found["less"]) & np.triu(np.ones((5, 5), bool))
    assert known.sum() > 5
    for side in SIDES:
        right = (further[side] + 1) / 301
        np.testing.assert_allclose(found[side][known], right[known], rtol=1e-12)


def test_kendall_pairs__of_one_side_are_those_of_scipy() -> None:
    values = random_values(4, 14, 25)
    for side in SIDES:
        pairs = measured(values).genobit.kendall_pairs(None, 0.2, alternative=side)
        table = pairs.to_dataframe()
        i, j = np.triu_indices(14, 1)
        p = np.array(
            [of_scipy(values[a], values[b], "auto", side) for a, b in np.stack([i, j], axis=1)]
        )
        known = ~np.isnan(p)
        q = stats.false_discovery_control(p[known])
        right = np.stack([i, j], axis=1)[known][q <= 0.2]
        np.testing.assert_array_equal(table[["gene_0", "gene_1"]], right)
        assert len(right) > 0
        if side != "two-sided":
            assert (np.sign(table.tau) == (1 if side == "greater" else -1)).all()
        assert pairs.attrs.get("alternative", "two-sided") == side


def test_alternative__is_refused_without_pvalues() -> None:
    da, ds = measured(random_values(1, 4, 9)), cohort(random_calls(1, 4, 9))
    for data in (da, ds):
        with pytest.raises(ValueError, match="alternative='less' is of p-values: give pvalue=True"):
            data.genobit.kendall(alternative="less")
        with pytest.raises(ValueError, match=r"=.less. is of p-values: give fdr=0\.01 to"):
            data.genobit.kendall_pairs(0.1, None, alternative="less")
        with pytest.raises(ValueError, match=r"=.greatest. is not one of.*mean .greater"):
            data.genobit.kendall(pvalue=True, alternative="greatest")
        with pytest.raises(ValueError, match="min_pairs=1 is not a whole number of at least 2"):
            data.genobit.kendall_pairs(min_pairs=1)
    with pytest.raises(TypeError, match="did you mean 'min_pairs'"):
        da.genobit.kendall(min_periods=3)


@pytest.mark.filterwarnings("ignore:min_pairs=:UserWarning")
@pytest.mark.parametrize("least", [2, 3, 5, 8, 13])
@pytest.mark.parametrize("rows", [3, 100])
def test_min_n__is_min_periods_of_pandas(least: int, rows: int) -> None:
    values = random_values(6, 9, 12, missing=0.4)
    right = pd.DataFrame(values.T).corr(method="kendall", min_periods=least).to_numpy()
    with gb.set_options(chunk_rows=rows):
        da = measured(values)
        tau = da.genobit.kendall(min_pairs=least)
        found = da.genobit.kendall(min_pairs=least, pvalue=True).compute()
        table = da.genobit.kendall_pairs(None, None, min_pairs=least).to_dataframe()
    off = ~np.eye(9, dtype=bool)  # pandas gives a variable with itself 1
    np.testing.assert_allclose(tau.values[off], right[off], rtol=1e-12, equal_nan=True)
    np.testing.assert_array_equal(tau.values, found.tau.values)
    np.testing.assert_array_equal(np.isnan(found.pvalue), np.isnan(found.tau))
    upper = np.triu(~np.isnan(right), 1)
    np.testing.assert_array_equal(table[["gene_0", "gene_1"]], np.argwhere(upper))
    assert (table.n >= least).all()
    assert tau.attrs["min_pairs"] == least


def test_min_n__leaves_pairs_out_of_the_tests() -> None:
    values = random_values(6, 9, 12, missing=0.4)
    few, many = (measured(values).genobit.kendall_pairs(None, 1, min_pairs=n) for n in (2, 6))
    tested = [pairs.to_dataframe().attrs["pairs_tested"] for pairs in (few, many)]
    assert tested[1] == len(many.to_dataframe()) < tested[0]


@pytest.mark.filterwarnings("ignore:min_pairs=:UserWarning")
def test_min_n__of_complete_values_and_permutations() -> None:
    da = measured(random_values(2, 4, 7))
    for least in (7, 8):
        for asked in ({"pvalue": True}, {"pvalue": "permutation", "permutations": 9}):
            found = da.genobit.kendall(min_pairs=least, **asked).compute()
            none = np.isnan(found.tau).all() and np.isnan(found.pvalue).all()
            assert bool(none) == (least == 8)
            assert (found.n == 7).all()


def test_min_n__of_genotypes() -> None:
    ds = cohort(random_calls(3, 12, 20, missing=0.3))
    whole = ds.genobit.kendall(pvalue=True).compute()
    found = ds.genobit.kendall(pvalue=True, min_pairs=9).compute()
    assert 0 < (whole.n < 9).sum() < 144
    xr.testing.assert_equal(found.tau, whole.tau.where(whole.n >= 9))
    xr.testing.assert_equal(found.pvalue, whole.pvalue.where(whole.n >= 9))


def test_a_table_of_other_options__is_another_table(tmp_path: Path) -> None:
    da = measured(random_values(4, 14, 25))
    da.genobit.kendall_pairs(None, 0.5).to_parquet(tmp_path / "pairs")
    for more in ({"alternative": "less"}, {"min_pairs": 9}):
        with pytest.raises(ValueError, match="holds another run: its"):
            da.genobit.kendall_pairs(None, 0.5, **more).to_parquet(tmp_path / "pairs")
