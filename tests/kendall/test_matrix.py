"""Kendall's tau and Somers' D by value: scipy, published data, formulas; kernels and chunks."""

from __future__ import annotations

import warnings
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import genobit as gb
from genobit.kendall.kernels.registry import KERNELS
from genobit.kendall.matrix import LONG_NAMES
from tests.helpers import reference
from tests.kendall.values import close, measured, random_values

STATISTICS = tuple(LONG_NAMES)
ALL_KERNELS = tuple(kernel for kernel in KERNELS if kernel != "table")


def scipy_of(x: NDArray, y: NDArray, statistic: str, method: str) -> tuple[float, float]:
    """What scipy makes of a pair; NaN where it cannot.

    Of ranks, as scipy 1.13 takes a variable for NaN that holds both infinities.
    """
    places = (stats.rankdata(x, "dense"), stats.rankdata(y, "dense"))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = stats.kendalltau(*places, variant=statistic[-1], method=method)
    return float(found.statistic), float(found.pvalue)


PLACES = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(-1e3, 1e3),
    st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0]),
)


@st.composite
def few_variables(draw: st.DrawFn) -> NDArray[np.float64]:
    n = draw(st.integers(2, 70))
    kind = draw(st.sampled_from(["plain", "tied", "anything"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if kind == "anything":
        n = min(n, 12)
        rows = draw(st.lists(st.lists(PLACES, min_size=n, max_size=n), min_size=3, max_size=3))
        return np.array(rows)
    values = rng.normal(size=(4, n))
    if kind == "tied":
        values = np.round(values * draw(st.sampled_from([0.3, 1, 3])))
        values[0] = 5.0
    values[rng.random(values.shape) < draw(st.sampled_from([0, 0.1, 0.6]))] = np.nan
    return values


@settings(max_examples=30)
@given(few_variables())
def test_tau_b_c_and_p__are_those_of_scipy(values: NDArray[np.float64]) -> None:
    expr = measured(values)
    for statistic in ("tau_b", "tau_c"):
        found = expr.genobit.kendall(statistic, pvalue=True, compute=True)
        normal = expr.genobit.kendall(statistic, pvalue="asymptotic", compute=True).pvalue.values
        tau, p, n = (found[name].values for name in ("tau", "pvalue", "n"))
        for i, x in enumerate(values):
            for j, y in enumerate(values):
                both = ~np.isnan(x) & ~np.isnan(y)
                assert n[i, j] == both.sum()
                close((tau[i, j], p[i, j]), scipy_of(x[both], y[both], statistic, "auto"))
                if both.sum() > 2:
                    close(normal[i, j], scipy_of(x[both], y[both], statistic, "asymptotic")[1])


@settings(max_examples=25)
@given(few_variables())
def test_every_statistic__is_the_formula(values: NDArray[np.float64]) -> None:
    expr = measured(values)
    for statistic in STATISTICS:
        found = expr.genobit.kendall(statistic, compute=True)
        expected = [[reference.kendall(statistic, x, y) for y in values] for x in values]
        close(found, expected)


@pytest.mark.parametrize("n", [2, 3, 10, 33, 34, 70, 170, 171, 200])
def test_exact_p__is_that_of_scipy(n: int) -> None:
    values = random_values(n, 6, n)
    values[1:3] = np.sort(values[1:3])
    values[2, [0, 1]] = values[2, [1, 0]]
    found = measured(values).genobit.kendall(pvalue="exact", compute=True)
    expected = [[scipy_of(x, y, "b", "exact")[1] for y in values] for x in values]
    close(found.pvalue, expected)
    assert (found.pvalue <= 1).all()


def test_exact_p__of_pairs_of_different_lengths() -> None:
    values = random_values(1, 8, 40, missing=0.3)
    found = measured(values).genobit.kendall(pvalue="exact", compute=True)
    for i, x in enumerate(values):
        for j, y in enumerate(values):
            both = ~np.isnan(x) & ~np.isnan(y)
            close(found.pvalue[i, j], scipy_of(x[both], y[both], "b", "exact")[1])
    assert np.unique(found.n).size > 5


def test_somers_d__is_that_of_scipy_in_either_direction() -> None:
    values = random_values(5, 7, 30, tied=True)
    rows, columns = (
        measured(values).genobit.kendall(statistic, compute=True)
        for statistic in ("somers_d_rows", "somers_d_columns")
    )
    assert (np.abs(rows - columns) > 1e-3).any()
    for i, x in enumerate(values):
        for j, y in enumerate(values):
            with np.errstate(all="ignore"):
                # scipy's second variable is the dependent one.
                close(rows[i, j], stats.somersd(y, x).statistic)
                close(columns[i, j], stats.somersd(x, y).statistic)


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_kernels_chunks_and_threads__give_the_same_bits(
    statistic: str, missing: float, tied: bool
) -> None:
    values = random_values(3, 23, 50, tied=tied, missing=missing)
    whole = measured(values).genobit.kendall(statistic, pvalue=True, compute=True)
    for kernel in ("auto", *ALL_KERNELS):
        for rows, chunks in ((7, None), (23, (5, 13)), (10, (4, 50))):
            with gb.set_options(chunk_rows=rows), dask.config.set(scheduler="threads"):
                expr = measured(values, chunks)
                found = expr.genobit.kendall(statistic, pvalue=True, kernel=kernel).compute()
            for name in ("tau", "pvalue", "n"):
                np.testing.assert_array_equal(found[name], whole[name])


@pytest.mark.parametrize("kernel", ["auto", "table"])
def test_few_levels__by_tables_give_the_same_bits(kernel: str) -> None:
    rng = np.random.default_rng(8)
    values = rng.integers(0, 5, (20, 90)).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    for data in (values, np.nan_to_num(values).astype(np.int8), values > 2):
        expr = measured(data)
        found = expr.genobit.kendall(pvalue=True, kernel=kernel, compute=True)
        merged = expr.genobit.kendall(pvalue=True, kernel="packed-merge", compute=True)
        for name in ("tau", "pvalue", "n"):
            np.testing.assert_array_equal(found[name], merged[name])


@pytest.mark.parametrize("statistic", STATISTICS)
def test_other__is_a_part_of_all(statistic: str) -> None:
    values = random_values(2, 17, 40, tied=True, missing=0.1)
    whole = measured(values).genobit.kendall(statistic, pvalue=True, compute=True)
    with gb.set_options(chunk_rows=4):
        some = measured(values[:6]).genobit.kendall(statistic, pvalue=True, other=measured(values))
    for name in ("tau", "pvalue", "n"):
        np.testing.assert_array_equal(some[name], whole[name][:6])
    assert some.tau.chunks == ((3, 3), (4, 4, 4, 4, 1))


def test_dropna__is_the_complete_observations() -> None:
    values = random_values(4, 12, 60, missing=0.03)
    complete = values[:, ~np.isnan(values).any(axis=0)]
    assert 10 < complete.shape[1] < 60
    expected = measured(complete).genobit.kendall(pvalue=True, compute=True)
    for chunks in (None, (5, 11)):
        with gb.set_options(chunk_rows=5):
            found = measured(values, chunks).genobit.kendall(pvalue=True, missing="dropna")
        for name in ("tau", "pvalue", "n"):
            np.testing.assert_array_equal(found[name], expected[name])
    other = measured(values[6:])
    some = measured(values[:6]).genobit.kendall(missing="dropna", other=other)
    np.testing.assert_array_equal(some, expected.tau[:6, 6:])


def test_permutations__are_counted_alike_for_all_pairs() -> None:
    values = random_values(6, 6, 20, tied=True)
    asked = {"pvalue": "permutation", "permutations": 40, "seed": 3}
    found = measured(values).genobit.kendall(**asked, compute=True)
    rng = np.random.default_rng(3)
    orders = [rng.permutation(20) for _ in range(40)]
    for i in range(6):
        for j in range(i, 6):
            p = reference.kendall_permuted(values[i], values[j], orders)
            close((found.pvalue[i, j], found.pvalue[j, i]), (p, p))
    with gb.set_options(chunk_rows=4):
        again = measured(values, (3, 9)).genobit.kendall(
            **asked, kernel="packed-merge", compute=True
        )
    np.testing.assert_array_equal(again.pvalue, found.pvalue)
    other = measured(values).genobit.kendall(**{**asked, "seed": 4}, compute=True)
    assert (other.pvalue != found.pvalue).any()
    assert float(found.pvalue[0, 5]) == 1 / 41
    numbers = {**asked, "permutations": np.int32(40), "seed": np.int64(3)}
    same = measured(values).genobit.kendall(**numbers, compute=True)
    np.testing.assert_array_equal(same.pvalue, found.pvalue)


def test_diagonal_and_reverse__are_exactly_one() -> None:
    values = random_values(0, 10, 353)
    for statistic in ("tau_a", "tau_b"):
        tau = measured(values).genobit.kendall(statistic, compute=True)
        assert (np.diagonal(tau) == 1).all()
        assert tau[0, 9] == -1
    tied = random_values(0, 10, 353, tied=True)
    diagonal = np.diagonal(measured(tied).genobit.kendall("tau_b", compute=True))
    assert np.isnan(diagonal[5])
    assert (np.delete(diagonal, 5) == 1).all()


def test_float32__is_the_rounded_result() -> None:
    expr = measured(random_values(0, 10, 30, tied=True))
    wide = expr.genobit.kendall(pvalue=True, compute=True)
    narrow = expr.genobit.kendall(pvalue=True, dtype="float32", compute=True)
    for name in ("tau", "pvalue"):
        assert narrow[name].dtype == np.float32
        np.testing.assert_array_equal(narrow[name], wide[name].astype(np.float32))


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_observations__are_nan_without_a_warning(n: int) -> None:
    found = measured(np.ones((3, n))).genobit.kendall(pvalue=True, compute=True)
    assert np.isnan(found.tau).all()
    assert np.isnan(found.pvalue).all()
    assert (found.n == n).all()


def test_integers_and_booleans__are_not_converted() -> None:
    big = 2**53 + np.array([[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 2, 3]])
    assert measured(big).genobit.kendall("tau_a", compute=True)[0].values.tolist() == [1, -1, 2 / 3]
    assert np.isfinite(measured(big % 2 == 0).genobit.kendall(compute=True)).all()


@pytest.mark.parametrize("name", ["all_leukemia", "nci60"])
@pytest.mark.parametrize("kind", ["plain", "missing", "tied"])
def test_published_data__as_scipy_has_them(name: str, kind: str, shared_data: Path) -> None:
    folder = shared_data / name
    if kind == "missing":
        values = np.load(folder / "ref" / "first30_with_10pct_missing.npz")["values"]
        file = "kendall_first30_10pct_missing_pairwise_scipy.tsv"
    else:
        values = np.load(folder / f"{name}.npz")["values"][:30]
        file = "kendall_first30_scipy.tsv"
    if kind == "tied":
        values, file = np.round(values), "kendall_first30_rounded_to_integer_ties_scipy.tsv"
    table = pd.read_csv(folder / "ref" / file, sep="\t")
    upper = np.triu_indices(30, 1)
    for letter in "abc":
        found = measured(values).genobit.kendall(f"tau_{letter}", pvalue="asymptotic", compute=True)
        close(found.tau.values[upper], table[f"tau_{letter}"])
        close(found.pvalue.values[upper], table.p_asymptotic)
        np.testing.assert_array_equal(found.n.values[upper], table.n)


@pytest.mark.parametrize("name", ["all_leukemia", "nci60"])
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_published_data_of_which_some_have_ties__are_those_of_scipy(
    name: str, missing: float, shared_data: Path
) -> None:
    values = np.load(shared_data / name / f"{name}.npz")["values"][:24].astype(float)
    values[::3] = np.round(values[::3])
    values[np.random.default_rng(0).random(values.shape) < missing] = np.nan
    whole = measured(values).genobit.kendall(pvalue="asymptotic", kernel="signs")
    parts = measured(values[:10]).genobit.kendall(
        pvalue="asymptotic", kernel="signs", other=measured(values[5:])
    )
    for found, columns in ((whole.compute(), values), (parts.compute(), values[5:])):
        for i, x in enumerate(values[: len(found.tau)]):
            for j, y in enumerate(columns):
                both = ~np.isnan(x) & ~np.isnan(y)
                expected = scipy_of(x[both], y[both], "tau_b", "asymptotic")
                close((found.tau[i, j], found.pvalue[i, j]), expected)


@pytest.mark.parametrize("name", ["all_leukemia", "nci60"])
def test_published_network__as_r_has_it(name: str, shared_data: Path) -> None:
    folder = shared_data / name
    rows = np.loadtxt(folder / "ref" / "top500var_rows.txt", dtype=int)
    values = np.load(folder / f"{name}.npz")["values"][rows]
    tau = measured(values).genobit.kendall(compute=True).values
    above = tau[np.triu_indices(500, 1)]
    lines = (folder / "ref" / "kendall_top500_network_R.tsv").read_text().splitlines()
    said = dict(line.split("\t")[:2] for line in lines if not line.startswith("#"))
    assert abs(above.sum() - float(said["sum_tau_b"])) < 1e-7
    assert abs(np.abs(above).sum() - float(said["sum_abs_tau_b"])) < 1e-6
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7):
        # R's values have lost up to 5e-15, and some of those that are 0.5 lie above it there.
        surely, perhaps = ((np.abs(above) > threshold + e).sum() for e in (1e-14, -1e-14))
        assert surely <= int(said[f"edges_abs_gt_{threshold}"]) <= perhaps
        assert perhaps - surely == (np.abs(above) == threshold).sum() <= 2
    printed = np.loadtxt(folder / "ref" / "kendall_top500_first60_R.tsv.gz")
    np.testing.assert_allclose(tau[:60, :60], printed, rtol=0, atol=1e-14)


def test_kendall__warns_once_of_values_that_are_all_missing() -> None:
    da = xr.DataArray(np.full((3, 5), np.nan), dims=("gene", "sample"))
    for run in (da.genobit.kendall, lambda: da.genobit.kendall_pairs(0.1)):
        with pytest.warns(UserWarning, match="all values are NaN, so the correlations") as found:
            run()
        assert len(found) == 1
    da[1, 2] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.genobit.kendall()
