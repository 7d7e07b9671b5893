from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from genobit.io.samples import sample_expression as module
from genobit.io.samples.sample_expression import sample_expression


@pytest.fixture(scope="module")
def expr() -> xr.DataArray:
    return sample_expression()


def members(expr: xr.DataArray, name: str) -> np.ndarray:
    return np.flatnonzero(expr.gene_module.values == name)


def test_shape_and_labels(expr: xr.DataArray) -> None:
    assert expr.dims == ("gene", "sample")
    assert expr.shape == (1_500, 160)
    assert expr.dtype == np.float64
    assert np.isfinite(expr).all()
    assert expr.gene.values[[0, -1]].tolist() == ["G0000", "G1499"]
    assert expr.sample.values[[0, -1]].tolist() == ["S000", "S159"]
    conditions, counts = np.unique(expr.sample_condition, return_counts=True)
    assert dict(zip(conditions, counts, strict=True)) == {"control": 80, "treated": 80}
    assert expr.attrs["source"] == "genobit.sample_expression, version 1"


def test_modules_are_as_stated(expr: xr.DataArray) -> None:
    names = [f"M{k + 1:02d}" for k in range(18)]
    assert set(expr.gene_module.values) == {"", *names}
    assert [len(members(expr, name)) for name in names] == list(module._MODULES)
    noise = members(expr, "")
    assert len(noise) == 915
    assert not expr.gene_loading.values[noise].any()
    for name in names:
        loading = expr.gene_loading.values[members(expr, name)]
        assert np.abs(loading).max() == pytest.approx(0.97)
        assert np.abs(loading).min() == pytest.approx(0.6)
        assert (loading < 0).sum() == len(loading) // 7


def test_genes_follow_their_module_as_closely_as_they_load(expr: xr.DataArray) -> None:
    for name in ("M01", "M08", "M18"):
        of = members(expr, name)
        loading = expr.gene_loading.values[of]
        found = np.corrcoef(expr.values[of])
        expected = np.outer(loading, loading)
        np.fill_diagonal(expected, 1)
        # Of 160 samples a correlation has a standard error of at most 0.08.
        assert np.abs(found - expected).max() < 0.35
        assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.98


def test_noise_is_not_correlated(expr: xr.DataArray) -> None:
    noise = np.corrcoef(expr.values[members(expr, "")])
    assert np.abs(noise[np.triu_indices_from(noise, 1)]).max() < 0.5
    assert abs(noise.mean() - 1 / len(noise)) < 0.01


def test_odd_modules_share_the_signal_of_the_one_before(expr: xr.DataArray) -> None:
    def hub(name: str) -> np.ndarray:
        of = members(expr, name)
        return expr.values[of[np.argmax(expr.gene_loading.values[of])]]

    shared = [np.corrcoef(hub(f"M{k:02d}"), hub(f"M{k + 1:02d}"))[0, 1] for k in range(3, 19, 2)]
    apart = [np.corrcoef(hub(f"M{k:02d}"), hub(f"M{k + 1:02d}"))[0, 1] for k in range(4, 18, 2)]
    assert np.mean(shared) > 0.45
    assert abs(np.mean(apart)) < 0.2


def test_treatment_raises_three_modules(expr: xr.DataArray) -> None:
    treated = expr.sample_condition.values == "treated"
    standard = (expr - expr.mean("sample")) / expr.std("sample")
    effects = {}
    for k in range(18):
        name = f"M{k + 1:02d}"
        of = members(expr, name)
        values = standard.values[of] * np.sign(expr.gene_loading.values[of])[:, None]
        effects[name] = values[:, treated].mean() - values[:, ~treated].mean()
    strongest = sorted(effects, key=lambda name: -effects[name])[:3]
    assert set(strongest) == {"M01", "M06", "M10"}


def test_the_same_every_time_and_in_no_order(expr: xr.DataArray) -> None:
    xr.testing.assert_identical(sample_expression(), expr)
    of = members(expr, "M01")
    assert np.diff(of).max() > 20
