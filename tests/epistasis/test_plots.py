from __future__ import annotations

import itertools

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from genobit.epistasis.plots.arcs import MOST_ARCS, STRIP, WIDTH, arcs, draw_arcs
from genobit.epistasis.plots.penetrance import draw_cells, reach_of
from genobit.epistasis.plots.ranking import draw_permutations, ranking_width
from genobit.epistasis.result import ranked
from genobit.launcher.plots import (
    epistasis_arcs,
    marginal_effects,
    penetrance_heatmap,
    permutation_histogram,
    ranking_table,
)
from genobit.visual.placing import text_width
from tests.epistasis.results import made
from tests.visual.rendered import glyph_of


def option(plot: hv.core.Dimensioned, name: str, kind: str = "plot") -> object:
    return plot.opts.get(kind).kwargs[name]


@pytest.fixture
def variants() -> xr.Dataset:
    return xr.Dataset(
        {
            "variant_id": ("variants", np.array([f"rs{k}" for k in range(6)], dtype=object)),
            "variant_contig": ("variants", [0, 0, 0, 1, 1, 1]),
            "variant_position": ("variants", [100, 250, 900, 50, 300, 1_250]),
            "variant_allele": (("variants", "alleles"), np.array([["A", "G"]] * 5 + [["C", ""]])),
            "contig_id": ("contigs", np.array(["7", "X"])),
        }
    )


class TestRanked:
    def test_cells_are_those_of_the_result(self):
        result = made(3)
        found = ranked(result)
        for rank, genotype in itertools.product(range(4), itertools.product(range(3), repeat=3)):
            cell = genotype[0] * 9 + genotype[1] * 3 + genotype[2]
            counts = result["cells"].values[rank, cell]
            cells = found.penetrance(rank)
            assert (cells.count[genotype], cells.n[genotype]) == (counts[1], counts.sum())
            assert found.penetrance(rank, 0).count[genotype] == counts[0]

    def test_marginals_add_up_cells(self):
        result = made(3)
        counts = result["cells"].values[1].reshape(3, 3, 3, 2)
        for member in range(3):
            axes = tuple(k for k in range(3) if k != member)
            part = ranked(result).penetrance(1).by(member)
            np.testing.assert_array_equal(part.count, counts.sum(axis=axes)[:, 1])
            np.testing.assert_array_equal(part.n, counts.sum(axis=(*axes, 3)))

    def test_means_of_a_trait(self):
        result = made(classes=1)
        generator = np.random.default_rng(1)
        means = generator.normal(size=(4, 9))
        result["cell_mean"] = (("rank", "cell"), means)
        result.attrs["phenotype"] = "height"
        cells = ranked(result).penetrance(2)
        n = result["cells"].values[2].reshape(3, 3)
        expected = (means[2].reshape(3, 3) * n).sum(axis=1) / n.sum(axis=1)
        np.testing.assert_allclose(cells.by(0).value, expected)
        assert np.isnan(cells.value[2, 2])
        assert ranked(result).classes == []
        title = option(penetrance_heatmap(result), "title")
        assert "mean of height in each cell" in title
        assert "mean of height" in option(marginal_effects(result), "title")

    def test_genotypes_by_alleles_or_copies(self, variants):
        result = made()
        assert ranked(result).genotypes(0, 0) == ["0", "1", "2"]
        found = ranked(made(ranks=5), variants)
        assert found.genotypes(0, 0) == ["A/A", "A/G", "G/G"]
        assert found.genotypes(4, 1) == ["0", "1", "2"]  # an allele without a name
        variants["variant_allele"] = ("variants", "alleles"), np.array([["ACGTACGT", "A"]] * 6)
        assert ranked(result, variants).genotypes(0, 0)[1] == "ACG…/A"

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", [0, 1, 2, 3]),
            ("rs2", [1]),
            ("RS0 rs3", [2]),
            ("7:", [0, 1, 2, 3]),
            ("X:", [2, 3]),
            ("x:40-60", [2]),
            ("23:40-60", [2]),
            ("chr07:200-300", [0]),
            ("7:200-300", [0]),
            ("7:900", [1]),
            ("1,250", []),
            ("nothing", []),
        ],
    )
    def test_filter(self, text, expected):
        assert ranked(made()).matching(text).tolist() == expected

    def test_refuses_other_variants(self, variants):
        result = made()
        with pytest.raises(ValueError, match=r"shape \(rank, order\)"):
            ranked(result.drop_vars("variants"))
        with pytest.raises(ValueError, match="the variants are 0 to 2"):
            ranked(result, variants.isel(variants=slice(0, 3)))
        variants["variant_id"].values[1] = "other"
        with pytest.raises(ValueError, match="member 1 of the combination of rank 0 is 'rs1'"):
            ranked(result, variants)
        result.attrs["statistic"] = "boost"
        with pytest.raises(ValueError, match="no 'boost'"):
            ranked(result)

    @pytest.mark.parametrize(
        ("given", "described"),
        [
            (xr.DataArray(np.eye(2), dims=("a", "b"), name="r2"), "DataArray 'r2' with .* (a, b)"),
            (xr.DataArray(np.eye(2), dims=("a", "b")), "DataArray with the dimensions (a, b)"),
            (made().to_dataframe(), "DataFrame;"),
            ([1, 2], "list;"),
        ],
    )
    def test_refuses_what_is_no_dataset(self, given, described):
        expected = described.replace("(", r"\(").replace(")", r"\)")
        with pytest.raises(
            TypeError, match=f"^result= is of type {expected}.* that ds.genobit.epistas"
        ):
            ranked(given)

    def test_other_datasets_are_named_by_what_they_have(self, variants):
        with pytest.raises(ValueError, match=r"it has variant_id, variant_contig, .*epistasis\("):
            ranked(variants)
        with pytest.raises(ValueError, match="it has nothing"):
            ranked(xr.Dataset())

    @pytest.mark.parametrize("order", [1, 2, 3])
    def test_ranks_are_those_of_the_result(self, order):
        result = made(order).assign_coords(rank=[10, 20, 30, 1_040]).isel(rank=[2, 3, 0])
        result["permutation_maximum"] = "permutation", np.linspace(0.05, 0.2, 20)
        assert ranked(result).table()["rank"].tolist() == [30, 1_040, 10]
        assert ranking_table(result)["rank"].tolist() == [30, 1_040, 10]
        assert ranking_table(result, "rs1").dimension_values("rank").tolist() == [
            rank
            for rank, names in zip([30, 1_040, 10], ranked(result).names, strict=True)
            if "rs1" in names
        ]
        assert option(penetrance_heatmap(result, 1), "title").startswith("1040. rs")
        assert "line: rank 10," in option(permutation_histogram(result, 2), "title")
        if order > 1:
            arc = epistasis_arcs(result).Contours.Arcs.split()[-1]
            assert arc.dimension_values("rank", expanded=False)[0] in {30, 1_040, 10}

    def test_ranks_that_are_no_numbers(self):
        table = ranking_table(made().assign_coords(rank=["a", "b", "c", "d"]))
        assert table["rank"].tolist() == ["a", "b", "c", "d"]
        column = hv.render(table).columns[0]
        assert type(column.formatter).__name__ == "StringFormatter"

    def test_tables_for_files(self, variants):
        found = ranked(made(), variants)
        table = found.table()
        assert table.columns[:5].tolist() == [
            "rank",
            "variant_0",
            "variant_id_0",
            "variant_contig_0",
            "variant_position_0",
        ]
        assert table["mi"].tolist() == found.scores.tolist()
        cells = found.cell_table(0)
        assert cells.columns.tolist() == ["rs0", "rs1", "n 0", "share 0", "n 1", "share 1", "n"]
        assert cells.iloc[5, :2].tolist() == ["A/G", "G/G"]
        assert (cells["n 0"] + cells["n 1"]).tolist() == cells["n"].tolist()


class TestPenetrance:
    @pytest.mark.parametrize("order", [1, 2, 3, 4])
    def test_every_cell_once(self, order, variants):
        result = made(order)
        picture = penetrance_heatmap(result, 1, ds=variants)
        filled, empty = picture.Rectangles.Cells, picture.Rectangles.Empty
        # Of a single member, no sample has the last genotype, which takes no place.
        drawn = 2 if order == 1 else 3**order
        assert len(filled) + len(empty) == drawn
        assert filled["n"].sum() == result["n"].values[1]
        assert (empty["n"] == 0).all()
        assert len(empty) >= (order > 1)
        corners = np.concatenate([part.array(["x0", "y0"]) for part in (filled, empty)])
        assert len(np.unique(corners, axis=0)) == drawn
        hv.render(picture)

    def test_place_and_text_of_a_cell(self, variants):
        result = made(3)
        cells = result["cells"].values
        cells[0, 1 * 9 + 2 * 3 + 0] = 3, 1
        picture = penetrance_heatmap(result, ds=variants)
        filled = picture.Rectangles.Cells
        place = filled["genotypes"].tolist().index("rs0 A/G, rs1 G/G, rs2 A/A")
        assert (filled["x0"][place], filled["y0"][place]) == (1.5, -1.5)
        assert (filled["cases"][place], filled["n"][place]) == (1, 4)
        texts = [*picture.Labels.Dark["text"], *picture.Labels.Light["text"]]
        assert "0.25\n1 / 4" in texts
        assert [text for _, text in option(picture, "xticks")][:3] == ["A/A", "A/G", "G/G"]
        assert picture.Labels.Panels["text"].tolist() == ["rs2 A/A", "rs2 A/G", "rs2 G/G"]

    def test_white_is_the_share_of_all(self):
        result = made()
        result["cells"].values[0] = [[30, 10]] * 9
        colours = penetrance_heatmap(result, of_class=1).Rectangles.Cells["colour"]
        np.testing.assert_allclose(colours, 0, atol=1e-12)
        result["cells"].values[0, 0] = 0, 40
        colours = penetrance_heatmap(result, of_class=1).Rectangles.Cells["colour"]
        assert colours[0] == 1
        assert (colours[1:] < 0).all()

    def test_few_samples_do_not_stretch_the_colours(self):
        result = made()
        result["cells"].values[:] = [20, 20]
        result["cells"].values[0, 0] = 0, 2
        assert reach_of(ranked(result), 1) == pytest.approx(0.05)
        assert draw_cells(ranked(result), 0).Rectangles.Cells["colour"][0] == 1

    def test_other_classes(self):
        result = made(classes=3)
        picture = penetrance_heatmap(result, of_class=0)
        assert "class 0 / samples" in option(picture, "title")
        counts = result["cells"].values[0]
        assert picture.Rectangles.Cells["cases"].sum() == counts[:, 0].sum()
        assert "cases" in option(penetrance_heatmap(made()), "title")

    def test_refuses_what_cannot_be_drawn(self):
        with pytest.raises(ValueError, match="243 cells; up to 4"):
            penetrance_heatmap(made(5))
        with pytest.raises(ValueError, match="no table to draw"):
            penetrance_heatmap(made().drop_vars("cells"))

    @pytest.mark.parametrize("order", [1, 2, 5])
    def test_marginals(self, order):
        picture = marginal_effects(made(order))
        bars = picture.Rectangles.Marginals
        # Of a single member, no sample has the last genotype.
        assert len(bars) == (2 if order == 1 else 3) * order
        assert bars["n"].sum() == order * made(order)["n"].values[0]
        hv.render(picture)

    @pytest.mark.parametrize("order", [1, 2, 3, 5])
    @pytest.mark.parametrize("times", [1, 30, 1_000, 1_000_000])
    @pytest.mark.parametrize("trait", [False, True])
    def test_counts_of_members_do_not_touch(self, order, times, trait):
        result = made(order)
        result["cells"] = result["cells"] * times
        if trait:
            result["cell_mean"] = (("rank", "cell"), np.full(result["cells"].shape[:2], -1.5))
            result.attrs["phenotype"] = "height"
        picture = marginal_effects(result)
        labels = picture.Labels.Counts
        left, right = option(picture, "xlim")
        pixels = option(picture, "frame_width") / (right - left)
        half = np.array([max(map(text_width, t.split("\n"))) for t in labels["text"]]) / 2
        middle = (labels["x"] - left) * pixels
        assert (np.diff(middle) > half[1:] + half[:-1]).all()
        # Nor a bar below them, nor the upper edge.
        lines = 1 + max(text.count("\n") for text in labels["text"])
        low, high = option(picture, "ylim")
        pixels = option(picture, "frame_height") / (high - low)
        top = max(picture.Rectangles.Marginals["y1"].max(), picture.HLine.I.data)
        assert (high - labels["y"][0]) * pixels > 6 * lines
        assert (labels["y"][0] - top) * pixels > 6 * lines


class TestArcs:
    @pytest.mark.parametrize("step", [1, -1])
    def test_a_pair_has_one_arc_at_its_best_combination(self, step):
        drawn = arcs(ranked(made(3, ranks=20).isel(rank=slice(None, None, step))))
        pairs = np.sort(drawn.found.variants[drawn.rank[:, None], drawn.members], axis=1)
        assert len(pairs) == len(np.unique(pairs, axis=0)) == drawn.out_of == 15
        for pair, rank in zip(pairs, drawn.rank, strict=True):
            has = np.isin(drawn.found.variants, pair).sum(axis=1) == 2
            assert rank == np.flatnonzero(has)[:: 1 if step > 0 else -1][0]

    def test_contigs_side_by_side(self, variants):
        result = made(ranks=15)
        drawn = arcs(ranked(result, variants), variants)
        assert drawn.genome.names == ["7", "X"]
        assert drawn.genome.first.tolist() == [100, 50]
        x = dict(zip(drawn.found.variants.ravel(), drawn.places.ravel(), strict=True))
        assert np.all(np.diff([x[v] for v in range(6)]) > 0)
        assert 0 < x[0] < x[5] < WIDTH
        assert drawn.genome.left[0] + drawn.genome.width[0] < drawn.genome.left[1]

    def test_contig_without_room_has_its_short_name(self, variants):
        drawn = arcs(ranked(made(ranks=15), variants), variants)
        texts = draw_arcs(drawn).Labels.Names["text"].tolist()
        assert [text.partition(":")[0] for text in texts] == ["7", "X"]
        assert all(text.endswith("Mb") for text in texts)
        assert draw_arcs(drawn, room=0.2).Labels.Names["text"].tolist() == ["7", "X"]

    def test_click_finds_the_arc(self):
        drawn = arcs(ranked(made(ranks=15)))
        heights = drawn.heights(drawn.rank)
        for k in range(len(drawn.rank)):
            assert drawn.rank_at(float(drawn.x[k].mean()), float(heights[k]))[1] < 1.5
        # Nothing is as high as the best.
        assert drawn.rank_at(float(drawn.x[0].mean()), float(heights[0]) + 3)[0] == 0

    def test_best_is_highest_and_drawn_last(self):
        picture = epistasis_arcs(made(ranks=15))
        paths = picture.Contours.Arcs.split()
        tops = [path["y"].max() for path in paths]
        assert tops == sorted(tops)
        assert paths[-1].dimension_values("rank", expanded=False)[0] == 1
        hv.render(picture)

    def test_marked(self):
        drawn = arcs(ranked(made(3)))
        picture = draw_arcs(drawn, 1)
        assert len(picture.Path.Marked.data) == 3
        assert set(picture.Labels.Members["text"]) == set(drawn.found.names[1])
        assert not len(draw_arcs(drawn).Path.Marked.data)
        assert option(picture, "ylim")[0] < -STRIP
        hv.render(draw_arcs(drawn))

    def test_names_of_the_marked_are_whole(self):
        result = made(2, ranks=15)
        ends = np.array(["1:86682", "3:1", "3:2", "3:3", "3:4", "2:99999999"], dtype=object)
        result["variant_id"] = ("rank", "order"), ends[result["variants"].values]
        labels = draw_arcs(arcs(ranked(result)), 4).Labels.Members
        assert labels["text"].tolist() == ["1:86682", "2:99999999"]
        half = np.array([text_width(text, bold=True) for text in labels["text"]]) / 2
        assert (labels["x"] - half >= 0).all()
        assert (labels["x"] + half <= WIDTH).all()

    def test_without_positions(self):
        result = made().drop_vars(["variant_contig", "variant_position"])
        assert arcs(ranked(result)).genome.names == [""]
        hv.render(epistasis_arcs(result))

    def test_too_many(self):
        pairs = np.array(list(itertools.combinations(range(40), 2)))
        result = xr.Dataset(
            {"variants": (("rank", "order"), pairs), "mi": ("rank", np.linspace(1, 0, len(pairs)))}
        )
        drawn = arcs(ranked(result))
        assert len(drawn.rank) == MOST_ARCS
        assert "The best 780 pairs, of which 500 are drawn" in option(draw_arcs(drawn), "title")

    def test_single_variants(self):
        with pytest.raises(ValueError, match="two or more"):
            epistasis_arcs(made(1))


class TestRanking:
    def test_columns(self):
        table = ranking_table(made())
        columns = ["rank", "variants", "places", "MI (nats)", "p", "n", "sparse"]
        assert [d.name for d in table.vdims] == columns
        assert table["variants"][0] == "rs0 × rs1"
        assert table["places"][2] == "7:100 × X:50"
        assert table["sparse"].tolist() == ["", "yes", "", "yes"]
        hv.render(table)

    def test_names_that_say_the_place(self):
        result = made()
        result["variant_id"] = (
            ("rank", "order"),
            np.char.add(
                (result.variant_contig.values + ":").astype(str),
                result.variant_position.values.astype(str),
            ),
        )
        assert "places" not in ranking_table(result)

    @pytest.mark.parametrize("order", [1, 2, 4])
    def test_columns_have_room(self, order):
        result = made(order)
        result["n"] = result["n"] * 1_000_000
        result["p"] = "rank", [1e-300, 0.5, 0.5, 0.5]
        whole, few = (hv.render(ranking_table(result, text)) for text in ("", "X:"))
        widths = [column.width for column in whole.columns]
        assert sum(widths) < whole.width == ranking_width(ranked(result))
        # A filter moves no column.
        assert [column.width for column in few.columns] == widths
        longest = max(ranking_table(result)["n"])
        assert widths[-2] > text_width(f"{longest:,}")
        assert widths[-3] > text_width("1.00e-300")

    def test_filter(self):
        assert ranking_table(made(), "X:")["rank"].tolist() == [3, 4]


class TestPermutations:
    def test_bars_are_all_permutations(self):
        result = made()
        result["permutation_maximum"] = "permutation", np.linspace(0.05, 0.2, 200)
        result["p_familywise"] = "rank", np.array([1 / 201, 1 / 201, 0.3, 1.0])
        picture = permutation_histogram(result, 2)
        assert picture.Rectangles.Permutations["n"].sum() == 200
        assert len(picture.Segments.Scores) == 4
        assert picture.Segments.Marked["x0"].tolist() == pytest.approx([0.2])
        assert "family-wise p = 0.3" in option(picture, "title")
        assert not len(draw_permutations(ranked(result), None).Segments.Marked)
        hv.render(picture)

    def test_one_permutation(self):
        result = made()
        result["permutation_maximum"] = "permutation", np.array([0.1])
        picture = permutation_histogram(result)
        bars = glyph_of(picture, "Quad", "Permutations").data_source.data
        (at,) = np.flatnonzero(bars["top"])
        assert bars["top"][at] == 1
        assert bars["left"][at] <= 0.1 <= bars["right"][at]
        assert option(picture, "title").startswith("Best of each of 1 permutation of")

    def test_none_says_how(self):
        with pytest.raises(ValueError, match="permutations=1000"):
            permutation_histogram(made())
