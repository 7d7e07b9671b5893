from __future__ import annotations

import dask.array as da
import holoviews as hv
import numpy as np
import pytest
import xarray as xr
from bokeh.models.annotations import Legend
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from genobit.grm.kinship import degree_of
from genobit.grm.plots.heatmap import arrange, draw_heatmap
from genobit.grm.plots.kinship import count_pairs, draw_pairs, list_pairs
from genobit.grm.plots.result import MEASURES, measure_of, pair_values, samples_of, scale_for
from genobit.launcher.plots import closest_pairs, grm_heatmap, kinship_histogram, pca_scatter
from genobit.visual import clusters as tree_module
from genobit.visual.clusters import cluster
from genobit.visual.colouring import MISSING, colouring, one_colour_each, sample_variables
from genobit.visual.style import NO_VALUE_COLOUR, SEQUENTIAL, WHITE
from genobit.visual.tokens import GROUPS
from tests.visual.rendered import colours_of_image, glyph_of


def families(n_families: int = 5, size: int = 4, *, shuffled: bool = True) -> np.ndarray:
    """Relationships of families of first degree (0.5), unrelated otherwise."""
    family = np.repeat(np.arange(n_families), size)
    noise = np.random.default_rng(1).normal(0, 0.01, (len(family),) * 2)
    values = np.where(family[:, None] == family, 0.5, 0.0) + (noise + noise.T) / 2
    np.fill_diagonal(values, 1.0)
    order = (
        np.random.default_rng(2).permutation(len(family)) if shuffled else np.arange(len(family))
    )
    return values[np.ix_(order, order)]


def relationships(values: np.ndarray, method: str = "gcta", **labels: object) -> xr.DataArray:
    n_samples = len(values)
    labels = {"sample_id": [f"s{k}" for k in range(n_samples)]} | labels
    coords = {
        f"{name}_{side}": (f"samples_{side}", np.asarray(label))
        for name, label in labels.items()
        for side in (0, 1)
    }
    dims = ("samples_0", "samples_1")
    return xr.DataArray(values, coords, dims, name=method, attrs={"method": method})


def title(plot: hv.Overlay) -> str:
    return plot.opts.get().kwargs["title"]


@pytest.mark.parametrize("values", [["a", "b", "a"], [0.5, 2.0, 1.0]])
def test_a_strip_has_a_legend_on_screen(values):
    grm = relationships(np.eye(3), sample_group=values)
    figure = hv.render(grm_heatmap(grm, colour_by="group"))
    (legend,) = [part for part in figure.below if isinstance(part, Legend)]
    shown = {item.label.value: item.renderers[0].glyph.fill_color for item in legend.items}
    strip = grm_heatmap(grm, colour_by="group").Rectangles.Strip["colour"]
    assert list(shown) == (["a", "b"] if values[0] == "a" else ["0.5", "2"])
    assert set(shown.values()) <= set(strip)
    assert legend.title == "group"
    bare = hv.render(grm_heatmap(grm))
    assert not any(isinstance(part, Legend) for part in bare.below)


@pytest.mark.parametrize("letters", [2, 27, 300])
def test_a_legend_below_is_as_wide_as_its_picture(letters):
    names = [f"{k:02d}".ljust(letters, "m") for k in range(12)]
    grm = relationships(np.eye(12), sample_group=names)
    figure = hv.render(grm_heatmap(grm, colour_by="group"))
    (legend,) = [part for part in figure.below if isinstance(part, Legend)]
    longest = max(len(item.label.value) for item in legend.items)
    # A letter is 6 pixels wide, and a mark 20.
    assert legend.ncols * (20 + 6 * longest) <= figure.frame_width
    assert longest <= max(letters, len("4 others"))
    assert legend.ncols == {2: 5, 27: 2, 300: 1}[letters]


def test_a_legend_of_points_lists_groups_in_their_order():
    groups = np.array(["c", "missing", "a", "b", "a"])
    colour = colouring("group", np.where(groups == "missing", "", groups))
    pcs = xr.Dataset({"scores": (("samples", "components"), np.eye(5)[:, :2])})
    figure = hv.render(pca_scatter(pcs, colour_by=colour))
    legend = figure.legend[0]  # Some releases of Bokeh list it twice.
    assert [item.label.value for item in legend.items] == ["a", "b", "c", "missing"]
    assert [groups[item.index] for item in legend.items] == ["a", "b", "c", "missing"]


class TestPairs:
    @pytest.mark.parametrize("n_samples", [1, 2, 3, 17])
    def test_values_and_their_samples(self, n_samples):
        values = families(1, n_samples)
        pairs = pair_values(relationships(values))
        first, second = samples_of(np.arange(len(pairs)), n_samples)
        rows, columns = np.triu_indices(n_samples, 1)
        np.testing.assert_array_equal(first, rows)
        np.testing.assert_array_equal(second, columns)
        np.testing.assert_array_equal(pairs, values[rows, columns])

    def test_table_is_the_sorted_triangle(self):
        values = families()
        table = closest_pairs(relationships(values), limit=7)
        rows, columns = np.triu_indices(len(values), 1)
        order = np.argsort(-values[rows, columns])[:7]
        np.testing.assert_array_equal(table["sample_0"], rows[order])
        np.testing.assert_array_equal(table["sample_1"], columns[order])
        np.testing.assert_array_equal(table["gcta"], values[rows, columns][order])
        assert table.attrs["found"] == 190

    def test_degrees_are_of_king_alone(self):
        table = closest_pairs(relationships(families() / 2, "king"), limit=40)
        assert table["degree"].tolist() == degree_of(table["king"]).tolist()
        assert set(table["degree"]) == {"first degree", "unrelated"}
        for method in set(MEASURES) - {"king"}:
            grm = relationships(families(), method)
            assert "degree" not in closest_pairs(grm)
            plot = kinship_histogram(grm)
            assert len(plot.Rectangles.Bands) == len(plot.Labels.I) == 0
            assert title(plot) == "190 pairs"
            assert count_pairs(pair_values(grm), MEASURES[method]).degrees == {}
        # A file does not say which measure it holds.
        given = relationships(families()).rename("relationship").drop_attrs()
        assert "degree" not in closest_pairs(given)

    @pytest.mark.parametrize("block", [1, 7, 1_000])
    def test_blocks_do_not_matter(self, block, monkeypatch):
        grm = relationships(np.round(families(), 1))
        whole = closest_pairs(grm, limit=40)
        monkeypatch.setattr("genobit.grm.plots.kinship.BLOCK", block)
        in_blocks = closest_pairs(grm, limit=40)
        np.testing.assert_array_equal(whole["gcta"], in_blocks["gcta"])
        assert whole.attrs == in_blocks.attrs

    def test_range_of_values(self):
        table = closest_pairs(relationships(families()), between=(-1, 0.4))
        assert len(table) == 160
        assert table["gcta"].max() <= 0.4

    @pytest.mark.parametrize("both", [True, False])
    def test_pairs_of_a_selection(self, both):
        grm = relationships(families())
        of = np.zeros(20, dtype=bool)
        of[[3, 4, 9]] = True
        table = list_pairs(grm, pair_values(grm), of=of, both=both)
        inside = of[table["sample_0"]].astype(int) + of[table["sample_1"]]
        assert len(table) == (3 if both else 3 + 3 * 17)
        assert inside.min() == (2 if both else 1)

    def test_missing_values_are_left_out(self):
        values = families()
        values[2] = values[:, 2] = np.nan
        table = closest_pairs(relationships(values))
        assert 2 not in {*table["sample_0"], *table["sample_1"]}
        assert len(table) == 19 * 18 // 2

    def test_draws(self):
        table = draw_pairs(closest_pairs(relationships(families())))
        columns = [column.title for column in hv.render(table).columns]
        assert columns == ["sample", "with", "GCTA"]
        table = draw_pairs(closest_pairs(relationships(families() / 2, "king")))
        columns = [column.title for column in hv.render(table).columns]
        assert columns == ["sample", "with", "KING", "degree"]


class TestTree:
    def test_families_stand_together(self):
        family = np.random.default_rng(2).permutation(np.repeat(np.arange(5), 4))
        values = families()
        tree = cluster(values, pair_values(relationships(values)))
        assert np.count_nonzero(np.diff(family[tree.order])) == 4
        np.testing.assert_array_equal(tree.order[tree.rank], np.arange(20))

    def test_joins_stand_at_the_mean_relationship(self):
        values = families()
        tree = cluster(values, pair_values(relationships(values)))
        expected = 1 - linkage(squareform(1 - values, checks=False), "average")[:, 2]
        np.testing.assert_allclose(np.sort(tree.branches[: tree.joins, 0]), np.sort(expected))

    def test_branches_span_their_children(self):
        values = families()
        tree = cluster(values, pair_values(relationships(values)))
        heights = np.unique(cophenet(linkage(1 - pair_values(relationships(values)), "average")))
        assert len(heights) == tree.joins
        assert tree.branches.shape == (3 * 19, 4)
        assert tree.branches[:, [1, 3]].min() >= 0
        assert tree.branches[:, [1, 3]].max() <= 19

    def test_samples_without_values_stand_last(self):
        values = families()
        values[[2, 11]] = values[:, [2, 11]] = np.nan
        tree = cluster(values, pair_values(relationships(values)))
        assert tree.without == 2
        assert sorted(tree.order[-2:].tolist()) == [2, 11]
        assert sorted(tree.order.tolist()) == list(range(20))

    def test_one_missing_pair_is_no_obstacle(self):
        values = families()
        values[2, 11] = values[11, 2] = np.nan
        tree = cluster(values, pair_values(relationships(values)))
        assert tree.without == 0
        assert tree.joins == 19

    @pytest.mark.parametrize("n_samples", [1, 2])
    def test_few_samples(self, n_samples):
        values = families(1, n_samples)
        tree = cluster(values, pair_values(relationships(values)))
        assert tree.joins == n_samples - 1

    def test_too_many_samples_keep_their_order(self, monkeypatch):
        monkeypatch.setattr(tree_module, "CLUSTERED_SAMPLES", 10)
        values = families()
        tree = cluster(values, pair_values(relationships(values)))
        np.testing.assert_array_equal(tree.order, np.arange(20))

    def test_chains_of_any_length(self):
        n_samples = 3_000
        position = np.cumsum(np.linspace(1, 2, n_samples))
        values = -np.abs(position[:, None] - position)
        tree = cluster(values, pair_values(relationships(values)))
        assert tree.joins == tree_module.DRAWN_MERGES


class TestHeatmap:
    def test_draws_each_pair_where_it_belongs(self):
        values = families()
        arranged = arrange(relationships(values))
        order = arranged.tree.order
        np.testing.assert_array_equal(arranged.pixels, values[np.ix_(order, order)].astype("f4"))
        drawn = grm_heatmap(relationships(values)).Image.I.dimension_values(2, flat=False)
        np.testing.assert_array_equal(drawn, arranged.pixels)

    def test_pixels_show_the_pair_farthest_from_zero(self):
        values = families()
        arranged = arrange(relationships(values), max_pixels=7)
        ordered = values[np.ix_(arranged.tree.order, arranged.tree.order)]
        assert arranged.pixels.shape == (7, 7)
        for i in range(7):
            for j in range(7):
                block = ordered[3 * i : 3 * i + 3, 3 * j : 3 * j + 3].ravel()
                assert arranged.pixels[i, j] == block[np.abs(block).argmax()].astype("f4")
        plot = draw_heatmap(arranged)
        assert "farthest from 0 of 3 × 3 samples" in title(plot)

    def test_lazy_results_are_computed(self):
        grm = relationships(families())
        lazy = grm.copy(data=da.from_array(grm.values))
        assert title(grm_heatmap(lazy)) == title(grm_heatmap(grm))

    @pytest.mark.parametrize("max_pixels", [500, 7])
    def test_selected_samples_are_marked(self, max_pixels):
        arranged = arrange(relationships(families()), max_pixels)
        plot = draw_heatmap(arranged, [0, 1, 2])
        marks = plot.Segments.Marks.array()
        ranks = arranged.tree.rank[[0, 1, 2]]
        across = marks[marks[:, 1] == marks[:, 3]]
        for rank in ranks:
            assert ((across[:, 0] <= rank) & (rank <= across[:, 2])).any()
        covered = (across[:, 2] - across[:, 0]).sum()
        assert covered <= 3 * arranged.bins.per_pixel
        assert len(plot.Rectangles.Pale)

    def test_nothing_selected_is_not_paler(self):
        plot = grm_heatmap(relationships(families()))
        assert not len(plot.Rectangles.Pale)
        assert not len(plot.Segments.Marks)

    def test_strip_has_the_colours_of_the_rows(self):
        values = families()
        sex = np.arange(20) % 2 + 1
        grm = relationships(values, sample_sex=sex)
        arranged = arrange(grm)
        strip = colouring("sample_sex", sex)
        boxes = grm_heatmap(grm, colour_by="sample_sex").Rectangles.Strip
        colours = one_colour_each(strip)[arranged.tree.order]
        middles = np.arange(20)
        for low, high, colour in zip(boxes["y"], boxes["y1"], boxes["colour"], strict=True):
            assert set(colours[(middles > low) & (middles < high)]) == {colour}

    def test_samples_without_calls_are_counted(self):
        values = families()
        values[3] = values[:, 3] = np.nan
        assert "grey: no value, 1 sample" in title(grm_heatmap(relationships(values)))

    @pytest.mark.parametrize("n_samples", [1, 2])
    @pytest.mark.parametrize("method", ["king", "ibs", "something else"])
    def test_bokeh_draws_few_samples(self, method, n_samples):
        values = families(1, n_samples)
        plot = grm_heatmap(relationships(values, method), selected=[0])
        (drawn,) = glyph_of(plot, "Image").data_source.data["image"]
        np.testing.assert_array_equal(drawn, values.astype("f4"))
        marks = glyph_of(plot, "Segment", "Marks").data_source.data
        assert (marks["x"][0], marks["x1"][0]) == (-0.5, 0.5)
        branches = glyph_of(plot, "Segment", "Tree").data_source.data["x"]
        assert len(branches) == 3 * (n_samples - 1)

    def test_all_samples_missing(self):
        plot = grm_heatmap(relationships(np.full((3, 3), np.nan)))
        assert colours_of_image(plot).tolist() == [[NO_VALUE_COLOUR] * 3] * 3
        assert "3 samples" in title(plot)

    def test_another_array_is_refused(self):
        grm = relationships(families())
        with pytest.raises(ValueError, match="samples_0"):
            grm_heatmap(grm[:3])
        with pytest.raises(ValueError, match=r"\.isel\(contigs"):
            grm_heatmap(grm.expand_dims("contigs"))


class TestColours:
    def test_limits_are_around_zero_and_ignore_the_closest(self):
        values = np.random.default_rng(0).normal(0, 0.01, (300, 300))
        values = (values + values.T) / 2
        values[0, 1] = values[1, 0] = 1.0
        grm = relationships(values)
        scale = scale_for(grm, pair_values(grm))
        assert scale.limits[0] == -scale.limits[1]
        assert scale.limits[1] < 0.05
        assert "ends at 99% of pairs" in scale.name

    def test_kinship_far_below_zero_does_not_hide_the_rest(self):
        values = families() - 2
        np.fill_diagonal(values, 0.5)
        grm = relationships(values, "king")
        scale = scale_for(grm, pair_values(grm))
        assert scale.limits == (0.0, 0.5)
        assert scale.stops == SEQUENTIAL
        assert "white at 0 and below" in scale.name
        colours = colours_of_image(grm_heatmap(grm).Image.I)
        assert (colours != WHITE).sum() == len(values)

    def test_relationship_far_below_zero_does_not_hide_the_rest(self):
        values = families() - 2
        np.fill_diagonal(values, 1.0)
        grm = relationships(values)
        scale = scale_for(grm, pair_values(grm))
        assert scale.limits == (-1, 1)
        assert "a sample with itself" in scale.name

    @pytest.mark.parametrize("method", ["ibs", "hadamard"])
    def test_shares_do_not_diverge(self, method):
        grm = relationships(families() / 2 + 0.4, method)
        assert scale_for(grm, pair_values(grm)).limits[0] > 0

    def test_unknown_results_are_named_by_themselves(self):
        grm = relationships(families()).rename("mine").assign_attrs(method="mine", long_name="own")
        assert measure_of(grm).label == "mine"
        assert measure_of(grm).name == "own"

    def test_few_values_are_categories_and_many_are_numbers(self):
        assert colouring("a", np.array([1, 2, 1])).categorical
        assert colouring("a", np.array([True, False])).categorical
        assert not colouring("a", np.arange(50)).categorical
        assert not colouring("a", np.array([0.5, 1.5])).categorical

    def test_missing_values_have_their_own_colour(self):
        shades = colouring("a", np.array(["x", "", "y", None], dtype=object))
        assert shades.values.tolist() == ["x", MISSING, "y", MISSING]
        assert len(set(one_colour_each(shades))) == 3
        numbers = one_colour_each(colouring("a", np.array([0.0, np.nan, 1.0])))
        assert len(set(numbers)) == 3

    def test_too_many_categories_share_one_colour(self):
        names = np.array([f"p{k}" for k in range(60) for _ in range(k + 1)], dtype=object)
        shades = colouring("a", names)
        assert len(shades.colours) == len(GROUPS) + 1
        assert "52 others" in shades.colours
        assert "p59" in shades.colours

    def test_variables_that_say_something(self):
        ds = xr.Dataset(
            {
                "sample_id": ("samples", ["a", "b", "c"]),
                "sample_family_id": ("samples", ["f", "g", "h"]),
                "sample_sex": ("samples", [1, 1, 2]),
                "sample_phenotype": ("samples", [np.nan] * 3),
                "sample_trait": ("samples", [0.5, np.nan, 1]),
                "sample_batch": ("samples", np.array(["x", "y", "x"], "S")),
            }
        )
        found = sample_variables(ds)
        assert list(found) == ["sample_sex", "sample_trait", "sample_batch"]
        assert found["sample_batch"].tolist() == ["x", "y", "x"]
        grm = relationships(families(1, 3), sample_batch=["1", "1", "2"])
        assert list(sample_variables(xr.Dataset(), grm)) == ["sample_batch"]


class TestHistogram:
    def test_counts_every_pair_once(self):
        counted = count_pairs(pair_values(relationships(families() / 2)), MEASURES["king"])
        assert counted.bars.sum() == 190
        assert counted.degrees["first degree"] == 30
        assert counted.degrees["unrelated"] == 160
        assert sum(counted.degrees.values()) == 190

    def test_degrees_are_those_of_the_analysis(self):
        kinship = np.random.default_rng(0).uniform(-0.1, 0.5, 1_000)
        kinship[:4] = [2**-1.5, 2**-2.5, 2**-3.5, 2**-4.5]
        counted = count_pairs(kinship, MEASURES["king"])
        names, counts = np.unique(degree_of(kinship), return_counts=True)
        assert counted.degrees == dict(zip(names.tolist(), counts.tolist(), strict=True))

    def test_bands_are_shaded_and_named(self):
        plot = kinship_histogram(relationships(families() / 2, "king"))
        assert plot.Labels.I["name"].tolist() == ["1st", "2nd", "3rd"]
        assert plot.Rectangles.Bands["x1"].max() <= plot.opts.get().kwargs["xlim"][1]
        assert "1st 30" in title(plot)
        assert title(plot).endswith("degrees: KING's bounds")

    def test_all_unrelated(self):
        values = np.random.default_rng(0).normal(0, 0.005, (20, 20))
        np.fill_diagonal(values, 0.5)
        plot = kinship_histogram(relationships(values, "king"))
        assert "none closer than unrelated" in title(plot)
        assert plot.opts.get().kwargs["xlim"][1] > 2**-4.5

    def test_measures_without_kinship_have_no_bands(self):
        plot = kinship_histogram(relationships(families(), "dominance"))
        assert not len(plot.Rectangles.Bands)

    @pytest.mark.parametrize("values", [np.ones((1, 1)), np.full((2, 2), np.nan), families()])
    def test_bokeh_draws_it(self, values):
        plot = kinship_histogram(relationships(values), between=(0.1, 0.3))
        pairs = values[np.triu_indices(len(values), 1)]
        bars = glyph_of(plot, "Quad", "Bars").data_source.data
        assert sum(bars["top"]) == np.count_nonzero(~np.isnan(pairs))
        marked = glyph_of(plot, "Quad", "Range").data_source.data
        assert (*marked["left"], *marked["right"]) == (0.1, 0.3)


class TestScatter:
    def pcs(self, scores: np.ndarray) -> xr.Dataset:
        ratio = np.linspace(0.5, 0.1, scores.shape[1])
        return xr.Dataset(
            {
                "scores": (("samples", "components"), scores),
                "explained_variance_ratio": ("components", ratio),
            }
        )

    def test_samples_keep_their_order(self):
        scores = np.random.default_rng(0).normal(size=(9, 3))
        scores[4] = np.nan
        plot = pca_scatter(self.pcs(scores), x=3, y=1)
        np.testing.assert_array_equal(plot["x"], scores[:, 2])
        np.testing.assert_array_equal(plot["y"], scores[:, 0])
        assert "1 without scores" in title(plot)
        assert plot.kdims[0].label == "PC3 (10.0% of the variance)"

    @pytest.mark.parametrize(
        ("values", "parts"),
        [
            (np.array(["a", "b", "c"]), {"Legend"}),
            (np.array([0.1, 2.0, np.nan]), {"ColorBar"}),
        ],
    )
    def test_legend_or_colour_bar(self, values, parts):
        colour = colouring("sample_x", values)
        figure = hv.render(pca_scatter(self.pcs(np.eye(3)), colour_by=colour))
        kinds = {type(part).__name__ for side in (figure.right, figure.center) for part in side}
        assert parts <= kinds

    def test_no_such_component(self):
        with pytest.raises(ValueError, match="1 to 3"):
            pca_scatter(self.pcs(np.eye(3)), y=4)
