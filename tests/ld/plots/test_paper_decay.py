"""Decay of LD for papers: curves, bands and half-decay distances by population."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import genobit  # noqa: F401  the accessor
from genobit.ld.decay import half_parameter, hill_weir
from genobit.ld.plots.decay import COLOURS
from genobit.ld.plots.paper_decay import paper_decay
from genobit.visual.paper.page import page_of
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
            "pairs": (bins, np.full(mean.shape, 50)),
            "distance": (bins, distance),
            "bin_stop": ("bins", edges[1:]),
            "rho": ("populations", rho),
            "observations": ("populations", np.full(n, observations)),
            "fit": ("populations", np.full(n, verdict)),
            "half_decay": ("populations", known),
            "half_decay_interval": (("populations", "bounds"), np.outer(known, [0.8, 1.25])),
        },
        {"populations": [f"POP{k}" for k in range(n)]},
        {"statistic": "r2", "unit": "bp", "confidence": 0.95},
    )


def words(figure) -> str:
    return " ".join(text for text, _ in texts_of(figure))


def marks(figure, label: str):
    (frame,) = figure.axes[0].child_axes
    return [a for a in (*frame.collections, *frame.lines) if a.get_label() == label]


def test_plots_draw_this_form():
    figure = decay().genobit.plot().to_matplotlib(180)
    assert words(figure) == words(page_of(paper_decay(decay()), 180))
    assert "half at 10.0 kb (8.00–12.5)" in words(figure)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("width", [85, 180])
@pytest.mark.parametrize("n", [1, 3, 12])
def test_texts_stay_apart(n, width, log):
    figure = page_of(paper_decay(decay(n), log=log), width)
    assert overlapping(figure) == []
    assert all(f"POP{k}" in words(figure) for k in range(n))
    (frame,) = figure.axes[0].child_axes
    assert frame.get_xscale() == ("log" if log else "linear")
    assert frame.get_xlim() == pytest.approx((2.25 if log else 0, 100))


def test_curves_run_through_their_halves_and_inside_of_their_bands():
    figure = page_of(paper_decay(decay()), 180)
    for k, (curve, half, band) in enumerate(
        zip(*(marks(figure, f"_{name}") for name in ("curve", "half", "band")), strict=True)
    ):
        x, y = curve.get_data()
        at, level = half.get_offsets()[0]
        assert at == pytest.approx(10 * (k + 1))
        assert level == pytest.approx(y[0] / 2, rel=1e-3)
        assert np.interp(at, x, y) == pytest.approx(level, rel=1e-2)
        assert curve.get_color() == COLOURS[k]
        low, high = (
            hill_weir(half_parameter(200) / (share * at) * x[100], 200) for share in (0.8, 1.25)
        )
        edge = band.get_paths()[0].vertices
        there = edge[np.isclose(edge[:, 0], x[100]), 1]
        assert (there.min(), there.max()) == pytest.approx((low, high))
        assert low < y[100] < high


def test_means_are_those_of_the_bins():
    found = decay()
    figure = page_of(paper_decay(found, max_distance=40_000), 180)
    for k, dots in enumerate(marks(figure, "_means")):
        x, y = dots.get_offsets().T
        np.testing.assert_allclose(x, found["distance"].values[k, :8] / 1e3)
        np.testing.assert_allclose(y, found["r2"].values[k, :8])


def test_a_curve_that_does_not_fit_has_no_band():
    figure = page_of(paper_decay(decay(verdict="does not fit")), 180)
    assert marks(figure, "_band") == marks(figure, "_half") == []
    assert all(curve.get_linestyle() != "-" for curve in marks(figure, "_curve"))
    assert "the curve does not fit" in words(figure)
    assert "Diamonds" not in words(figure)


def test_one_population():
    figure = page_of(paper_decay(decay(1).isel(populations=0, drop=True)), 85)
    assert "Half at 10.0 kb (8.00–12.5)." in words(figure)
    assert overlapping(figure) == []


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="no pair within max_distance"):
        paper_decay(decay(), max_distance=10)


def test_misspelt_options_are_refused():
    with pytest.raises(TypeError, match="no option 'lgo'"):
        decay().genobit.plot(lgo=True)
    shown = decay().genobit.plot(bins=10)
    assert words(shown.to_matplotlib(90)) == words(page_of(paper_decay(decay()), 90))


@pytest.mark.parametrize("log", [False, True])
def test_notes_name_what_is_drawn(log):
    near = page_of(paper_decay(decay(), max_distance=8_000, log=log), 180)
    assert marks(near, "_half") == []
    assert len(marks(near, "_band")) == 3
    assert "Diamonds" not in words(near)
    assert "Bands: curves of the 95% interval of the half-decay distance." in words(near)
    found = decay()
    found["half_decay_interval"] = np.nan * found["half_decay_interval"]
    bare = page_of(paper_decay(found, log=log), 180)
    assert len(marks(bare, "_half")) == 3
    assert marks(bare, "_band") == []
    assert "Diamonds: half-decay distance." in words(bare)
    assert "Bands" not in words(bare)


def test_a_population_without_bins_on_the_axis_has_no_diamond():
    found = decay()
    found["pairs"][2] = 0
    figure = page_of(paper_decay(found), 180)
    assert [len(marks(figure, f"_{name}")) for name in ("half", "band", "curve")] == [2, 2, 2]


def test_distances_of_a_thousand_have_no_exponent():
    found = decay(1)
    found["half_decay"][:] = 999_600.0
    found["half_decay_interval"][:] = [900_000.0, 1_200_400.0]
    figure = page_of(paper_decay(found.isel(populations=0, drop=True)), 180)
    assert "Half at 1,000 kb (900–1,200)." in words(figure)
