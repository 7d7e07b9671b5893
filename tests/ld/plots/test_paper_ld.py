"""LD triangles and heatmaps for papers, by their artists."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb

from genobit.ld.plots import result
from genobit.ld.plots.paper_ld import paper_heatmap, paper_triangle
from genobit.ld.plots.paper_text import LINE, beside_apex
from genobit.visual.paper.page import page_of, write
from genobit.visual.paper.texts import hinted_width
from genobit.visual.tokens import CASING_PT, LIGHT
from tests.helpers.cohorts import cohort, mosaic_calls
from tests.ld.plots.results import ld_result, panels, require_legible, symmetric


def picture(figure):
    axes = panels(figure)[0]
    FigureCanvasAgg(figure).draw()
    return axes, axes.images[0]


def colour_at(figure, axes, x: float, y: float) -> np.ndarray:
    """The colour of the page at a place in data coordinates, 0 to 255."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    page = np.asarray(canvas.buffer_rgba())
    column, row = axes.transData.transform((x, y))
    return page[len(page) - 1 - round(row), round(column), :3]


@pytest.mark.parametrize("apex", ["down", "up"])
@pytest.mark.parametrize("axis", ["rank", "position"])
def test_cells_of_the_triangle_are_at_the_middle_of_their_pair(apex, axis):
    values = np.zeros((6, 6))
    values[1, 4] = values[4, 1] = 1.0
    r2 = ld_result(values, np.arange(6) * 1_000_000 + 1)
    figure = page_of(paper_triangle(r2, apex=apex, axis=axis, max_pixels=6), 180)
    axes, image = picture(figure)
    assert image.get_array().shape == (6, 6, 3)
    sign = -1 if apex == "down" else 1
    # On an axis in Mb, a bin is 5 / 6 Mb wide.
    middle, apart = (2.5, 3.0) if axis == "rank" else (2.5, 2.5)
    dark, white = ([round(255 * x) for x in to_rgb(c)] for c in ("#4b1150", "#ffffff"))
    np.testing.assert_allclose(colour_at(figure, axes, middle, sign * apart), dark, atol=2)
    np.testing.assert_allclose(colour_at(figure, axes, middle, sign * apart / 3), white, atol=2)
    np.testing.assert_allclose(colour_at(figure, axes, middle + 1, sign * apart), white, atol=2)


def test_the_triangle_is_twice_as_wide_as_high_at_any_width():
    r2 = ld_result(symmetric(30))
    for width in (60, 90, 180):
        paper = paper_triangle(r2)
        figure = page_of(paper, width)
        assert figure.get_figheight() * 25.4 == pytest.approx(paper.height(width))
        axes, _ = picture(figure)
        box = axes.get_window_extent()
        assert box.width == pytest.approx(2 * box.height)


def test_lines_have_a_casing_and_the_colours_of_their_meaning():
    ds = cohort(mosaic_calls(1, 60, 80))
    blocks = ds.genobit.ld_blocks()
    assert blocks.sizes["blocks"]
    paper = paper_triangle(ds.genobit.ld(), lead=20, selected=[3], blocks=blocks)
    axes, _ = picture(page_of(paper, 180))
    lines = [c for c in axes.collections if isinstance(c, LineCollection)]
    shades = [tuple(c.get_colors()[0][:3]) for c in lines]
    assert shades == [to_rgb(c) for c in (LIGHT.paper, LIGHT.ink) * 2 + (LIGHT.paper, LIGHT.accent)]
    assert [c.get_linewidths()[0] for c in lines[::2]] == [CASING_PT] * 3
    assert len(lines[1].get_segments()) == 3 * blocks.sizes["blocks"]
    left, right = lines[-1].get_segments()
    np.testing.assert_allclose(left, [(20, 0), (9.75, -20.5)])
    np.testing.assert_allclose(right, [(20, 0), (39.75, -39.5)])


def test_missing_values_are_grey_and_counted():
    values = symmetric(5)
    values[2] = values[:, 2] = np.nan
    figure = page_of(paper_heatmap(ld_result(values)), 90)
    _, image = picture(figure)
    grey = [round(255 * x) for x in to_rgb(LIGHT.no_value)]
    colours = image.get_array()
    assert (colours[2] == grey).all()
    assert not (colours[[0, 1, 3, 4]][:, [0, 1, 3, 4]] == grey).all(axis=2).any()
    notes = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert "1 monomorphic variant" in notes


@pytest.mark.parametrize("width", [60, 90, 180])
@pytest.mark.parametrize("draw", [paper_triangle, paper_heatmap])
def test_texts_stay_on_the_page_and_apart(draw, width):
    options = {"apex": "up"} if draw is paper_triangle else {}
    r2 = ld_result(symmetric(700), np.arange(700) * 431 + 136_400_000)
    texts = require_legible(page_of(draw(r2, **options), width))
    assert "136.701" in texts
    assert any(text.startswith("Position (Mb)") for text in texts)


@pytest.mark.parametrize("width", [60, 90, 180])
@pytest.mark.parametrize("axis", ["rank", "position"])
@pytest.mark.parametrize("step", [3, 137, 4_000])
@pytest.mark.parametrize("draw", [paper_triangle, paper_heatmap])
def test_axes_of_short_regions_keep_their_names(draw, step, axis, width):
    r2 = ld_result(symmetric(25), 236_400_000 + step * np.arange(25))
    figure = page_of(draw(r2, axis=axis), width)
    require_legible(figure)
    assert panels(figure)[0].get_ylabel()


@pytest.mark.parametrize("draw", [paper_triangle, paper_heatmap])
def test_values_are_looked_through_once(draw, monkeypatch):
    asked = Mock(wraps=result.scale_with)
    monkeypatch.setattr(result, "scale_with", asked)
    page_of(draw(ld_result(symmetric(25)), threshold=0.2), 90)
    assert asked.call_count == 1


def test_notes_beside_an_apex_stay_off_the_triangle():
    lines = beside_apex(["410 of 607 variants", "outlined: haplotype blocks of many variants"], 45)
    for k, line in enumerate(reversed(lines)):
        assert hinted_width(line) + (k + 1) * LINE < 45
    assert beside_apex(["a long line of notes"] * 20, 30) is None


def test_a_figure_drawn_twice_is_the_same_file(tmp_path):
    r2 = ld_result(symmetric(40))
    for suffix in ("pdf", "svg", "png"):
        files = [tmp_path / f"{k}.{suffix}" for k in range(2)]
        for file in files:
            write(page_of(paper_triangle(r2, lead=3), 90), file, suffix)
        assert files[0].read_bytes() == files[1].read_bytes()


def test_a_thousand_variants_are_one_small_image(tmp_path):
    figure = page_of(paper_triangle(ld_result(symmetric(1_000))), 180)
    axes, image = picture(figure)
    assert len(axes.images) == 1
    assert image.get_array().shape[:2] == (1_000, 1_000)
    file = tmp_path / "a.pdf"
    write(figure, file, "pdf")
    assert file.stat().st_size < 600_000


def test_errors_name_the_option():
    r2 = ld_result(symmetric(5))
    with pytest.raises(ValueError, match="apex is 'left'"):
        paper_triangle(r2, apex="left")
    with pytest.raises(IndexError, match="lead is 7, and the result has the 5 variants"):
        page_of(paper_triangle(r2, lead=7), 90)
    with pytest.raises(ValueError, match="one set of variants against itself"):
        page_of(paper_triangle(ld_result(symmetric(5)[:3])), 90)
