"""Differences of two results are named and coloured as what they are; results are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import holoviews as hv
import numpy as np
import pytest
import xarray as xr
from bokeh.models import ColorBar, Title
from matplotlib.text import Text

import genobit as gb
from genobit.visual.differences import is_difference
from tests.helpers.cohorts import cohort, mosaic_calls


@pytest.fixture(autouse=True)
def kept_attributes() -> Iterator[None]:
    """Keep attributes in arithmetic, as xarray does by itself since 2025.11."""
    with xr.set_options(keep_attrs=True):
        yield


@cache
def halves() -> tuple[xr.Dataset, xr.Dataset]:
    """Two sets of variants of the same samples, and of samples of the same variants."""
    ds = cohort(mosaic_calls(5, 120, 90), phased=True)
    return ds, ds.isel(variants=slice(60, 120))


def printed(figure: Any) -> str:
    """All words of the form for papers."""
    return " ".join(text.get_text() for text in figure.to_matplotlib(180).findobj(Text))


def of_samples(method: str) -> Callable[[], list[xr.DataArray]]:
    def made() -> list[xr.DataArray]:
        ds, _ = halves()
        parts = (ds.isel(variants=slice(0, 60)), ds.isel(variants=slice(60, 120)))
        return [part.genobit.grm(method).compute() for part in parts]

    return made


def of_variants(function: Callable[[Any], xr.DataArray]) -> Callable[[], list[xr.DataArray]]:
    def made() -> list[xr.DataArray]:
        ds, _ = halves()
        some = ds.isel(variants=slice(0, 25))
        parts = some.isel(samples=slice(0, 40)), some.isel(samples=slice(40, 90))
        return [function(part.genobit).compute() for part in parts]

    return made


CASES = {
    **{
        f"ld {name}": of_variants(lambda x, name=name: x.ld(name, phased=name in {"D", "dprime"}))
        for name in ("r2", "r", "D", "dprime", "r2_em", "dprime_em")
    },
    "ld of two sets": of_variants(lambda x: x.ld("r2", other=["rs3", "rs7"])),
    "ld with a lead": of_variants(lambda x: x.ld("r2", other="rs3")),
    "ld of a window": of_variants(lambda x: x.ld("r2", window=5)),
    **{
        f"grm {name}": of_samples(name)
        for name in ("vanraden1", "vanraden2", "gcta", "king", "ibs", "dominance", "hadamard")
    },
    **{
        f"kendall {name}": of_variants(lambda x, name=name: x.kendall(statistic=name))
        for name in ("tau_a", "tau_b", "somers_d_rows")
    },
}


@pytest.mark.filterwarnings("ignore:kinship from")
@pytest.mark.parametrize("case", CASES)
def test_a_difference_is_named_and_diverges_about_0(case: str) -> None:
    first, second = CASES[case]()
    for result, difference in ((first, False), (second, False), (first - second, True)):
        figure = result.genobit.plot()
        model = hv.render(figure.hv)
        words = " ".join(title.text for title in model.select({"type": Title}))
        words += " ".join(axis.axis_label or "" for axis in model.axis)
        bar = model.select_one(ColorBar)
        if bar is not None:
            words += str(bar.title)
        assert ("Δ" in words or "difference of" in words) == difference
        found = printed(figure)
        assert any(word in found for word in ("Δ", "\\Delta", "ifference of")) == difference
        if difference and bar is not None:
            low, high = bar.color_mapper.low, bar.color_mapper.high
            assert low == -high
            assert high >= 0.9 * np.nanquantile(np.abs(result.values), 0.9)


@pytest.mark.filterwarnings("ignore:kinship from")
@pytest.mark.parametrize("case", [name for name in CASES if "set" not in name])
def test_a_histogram_of_differences_is_named(case: str) -> None:
    first, second = CASES[case]()
    for result, difference in ((first, False), (first - second, True)):
        drawn = result.genobit.plot("histogram").hv
        model = hv.render(drawn)
        words = " ".join(str(axis.axis_label) for axis in model.axis)
        words += " ".join(title.text for title in model.select({"type": Title}))
        assert ("ifference of" in words or "Δ" in words) == difference


def test_similarities() -> None:
    rng = np.random.default_rng(0)
    bits = xr.DataArray(rng.integers(0, 2, (12, 60)), dims=("rows", "bits"))
    first, second = (part.genobit.similarity() for part in (bits, bits[:, ::2]))
    for result, difference in ((first, False), (second, False), (first - second, True)):
        for kind in ("heatmap", "histogram"):
            figure = result.genobit.plot(kind)
            found = printed(figure)
            assert ("ifference of" in found) == difference


def test_without_attributes__as_older_xarray_keeps_none() -> None:
    first, second = CASES["ld r2"]()
    drawn = (first - second).drop_attrs().genobit.plot().hv
    assert drawn.opts.get().kwargs["title"].startswith("Δ r²")


def test_what_is_no_difference() -> None:
    tau = np.array([[1.0, -0.9], [-0.9, 1.0]])
    assert not is_difference(tau, least=-1, most=1, one_set=True)
    assert not is_difference(tau, least=-1, most=1)
    # Two sets of variables have no diagonal.
    assert not is_difference(np.zeros((2, 3)), least=-1, most=1)
    # Without values of a member with itself, nothing tells.
    empty = np.array([[np.nan, 0.5], [0.5, np.nan]])
    assert not is_difference(empty, one_set=True)
    assert not is_difference(np.empty((0, 0)), one_set=True)
    # A diagonal that a user filled with 0.
    assert not is_difference(np.array([[0, 0.5], [0.5, 0]]), least=0, most=1, one_set=True)
    # Relationships of samples that are all alike.
    assert not is_difference(np.zeros((3, 3)), one_set=True)
    # Rounding.
    assert not is_difference(np.array([[1.0000001, -1e-8], [-1e-8, 1]]), least=0, most=1)


def test_the_lactase_haplotype_differs_between_populations(shared_data: Any) -> None:
    ds = gb.open_plink(shared_data / "lct_1kg" / "lct_1kg").isel(variants=slice(0, 100)).load()
    parts = ds.isel(samples=slice(0, 250)), ds.isel(samples=slice(250, 503))
    first, second = (part.genobit.ld("r2", compute=True) for part in parts)
    figure = (first - second).genobit.plot("heatmap")
    bar = hv.render(figure.hv).select_one(ColorBar)
    assert bar.color_mapper.low == -bar.color_mapper.high < 0
    assert bar.title == "difference of squared correlation r²"
