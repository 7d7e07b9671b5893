"""Decay of LD: means, their line with its band, and half-decay distances by population."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from genobit.ld.decay import half_parameter, hill_weir
from genobit.ld.plots.decay import ld_decay
from genobit.visual.paper.page import page_of
from genobit.visual.picture.paper import paper_of
from genobit.visual.picture.screen import paint
from genobit.visual.picture.spec import Band, Line, Picture, Points, Segments
from genobit.visual.tokens import GROUPS
from tests.helpers.cohorts import cohort, mosaic_calls, random_calls
from tests.ld.plots.results import ld_result, symmetric
from tests.visual.texts import overlapping, texts_of


def decay(n: int = 3, *, verdict: str = "fits") -> xr.Dataset:
    """A decay of populations as `.ld_decay()` returns it, with means on the curves."""
    edges, observations = np.linspace(0, 100_000, 21), 200
    distance = np.tile((edges[:-1] + edges[1:]) / 2, (n, 1))
    half = 10_000.0 * (1 + np.arange(n))
    rho = half_parameter(observations) / half
    mean = hill_weir(rho[:, None] * distance, observations)
    known = half if verdict == "fits" else np.full(n, np.nan)
    bins = ("populations", "bins")
    return xr.Dataset(
        {
            "r2": (bins, mean),
            "mean_interval": ((*bins, "bounds"), np.stack([0.9 * mean, 1.2 * mean], axis=-1)),
            "pairs": (bins, np.full(mean.shape, 50)),
            "distance": (bins, distance),
            "bin_stop": ("bins", edges[1:]),
            "rho": ("populations", rho),
            "observations": ("populations", np.full(n, observations)),
            "fit": ("populations", np.full(n, verdict)),
            "half_decay": ("populations", known),
            "half_decay_of_means": ("populations", half),
            "half_decay_of_means_interval": (
                ("populations", "bounds"),
                np.outer(half, [0.8, 1.25]),
            ),
        },
        {"populations": [f"POP{k}" for k in range(n)]},
        {"statistic": "r2", "unit": "bp", "confidence": 0.95},
    )


def dots(picture: Picture) -> list[Points]:
    return [mark for mark in picture.panel.marks_of(Points) if mark.shape == "circle"]


def diamonds(picture: Picture) -> list[Points]:
    return [mark for mark in picture.panel.marks_of(Points) if mark.shape == "diamond"]


def words(picture: Picture) -> str:
    return " ".join([picture.title, *picture.notes, *(m.note for m in picture.panel.marks)])


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("width", [85, 180])
@pytest.mark.parametrize("n", [1, 3, 12])
def test_texts_stay_apart(n, width, log):
    figure = page_of(paper_of(ld_decay(decay(n), log=log)), width)
    assert overlapping(figure) == []
    written = " ".join(text for text, _ in texts_of(figure))
    assert all(f"POP{k}" in written for k in range(n))
    (frame,) = figure.axes[0].child_axes
    assert frame.get_xscale() == ("log" if log else "linear")
    assert frame.get_xlim() == pytest.approx((2.25 if log else 0, 100))


@pytest.mark.parametrize("log", [False, True, None])
@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("max_distance", [None, 40_000])
def test_the_result_draws_its_picture(log, fitted, max_distance):
    options = {"log": log, "fitted": fitted, "max_distance": max_distance}
    figure = decay().genobit.plot(**options)
    picture = ld_decay(decay(), **options)
    assert [type(m) for m in figure.picture.panel.marks] == [type(m) for m in picture.panel.marks]
    assert figure.picture.panel.x == picture.panel.x
    assert words(figure.picture) == words(picture)
    hv.render(figure.hv)
    figure.to_matplotlib(85)


def test_means_are_those_of_the_bins():
    found = decay()
    for k, mark in enumerate(dots(ld_decay(found, max_distance=40_000))):
        np.testing.assert_allclose(mark.x, found["distance"].values[k, :8] / 1e3)
        np.testing.assert_allclose(mark.y, found["r2"].values[k, :8])
        assert mark.hover["pairs"].tolist() == [50] * 8
        assert mark.colour == GROUPS[k]


def test_the_line_is_the_mean_of_wider_bins():
    found = decay()
    found["pairs"][:] = np.arange(1, 21)
    picture = ld_decay(found)
    for k, (line, band) in enumerate(
        zip(picture.panel.marks_of(Line), picture.panel.marks_of(Band), strict=True)
    ):
        one = found.isel(populations=k)
        group = np.floor(12 * np.log10(one["distance"].values / 1e3))
        for place, at, mean, low, high in zip(
            np.unique(group), line.x, line.y, band.low, band.high, strict=True
        ):
            of_group = one.isel(bins=group == place)
            expected = of_group[["distance", "r2"]].weighted(of_group["pairs"]).mean()
            assert at == pytest.approx(float(expected["distance"]) / 1e3)
            assert mean == pytest.approx(float(expected["r2"]))
            assert (low, high) == pytest.approx((0.9 * mean, 1.2 * mean))


def test_diamonds_stand_at_half_of_the_first_mean():
    picture = ld_decay(decay())
    bars = picture.panel.marks_of(Segments)
    for k, (mark, bar) in enumerate(zip(diamonds(picture), bars, strict=True)):
        assert mark.x[0] == pytest.approx(10 * (k + 1))
        assert mark.y[0] == pytest.approx(decay()["r2"].values[k, 0] / 2)
        assert (bar.x0[0], bar.x1[0]) == pytest.approx((8 * (k + 1), 12.5 * (k + 1)))
    assert "halves at 10.0 kb (8.00–12.5); Hill–Weir fit 10.0 kb" in words(picture)
    near = ld_decay(decay(), max_distance=8_000)
    assert diamonds(near) == []
    assert "Diamonds" not in words(near)


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        ("does not fit", "the Hill–Weir curve does not fit"),
        ("below the bins", "the Hill–Weir curve halves before the first bin"),
        ("beyond the bins", "the Hill–Weir curve halves beyond the last bin"),
    ],
)
def test_a_fit_without_half_distance_is_said(verdict, text):
    assert text in words(ld_decay(decay(verdict=verdict)))


def test_the_fitted_curve_is_an_option():
    picture = ld_decay(decay(), log=False, fitted=True)
    curves = [mark for mark in picture.panel.marks_of(Line) if mark.dash == "dashed"]
    assert len(curves) == 3
    for k, curve in enumerate(curves):
        half = float(np.interp(10.0 * (k + 1), curve.x, curve.y))
        assert half == pytest.approx(curve.y[0] / 2, rel=1e-2)
    assert "Dashed: fitted curve" in words(picture)
    assert "Dashed" not in words(ld_decay(decay()))


def test_one_population_has_its_half_in_the_notes():
    picture = ld_decay(decay(1).isel(populations=0, drop=True))
    assert picture.notes[0] == "Halves at 10.0 kb (8.00–12.5); Hill–Weir fit 10.0 kb."
    assert all(not mark.label for mark in picture.panel.marks)


def test_means_that_never_halve_have_no_diamond():
    found = decay(1)
    found["half_decay_of_means"][:] = np.inf
    found["half_decay_of_means_interval"][:] = np.inf
    picture = ld_decay(found)
    assert diamonds(picture) == picture.panel.marks_of(Segments) == []
    assert "does not halve within the bins" in words(picture)


def test_means_without_intervals_have_no_band():
    found = decay()
    found["mean_interval"] = np.nan * found["mean_interval"]
    picture = ld_decay(found)
    assert picture.panel.marks_of(Band) == []
    assert "Line: means in wider bins." in words(picture)


def test_a_population_without_pairs_has_no_marks_with_values():
    found = decay()
    found["pairs"][2] = 0
    found["half_decay_of_means"][2] = np.nan
    picture = ld_decay(found)
    assert [len(mark.x) for mark in dots(picture)] == [20, 20, 0]
    assert len(diamonds(picture)) == 2
    hv.render(paint(picture))
    page_of(paper_of(picture), 180)


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="no pair within max_distance"):
        ld_decay(decay(), max_distance=10)
    with pytest.raises(ValueError, match="no pair within max_distance"):
        ld_decay(ld_result(np.full((3, 3), np.nan)))
    with pytest.raises(ValueError, match="is not a decay"):
        ld_decay(cohort(random_calls(1, 120, 60)))


def test_options_of_another_result_are_refused():
    with pytest.raises(TypeError, match="no option 'lgo'"):
        decay().genobit.plot(lgo=True)
    with pytest.raises(ValueError, match=r"bins=10 is for pairs, and this result has 20 bins"):
        decay().genobit.plot(bins=10)
    with pytest.raises(TypeError, match="log='yes' is not True or False"):
        decay().genobit.plot(log="yes")
    with pytest.raises(ValueError, match="bins=0 is not a positive"):
        ld_result(symmetric(9)).genobit.plot("decay", bins=0)
    with pytest.raises(ValueError, match="max_distance='far' is neither"):
        decay().genobit.plot(max_distance="far")
    assert (
        ld_decay(decay(), max_distance="40kb").panel.x
        == ld_decay(decay(), max_distance=40_000).panel.x
    )
    for text in ("1cM", "10 variants"):
        with pytest.raises(ValueError, match=f"max_distance='{text}' is not in bp"):
            decay().genobit.plot(max_distance=text)
    with pytest.raises(ValueError, match="dpi is 'high'"):
        decay().genobit.plot().save("decay.png", dpi="high")
    with pytest.raises(ValueError, match="fitted=True needs a curve"):
        ld_result(symmetric(9)).genobit.plot("decay", fitted=True)


def test_far_distances_have_a_logarithmic_axis():
    assert ld_decay(decay()).panel.x.log
    assert not ld_decay(decay(), max_distance=90_000).panel.x.log
    assert not ld_decay(decay(), log=False).panel.x.log


def test_intervals_of_means_hold_the_means():
    found = cohort(mosaic_calls(3, 200, 80)).genobit.ld_decay("50kb", bins=6, parts=12)
    low, high = found["mean_interval"].values.T
    assert (low < found["r2"]).all()
    assert (found["r2"] < high).all()


def test_matrix_and_table_agree():
    result = ld_result(symmetric(30))
    first, second = np.triu_indices(30, 1)
    position = result["variant_position_0"].values
    table = pd.DataFrame(
        {
            "variant_position_0": position[first],
            "variant_position_1": position[second],
            "r2": result.values[first, second],
        }
    )
    (expected,) = dots(ld_decay(result, bins=7))
    for pairs in (table, table.rename(columns={"r2": "r2_em"})):
        (found,) = dots(ld_decay(pairs, bins=7))
        np.testing.assert_allclose(found.x, expected.x)
        np.testing.assert_allclose(found.y, expected.y)
        assert found.hover["pairs"].tolist() == expected.hover["pairs"].tolist()


def test_a_table_of_something_else():
    table = pd.DataFrame({"variant_position_0": [1], "variant_position_1": [5], "d": [0.1]})
    with pytest.raises(KeyError, match=r"the table lacks r2: give a table of .*ld_pairs\(\)"):
        ld_decay(table)


@pytest.mark.parametrize("variants", [[5], [5, 50], [50, 5, 7]])
def test_decay_of_partners_counts_each_pair_once(variants):
    ds = cohort(mosaic_calls(3, 60, 80))
    # Each variant is listed as a partner of the others.
    pairs = ds.genobit.ld_pairs(variants=variants, threshold=0)
    ends = pairs.to_dataframe()[["variant_0", "variant_1"]].to_numpy()
    different = len({tuple(sorted(pair)) for pair in ends.tolist()})
    assert (different < len(ends)) is (len(variants) > 1)
    for table in (pairs, pairs.to_dataframe()):
        (found,) = dots(ld_decay(table))
        assert found.hover["pairs"].sum() == different
