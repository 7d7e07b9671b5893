"""Interactions with covariates against least squares and Newton's method, pair by pair."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import example, given, settings
from hypothesis import strategies as st

import genobit as gb
from tests.helpers import reference
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.sized import sized

ALL = gb.EpistasisLimits(min_n=0)
COLUMN = {"linear": "f", "logistic": "likelihood_ratio"}
TWIN = {"linear": reference.linear_interaction, "logistic": reference.logistic_interaction}
Known = dict[tuple[int, ...], tuple[float, float, float, int]]


def phenotypes(seed: int, samples: int, covariates: np.ndarray) -> dict[str, np.ndarray]:
    """A trait and two classes that depend on covariates (c, samples), some of them missing."""
    rng = np.random.default_rng(seed)
    trait = rng.normal(30, 2, samples) + np.nan_to_num(covariates).sum(axis=0)
    trait[rng.random(samples) < 0.05] = np.nan
    case = np.where(np.isnan(trait), np.nan, trait > np.nanquantile(trait, 0.6))
    return {"linear": trait, "logistic": case}


def every_pair(
    calls: np.ndarray, values: np.ndarray, covariates: np.ndarray, statistic: str
) -> Known:
    """Effect, error, score and samples of all pairs."""
    dosages, out = reference.dosages(calls), {}
    for i, j in itertools.combinations(range(len(calls)), 2):
        kept = ~np.isnan([dosages[i], dosages[j], values, *covariates]).any(axis=0)
        columns = reference.regression_columns(
            dosages[i, kept], dosages[j, kept], covariates[:, kept]
        )
        found = values[kept] if statistic == "linear" else values[kept] == 1
        out[i, j] = (*TWIN[statistic](columns, found), int(kept.sum()))
    return out


def assert_equal(top: xr.Dataset, expected: Known) -> None:
    """All pairs with a fit are ranked, with the numbers of the twin."""
    fitted = {pair: found for pair, found in expected.items() if not np.isnan(found[0])}
    members = [tuple(pair) for pair in top.variants.values.tolist()]
    assert set(members) == set(fitted)
    assert top.attrs["combinations_without_fit"] == len(expected) - len(fitted)
    score = top[COLUMN[top.attrs["statistic"]]]
    assert (np.diff(score) <= 0).all()
    for rank, pair in enumerate(members):
        effect, error, ratio, n = fitted[pair]
        np.testing.assert_allclose(top.effect[rank], effect, rtol=1e-7, atol=1e-7 * error)
        np.testing.assert_allclose(top.standard_error[rank], error, rtol=1e-6)
        np.testing.assert_allclose(score[rank], ratio, rtol=1e-6, atol=1e-7)
        assert top.n[rank] == n == top.cells[rank].sum()


@pytest.mark.parametrize("statistic", ["linear", "logistic"])
@example(seed=58448, missing=0.0, samples=40, count=4)
@example(seed=440, missing=0.0, samples=65, count=3)
@given(
    seed=st.integers(0, 2**32),
    missing=st.sampled_from([0.0, 0.05]),
    samples=st.sampled_from(sized([40, 63, 64, 65, 200], [40, 65])),
    count=st.integers(0, 4),
)
@settings(max_examples=sized(20, 3))
def test_regression__equals_fits_of_each_pair(
    statistic: str, seed: int, missing: float, samples: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    calls = random_calls(seed, 7, samples, missing=missing)
    covariates = rng.normal(size=(count, samples)) * 10.0 ** rng.integers(-3, 4, (count, 1))
    covariates += rng.normal(size=(count, 1)) * 100
    values = phenotypes(seed, samples, rng.normal(size=(1, samples)))[statistic]
    if count:
        covariates[0, rng.random(samples) < 0.1] = np.nan
    ds = cohort(calls, chunks=(3, 20)).assign(pc=(("samples", "component"), covariates.T))
    asked: dict[str, Any] = {"statistic": statistic, "covariates": "pc", "limits": ALL}
    kept = ~np.isnan([values, *covariates]).any(axis=0)
    alone = reference.regression_columns(kept[kept], kept[kept], covariates[:, kept])[:, :-3]
    if statistic == "logistic" and reference.separated(alone, values[kept] == 1):
        with pytest.raises(ValueError, match="the covariates separate the classes"):
            ds.genobit.epistasis(values, top=100, **asked)
        return
    every = ds.genobit.epistasis(values, top=100, **asked)
    assert_equal(every, every_pair(calls, values, covariates, statistic))
    few = ds.genobit.epistasis(values, top=3, **asked)
    xr.testing.assert_identical(few.variants, every.variants[:3])
    np.testing.assert_array_equal(few.effect, every.effect[:3])
    assert few.attrs["combinations_without_fit"] == every.attrs["combinations_without_fit"]


def one(statistic: str, *, variants: int = 40, samples: int = 300, missing: float = 0.02) -> Any:
    """Calls, a Dataset with two covariates, and a phenotype."""
    calls = random_calls(5, variants, samples, missing=missing)
    covariates = np.random.default_rng(3).normal(size=(2, samples))
    ds = cohort(calls).assign(
        sample_age=("samples", covariates[0]), sample_bmi=("samples", covariates[1])
    )
    return calls, ds, phenotypes(8, samples, covariates)[statistic], covariates


@pytest.mark.parametrize("statistic", ["linear", "logistic"])
def test_regression__has_counts_of_cells_and_classes(statistic: str) -> None:
    calls, ds, values, _ = one(statistic, variants=8)
    top = ds.genobit.epistasis(values, statistic=statistic, covariates=["age", "bmi"], limits=ALL)
    dosages = reference.dosages(calls)
    a, b = dosages[top.variants.values[0]]
    for cell, (x, y) in enumerate(top.genotype.values):
        here = values[(a == x) & (b == y)]
        here = here[~np.isnan(here)]
        if statistic == "logistic":
            assert top.cells[0, cell].values.tolist() == [(here == 0).sum(), (here == 1).sum()]
        else:
            assert top.cells[0, cell, 0] == here.size
            np.testing.assert_allclose(top.cell_mean[0, cell], here.mean() if here.size else np.nan)
    assert (top.df == 1).all()
    if statistic == "logistic":
        assert (top.cases + top.controls == top.n).all()
        assert (top.cases == top.cells[:, :, 1].sum("cell")).all()
    else:
        assert (top.df_residual == top.n - 6).all()
        np.testing.assert_allclose(top.f, (top.effect / top.standard_error) ** 2)
    assert top.attrs["covariates"] == "sample_age, sample_bmi"
    assert top.attrs["samples_left_out"] == np.isnan(values).sum()


@pytest.mark.compiled("hundreds of logistic regressions")
@pytest.mark.parametrize("statistic", ["linear", "logistic"])
def test_regression__is_the_same_for_any_chunks_tiles_and_units(
    statistic: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from genobit.epistasis.kernels import regression
    from genobit.epistasis.schedule import units

    _, ds, values, _ = one(statistic)
    asked: dict[str, Any] = {"statistic": statistic, "covariates": ["age", "bmi"], "top": 30}
    whole = ds.genobit.epistasis(values, **asked)
    monkeypatch.setattr(units, "SECONDS", 1e-6)
    monkeypatch.setattr(units, "LONGEST", 1e-6)
    monkeypatch.setattr(regression, "WIDTH", 16)
    monkeypatch.setattr(regression, "FITTED", 3)
    parts = ds.chunk(variants=7, samples=33)
    for _ in range(2):  # the second call takes all units from the folder
        found = parts.genobit.epistasis(values, **asked, checkpoint=tmp_path / "run")
        found.attrs["combinations_scored"] = whole.attrs["combinations_scored"]
        xr.testing.assert_identical(found, whole)
    with pytest.raises(ValueError, match="holds another run: its model differ"):
        parts.genobit.epistasis(
            values, **asked | {"covariates": "age"}, checkpoint=tmp_path / "run"
        )


@pytest.mark.parametrize("unit", [2.0**-1020, 1e-170, 1e154, 1e160, 1e300])
@pytest.mark.parametrize("statistic", ["f", "linear", "logistic"])
def test_units__scale_effects_only(statistic: str, unit: float) -> None:
    _, ds, values, covariates = one(statistic.replace("f", "linear"), variants=12)
    centred = values - 30 if statistic == "linear" else values

    def found(of_trait: float, of_covariates: float) -> xr.Dataset:
        beside = xr.DataArray(covariates.T * of_covariates, dims=("samples", "c"), name="c")
        asked = {} if statistic == "f" else {"covariates": beside}
        return ds.genobit.epistasis(centred * of_trait, statistic=statistic, top=20, **asked)

    right = found(1, 1)
    of_trait = 1 if statistic == "logistic" else unit
    scaled = found(of_trait, unit)
    np.testing.assert_array_equal(scaled.variants, right.variants)
    for name in {"f", "likelihood_ratio", "p", "n", "df_residual"} & set(right):
        np.testing.assert_allclose(scaled[name], right[name], 1e-9)
    for name in {"effect", "standard_error", "mean"} & set(right):
        np.testing.assert_allclose(scaled[name] / of_trait, right[name], 1e-9)


@pytest.mark.compiled("hundreds of logistic regressions")
@pytest.mark.parametrize("statistic", ["linear", "logistic"])
def test_regression__takes_limits(statistic: str) -> None:
    calls, ds, values, covariates = one(statistic, variants=9)
    asked: dict[str, Any] = {"statistic": statistic, "covariates": ["age", "bmi"], "top": 99}
    expected = every_pair(calls, values, covariates, statistic)
    limits = gb.EpistasisLimits(variants_0=[4], min_n=0)
    assert_equal(
        ds.genobit.epistasis(values, **asked, limits=limits),
        {pair: found for pair, found in expected.items() if 4 in pair},
    )
    least = int(np.median([n for *_, n in expected.values()]))
    assert_equal(
        ds.genobit.epistasis(values, **asked, limits=gb.EpistasisLimits(min_n=least)),
        {pair: found for pair, found in expected.items() if found[3] >= least},
    )
    every = ds.genobit.epistasis(values, **asked, limits=ALL)
    cells = every.cells.sum("class").values
    enough = ((cells == 0) | (cells >= 5)).all(axis=1)
    if statistic == "logistic":
        enough &= (every.cells.sum("cell") >= 5).all("class").values
    found = ds.genobit.epistasis(values, **asked, limits=gb.EpistasisLimits(min_n=0, min_count=5))
    assert 0 < enough.sum() < enough.size
    np.testing.assert_array_equal(found.variants, every.variants[enough])


def test_regression__aligns_covariates_by_label() -> None:
    _, ds, values, covariates = one("linear", variants=6)
    asked: dict[str, Any] = {"statistic": "linear", "limits": ALL}
    expected = ds.genobit.epistasis(values, covariates=["age", "bmi"], **asked)
    frame = pd.DataFrame(covariates.T, ds.sample_id.values, ["sample_age", "sample_bmi"])
    both = xr.DataArray(
        covariates[:, ::-1].T,
        dims=("samples", "components"),
        coords={"sample_id": ("samples", ds.sample_id.values[::-1])},
        name="pc",
    )
    columns = ds[["sample_id", "sample_age", "sample_bmi"]].set_coords("sample_id")
    given = {
        "DataFrame": frame[::-1],
        "Series": [frame.sample_age[::-1], frame.sample_bmi],
        "Dataset": columns.isel(samples=slice(None, None, -1)),
        "array": both,
        "list of an array": [both],
    }
    for name, covariates_ in given.items():
        found = ds.genobit.epistasis(values, covariates=covariates_, **asked)
        np.testing.assert_array_equal(found.effect, expected.effect, err_msg=name)
        names = "pc[0], pc[1]" if "array" in name else "sample_age, sample_bmi"
        assert found.attrs["covariates"] == names


def test_regression__takes_no_covariates_at_all() -> None:
    calls, ds, values, _ = one("logistic", variants=6)
    top = ds.genobit.epistasis(values, statistic="logistic", limits=ALL)
    assert_equal(top, every_pair(calls, values, np.empty((0, values.size)), "logistic"))
    assert "covariates" not in top.attrs


@pytest.mark.compiled("hundreds of logistic regressions")
@pytest.mark.parametrize("statistic", ["linear", "logistic"])
def test_regression__is_estimated_and_drawn(statistic: str) -> None:
    _, ds, values, _ = one(statistic, variants=30)
    asked: dict[str, Any] = {"statistic": statistic, "covariates": ["age", "bmi"]}
    found = ds.genobit.estimate.epistasis(values, **asked)
    assert found.what == "435 combinations"
    top = ds.genobit.epistasis(values, **asked, top=5)
    table = top.genobit.ranking()
    assert {"effect", "standard_error", COLUMN[statistic], "p", "n"} <= set(table)
    for kind in ("ranking", "arcs", "penetrance", "marginals"):
        assert top.genobit.plot(kind, ds=ds) is not None


NORMAL = np.random.default_rng(1).normal(size=300)
REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"permutations": 5}, ValueError, "permutations= does not take statistic='linear'"),
    ({"order": 3}, ValueError, "statistic='linear' is of pairs, not of order=3"),
    ({"limits": gb.EpistasisLimits(prefilter=5)}, ValueError, "prefilter= ranks variants by"),
    ({"statistic": "f"}, ValueError, "covariates= does not take statistic='f': give statistic"),
    ({"statistic": "logistic"}, ValueError, "classes are whole numbers"),
    ({"covariates": "weight"}, KeyError, "no variable 'weight' along 'samples' only"),
    ({"covariates": "sample_id"}, TypeError, "covariate 'sample_id' holds 's0' at"),
    ({"covariates": 5}, TypeError, "covariates= is a int: give a list of names"),
    ({"covariates": [5]}, TypeError, r"covariates\[0\] is a int: give the name"),
    ({"covariates": ["age", "age"]}, ValueError, "covariates= has 'sample_age' twice"),
    ({"covariates": ["age", "call_genotype"]}, KeyError, "no variable 'call_genotype'"),
    ({"covariates": xr.Dataset({"x": 3})}, ValueError, "Dataset without a variable along"),
    (
        {"covariates": xr.DataArray(np.ones(300), dims="samples", name="one")},
        ValueError,
        "covariate 'one' is 1 in all 292 samples that are used",
    ),
    (
        {"covariates": xr.DataArray(NORMAL[:, None] * [1, -2], dims=("samples", "c"), name="pc")},
        ValueError,
        r"covariate 'pc\[1\]' is a linear combination of 'pc\[0\]', in the 292 samples",
    ),
    (
        {"covariates": xr.DataArray(np.where(NORMAL > 2, np.inf, 0), dims="samples", name="far")},
        ValueError,
        r"covariate 'far' at \[\d+\] along 'samples' is inf: set it to NaN",
    ),
    (
        {"covariates": xr.DataArray(np.full(300, np.nan), dims="samples", name="none")},
        ValueError,
        "phenotype has 0 different values in the 0 samples that have all covariates",
    ),
    (
        {"covariates": xr.DataArray(np.zeros((300, 2)), dims=("samples", "variants"), name="g")},
        ValueError,
        "covariate 'g' has a value for each variant and sample: select a variant",
    ),
]


@pytest.mark.parametrize(("change", "error", "message"), REFUSED)
def test_regression__refuses(change: dict[str, Any], error: type[Exception], message: str) -> None:
    _, ds, values, _ = one("linear", variants=6)
    asked = {"statistic": "linear", "covariates": ["age", "bmi"], "limits": ALL} | change
    with pytest.raises(error, match=message):
        ds.genobit.epistasis(values, **asked)


def test_regression__refuses_classes_that_covariates_separate() -> None:
    _, ds, values, _ = one("logistic", variants=6)
    tells = xr.DataArray(values + NORMAL / 100, dims="samples", name="tells")
    with pytest.raises(ValueError, match="the covariates separate the classes"):
        ds.genobit.epistasis(values, statistic="logistic", covariates=tells)
    with pytest.raises(ValueError, match="takes two classes, and the phenotype has 3"):
        ds.genobit.epistasis(np.arange(300) % 3, statistic="logistic", covariates="age")
