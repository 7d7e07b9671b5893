"""HoloViews plots in their form for papers: what is drawn, where, and in which colours."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np
import pytest
from bokeh.models import FixedTicker
from matplotlib.colors import same_color, to_hex

from genobit.visual.paper.page import page_of
from genobit.visual.paper.plain import paper_of


def drawn(picture: Any, width_mm: float = 90) -> Any:
    """The first axes of a page."""
    figure = page_of(paper_of(picture), width_mm)
    figure.draw_without_rendering()
    return figure.axes[0]


class TestMarks:
    def test_points_have_places_colours_and_sizes(self) -> None:
        columns = {"x": [1.0, 2.0], "y": [3.0, 5.0], "c": ["#ff0000", "#0000ff"]}
        points = hv.Points(columns, ["x", "y"], "c").opts(color="c", size=8)
        (found,) = drawn(points).collections
        np.testing.assert_array_equal(found.get_offsets(), [[1, 3], [2, 5]])
        assert [to_hex(colour) for colour in found.get_facecolors()] == ["#ff0000", "#0000ff"]
        (small,) = drawn(points.opts(size=4)).collections
        assert found.get_sizes()[0] == pytest.approx(4 * small.get_sizes()[0])

    def test_categories_have_their_colours_and_a_key(self) -> None:
        colours = {"b": "#00ff00", "a": "#ff00ff"}
        columns = {"x": [1.0, 2.0, 3.0], "y": [0.0, 0.0, 0.0], "c": ["a", "b", "a"]}
        points = hv.Points(columns, ["x", "y"], "c").opts(
            color="c", cmap=colours, show_legend=True, legend_opts={"title": "population"}
        )
        axes = drawn(points)
        faces = [to_hex(colour) for colour in axes.collections[0].get_facecolors()]
        assert faces == ["#ff00ff", "#00ff00", "#ff00ff"]
        key = axes.get_legend()
        assert [text.get_text() for text in key.get_texts()] == ["b", "a"]
        assert key.get_title().get_text() == "population"

    def test_numbers_have_a_colour_bar_and_grey_gaps(self) -> None:
        columns = {"x": [1.0, 2.0, 3.0], "y": [0.0, 0.0, 0.0], "c": [0.0, np.nan, 1.0]}
        points = hv.Points(columns, ["x", "y"], "c").opts(
            color="c", cmap=["#000000", "#ffffff"], clim=(0, 1), colorbar=True, clabel="age"
        )
        axes = drawn(points)
        faces = [to_hex(colour) for colour in axes.collections[0].get_facecolors()]
        assert faces == ["#000000", "#d5d9df", "#ffffff"]
        assert axes.get_figure().axes[1].get_ylabel() == "age"

    def test_segments_rectangles_and_curves_keep_their_ends(self) -> None:
        lines = hv.Segments([(0, 1, 2, 3)]).opts(line_dash="dashed", color="#123456")
        boxes = hv.Rectangles([(5, 6, 7, 8)]).opts(color="#654321", fill_alpha=0.5)
        curve = hv.Curve([(0, 0), (1, 9)]).opts(color="#abcdef")
        axes = drawn(lines * boxes * curve)
        segment, box = axes.collections
        np.testing.assert_array_equal(segment.get_segments()[0], [[0, 1], [2, 3]])
        assert segment.get_linestyle()[0][1] is not None
        assert box.get_paths()[0].get_extents().bounds == (5, 6, 2, 2)
        assert same_color(box.get_facecolor()[0], ("#654321", 0.5))
        np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[0, 0], [1, 9]])

    def test_an_image_is_one_image_with_its_bounds_and_limits(self) -> None:
        values = np.array([[0.1, 0.2], [0.3, np.nan]])
        image = hv.Image(values, bounds=(0, 0, 4, 2)).opts(
            cmap=["#ffffff", "#000000"], clim=(0, 1), clipping_colors={"NaN": "#ff0000"}
        )
        axes = drawn(image)
        (found,) = axes.images
        assert found.get_extent() == [0, 4, 0, 2] or tuple(found.get_extent()) == (0, 4, 0, 2)
        # HoloViews has its first row at the top.
        np.testing.assert_array_equal(found.get_array().filled(-1), [[0.3, -1], [0.1, 0.2]])
        assert found.get_clim() == (0, 1)
        assert same_color(found.cmap.get_bad(), "#ff0000")
        assert found.get_interpolation() == "none"

    def test_histograms_on_a_logarithmic_axis_show_single_counts(self) -> None:
        counts = hv.Histogram((np.array([0.0, 1, 2]), np.array([1, 100]))).opts(
            logy=True, ylim=(0.5, None)
        )
        axes = drawn(counts)
        tops = [bar.get_y() + bar.get_height() for bar in axes.patches]
        assert tops == [1, 100]
        assert axes.get_yscale() == "log"
        assert {text.get_text() for text in axes.get_yticklabels()} >= {"1", "10", "100"}

    def test_texts_stand_where_they_are_told(self) -> None:
        texts = hv.Labels([(1, 2, "MYC")]).opts(
            text_align="left", text_font_style="bold", text_color="#112233"
        )
        (found,) = drawn(texts * hv.Points([(0, 0), (3, 3)])).texts
        assert (found.get_position(), found.get_text()) == ((1, 2), "MYC")
        assert (found.get_ha(), found.get_fontweight()) == ("left", "bold")
        assert found.get_color() == "#112233"
        assert found.get_fontsize() >= 5.2

    def test_bars_lines_and_paths(self) -> None:
        bars = drawn(hv.Bars([("a", 2), ("b", 5)]))
        assert [bar.get_height() for bar in bars.patches] == [2, 5]
        assert [text.get_text() for text in bars.get_xticklabels()] == ["a", "b"]
        level = drawn(hv.HLine(3.5) * hv.Curve([1, 9]))
        assert level.lines[0].get_ydata()[0] == 3.5
        arcs = hv.Contours(
            [{"x": [0, 1], "y": [0, 1], "v": 0.0}, {"x": [1, 2], "y": [0, 1], "v": 1.0}],
            ["x", "y"],
            "v",
        )
        (paths,) = drawn(arcs.opts(color="v", cmap=["#000000", "#ffffff"])).collections
        assert [to_hex(colour) for colour in paths.get_colors()] == ["#000000", "#ffffff"]

    def test_an_element_without_a_form(self) -> None:
        with pytest.raises(TypeError, match=r"a Spikes has no form for papers; save .*\.html"):
            drawn(hv.Spikes([1, 2]))


class TestFurniture:
    def test_title_labels_limits_and_ticks(self) -> None:
        curve = hv.Curve([(0, 1), (10, 3)], "dist", "mean").opts(
            title="Decay", xlabel="distance (kb)", ylim=(0, 4), xticks=[(0, "none"), (5, "half")]
        )
        axes = drawn(curve)
        assert axes.get_title(loc="left") == "Decay"
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("distance (kb)", "mean")
        assert axes.get_ylim() == (0, 4)
        assert [text.get_text() for text in axes.get_xticklabels()] == ["none", "half"]

    def test_an_overlay_speaks_before_its_elements(self) -> None:
        both = hv.Curve([1, 2]).opts(title="one", xlabel="low") * hv.Curve([2, 3])
        axes = drawn(both.opts(title="both"))
        assert (axes.get_title(loc="left"), axes.get_xlabel()) == ("both", "low")

    def test_axes_that_are_not_there(self) -> None:
        axes = drawn(hv.Curve([1, 2]).opts(xaxis=None, yaxis="bare"))
        assert not axes.spines["bottom"].get_visible()
        assert axes.spines["left"].get_visible()
        assert len(axes.get_xticks()) == len(axes.get_yticks()) == 0

    def test_the_colour_bar_has_the_words_of_its_ticks(self) -> None:
        cells = hv.Rectangles([(0, 0, 1, 1, -1.0), (1, 0, 2, 1, 1.0)], vdims="v").opts(
            color="v",
            cmap=["#000000", "#ffffff"],
            clim=(-1, 1),
            colorbar=True,
            colorbar_opts={
                "ticker": FixedTicker(ticks=[-1.0, 1.0]),
                "major_label_overrides": {-1: "few", 1: "many"},
            },
        )
        bar = drawn(cells).get_figure().axes[1]
        assert [text.get_text() for text in bar.get_yticklabels()] == ["few", "many"]

    def test_large_numbers_have_commas(self) -> None:
        axes = drawn(hv.Curve([(0, 0), (20_000, 1)]))
        assert "10,000" in [text.get_text() for text in axes.get_xticklabels()]

    @pytest.mark.parametrize("width_mm", [60, 90, 180])
    def test_nothing_leaves_the_page(self, width_mm: float) -> None:
        title = "Principal components of 1,092 samples: " + "a long explanation, " * 6
        curve = hv.Curve([1, 2]).opts(title=title, xlabel="position on contig 2 (Mb)")
        axes = drawn(curve, width_mm)
        figure = axes.get_figure()
        page = figure.bbox
        for text in (axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label):
            box = text.get_window_extent()
            assert box.x0 >= -1
            assert box.x1 <= page.width + 1


class TestTable:
    def test_rows_are_counted_if_some_are_left_out(self) -> None:
        table = hv.Table(
            {"name": [f"g{k}" for k in range(50)], "p": np.arange(50) / 8}, "name", "p"
        )
        texts = [text.get_text() for text in drawn(table).texts]
        assert "The first 40 of 50 rows." in texts
        assert {"g39", "4.875"} <= set(texts)
        assert "g40" not in texts

    def test_numbers_stand_on_the_right(self) -> None:
        table = hv.Table({"name": ["a"], "n": [12_345]}, "name", "n")
        found = {text.get_text(): text for text in drawn(table).texts}
        assert (found["a"].get_ha(), found["12,345"].get_ha()) == ("left", "right")
