"""Forms of interactions for papers: what is drawn, where, and that texts stay apart."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import same_color, to_hex
from matplotlib.figure import Figure as Page

import genobit  # noqa: F401  the accessor
from genobit.epistasis.plots.arcs import HEIGHT, arcs, draw_arcs
from genobit.epistasis.plots.kinds import RESULTS
from genobit.epistasis.plots.marginals import draw_marginals
from genobit.epistasis.plots.paper_arcs import arcs_of, paper_arcs
from genobit.epistasis.plots.paper_penetrance import paper_penetrance
from genobit.epistasis.plots.paper_permutations import arranged, paper_permutations
from genobit.epistasis.plots.paper_ranking import paper_ranking
from genobit.epistasis.plots.penetrance import SCALE, _colour_bar, draw_cells, limits_of, scaled
from genobit.epistasis.plots.ranking import ALPHA, threshold_of
from genobit.epistasis.result import Cells, ranked
from genobit.epistasis.search import familywise
from genobit.visual.paper.page import draw_on, page_of, stacked
from genobit.visual.style import palette
from genobit.visual.tokens import LIGHT, ink_on, luminance
from tests.epistasis.results import made, permuted, words
from tests.helpers.programs import other_hashes, run
from tests.visual.texts import overlapping


def collection(figure: Page, label: str) -> Any:
    """The collection of marks with a label, in an axes or one of its panels."""
    whole = figure.axes[0]
    (found,) = (
        drawn
        for axes in (whole, *whole.child_axes)
        for drawn in axes.collections
        if drawn.get_label() == label
    )
    return found


def test_plots_draw_these_forms() -> None:
    forms = {"penetrance": paper_penetrance, "arcs": paper_arcs}
    forms |= {"permutations": paper_permutations, "ranking": paper_ranking}
    result = permuted()
    for entry in RESULTS:
        assert entry.papers == forms
    for kind, form in forms.items():
        own = page_of(form(result), 90)
        assert words(result.genobit.plot(kind).to_matplotlib(90)) == words(own)


class TestPenetrance:
    @pytest.mark.parametrize("width", [85, 180])
    @pytest.mark.parametrize("order", [1, 2, 3, 4])
    @pytest.mark.parametrize("times", [1, 300])
    def test_texts_stay_apart(self, order: int, times: int, width: float) -> None:
        result = made(order, ranks=6)
        result["cells"] = result["cells"] * times
        figure = page_of(paper_penetrance(result), width)
        assert overlapping(figure) == []
        assert {f"rs{k}" for k in range(order)} <= set(" ".join(words(figure)).split())

    def test_cells_have_shares_counts_and_colours(self) -> None:
        result = made(2, ranks=1)
        cells = np.full((1, 9, 2), 50)
        cells[0, 1], cells[0, 5], cells[0, 8], cells[0, 7] = (10, 90), (90, 10), 0, (1, 2)
        result["cells"] = ("rank", "cell", "class"), cells
        figure = page_of(paper_penetrance(result), 180)
        drawn = collection(figure, "_cells")
        colours = [to_hex(colour) for colour in drawn.get_facecolors()]
        # Nine cells, then the sums over the rows, over the columns, and over both.
        assert len(colours) == 9 + 3 + 3 + 1
        assert colours[8] == LIGHT.rule
        assert colours[7] == LIGHT.paper
        shades = palette(SCALE)
        assert shades.index(colours[5]) == 0
        assert shades.index(colours[4]) < 128 < shades.index(colours[1])
        assert len(collection(figure, "_few").get_paths()) == 1
        text = words(figure)
        for expected in ("0.90", "90/100", "0.10", "10/100", "0.67", "2/3", "0.63", "190/300"):
            assert expected in text
        assert "Strip of colour: fewer than 10 samples. Grey: no samples." in " ".join(text)

    @pytest.mark.parametrize("overall", [0.02, 0.22, 0.5, 0.9])
    def test_colours_have_one_step_below_and_above_all_samples(self, overall: float) -> None:
        reach = 0.3
        away = np.linspace(0.01, 0.3, 12)
        high, low = (scaled(overall + sign * away, overall, reach) for sign in (1, -1))
        np.testing.assert_allclose(high, -low)
        np.testing.assert_allclose(np.diff(high), np.diff(away)[0] / reach)
        count = np.array([overall, 0.0]) * 1_000
        cells = Cells.of_class(count, np.array([1_000, 0]))
        least, most = limits_of(cells, overall, reach)
        assert (least, most) == (max(overall - reach, 0.0), min(overall + reach, 1.0))
        bar = _colour_bar(cells, reach)
        for end, value in (("display_low", least), ("display_high", most)):
            assert overall + bar[end] * reach == pytest.approx(value)

    def test_the_key_has_the_colours_of_the_cells(self) -> None:
        result = made(2, ranks=1)
        cells = np.full((1, 9, 2), 50)
        cells[0] = [[95, 5]] * 9
        cells[0, 4] = 50, 50
        result["cells"] = ("rank", "cell", "class"), cells
        figure = page_of(paper_penetrance(result), 180)
        (key,) = [axes for axes in figure.axes[0].child_axes if axes.images]
        low, high = key.get_xlim()
        (image,) = key.images
        shown = np.asarray(image.get_array()).ravel()
        # All have 0.1, the most is 0.5, and no share is below 0.
        np.testing.assert_allclose([low, high, shown[0], shown[-1]], [-0.25, 1, -0.25, 1])
        assert image.get_clim() == (-1, 1)
        assert {"0.00", "0.10 (all)", "0.50"} <= set(words(figure))
        assert overlapping(figure) == []

    @pytest.mark.parametrize("order", [1, 2, 3, 4])
    @pytest.mark.parametrize("kept", [slice(0, 2), slice(1, 3), slice(0, 3)])
    def test_genotypes_that_no_sample_has_are_not_drawn(self, order: int, kept: slice) -> None:
        result = made(order)
        cells = np.ones((len(result["rank"]), *(3,) * order, 2), "i4")
        here = (slice(None), *[kept] * order)
        cells[here] = np.random.default_rng(0).integers(5, 60, cells[here].shape)
        outside = np.ones(cells.shape, bool)
        outside[here] = False
        cells[outside] = 0
        result["cells"] = ("rank", "cell", "class"), cells.reshape(len(cells), -1, 2)
        found, levels = ranked(result), kept.stop - kept.start
        assert found.labels(0, 0) == ["0", "1", "2"][kept]
        figure = page_of(paper_penetrance(result, 0), 180)
        assert overlapping(figure) == []
        sums = {1: 1, 2: 2 * levels + 1}.get(order, 0)
        assert len(collection(figure, "_cells").get_paths()) == levels**order + sums
        picture = draw_cells(found, 0)
        assert len(picture.Rectangles.Cells) == levels**order
        assert not len(picture.Rectangles.Empty)
        assert len(draw_marginals(found, 0).Rectangles.Marginals) == levels * order
        # Files have all genotypes.
        assert len(found.cell_table(0)) == 3**order
        assert found.cell_table(0)["n"].sum() == cells[0].sum()

    def test_texts_have_the_contrast_that_their_cell_allows(self) -> None:
        for shade in palette(SCALE):
            under = luminance(shade) + 0.05
            ink, paper = under / (luminance(LIGHT.ink) + 0.05), 1.05 / under
            assert max(ink, paper) > 4.1
            assert ink_on(shade) == (LIGHT.ink if ink > paper else LIGHT.paper)

    def test_cells_stand_at_their_genotypes(self) -> None:
        result = made(3, ranks=1)
        figure = page_of(paper_penetrance(result), 180)
        boxes = collection(figure, "_cells").get_paths()
        corners = np.array([path.vertices.min(axis=0) for path in boxes]).reshape(3, 3, 3, 2)
        # The first member goes down, the second to the right, the third to the next panel.
        assert (np.diff(corners[..., 1], axis=0) > 0).all()
        assert np.ptp(corners[..., 1], axis=(1, 2)).max() == 0
        wide = corners[0, 1, 0, 0] - corners[0, 0, 0, 0]
        assert np.diff(corners[..., 0], axis=1) == pytest.approx(wide)
        assert np.diff(corners[..., 0], axis=2) == pytest.approx(3.4 * wide)

    def test_the_first_combinations_or_one(self) -> None:
        result = made(2, ranks=6)
        assert sum("×" in text for text in words(page_of(paper_penetrance(result), 180))) == 4
        assert sum("×" in t for t in words(page_of(paper_penetrance(result, top=6), 180))) == 6
        one = words(page_of(paper_penetrance(result, 5), 180))
        assert [text for text in one if "×" in text] == ["rs1 × rs2"]
        assert "6" in one
        with pytest.raises(ValueError, match="top is 0"):
            paper_penetrance(result, top=0)
        with pytest.raises(ValueError, match="243 cells; up to 4"):
            paper_penetrance(made(5))
        with pytest.raises(ValueError, match="no cells"):
            paper_penetrance(result.drop_vars("cells"))
        assert result.genobit.plot("penetrance", top=2).hv is None
        assert result.genobit.plot("penetrance", rank=2).hv is not None

    def test_means_of_a_trait(self) -> None:
        result = made(2, classes=1)
        result["cell_mean"] = ("rank", "cell"), np.full(result["cells"].shape[:2], -0.42)
        result.attrs["phenotype"] = "height"
        text = words(page_of(paper_penetrance(result), 180))
        assert "\N{MINUS SIGN}0.420" in text
        assert "Mean of height" in text

    def test_names_and_alleles_of_any_length(self) -> None:
        result = made(3, ranks=2)
        result["variant_id"] = result["variant_id"] + ":a_very_long_name_of_a_variant"
        alleles = np.full((2, 3, 2), "ACGTACGTACGT")
        result["variant_allele"] = ("rank", "order", "alleles"), alleles
        for width in (85, 180):
            figure = page_of(paper_penetrance(result), width)
            assert overlapping(figure) == []
            assert "ACG…/ACG…" in " ".join(words(figure))

    @pytest.mark.parametrize("width", [130, 160, 180])
    def test_the_key_beside_a_grid_is_on_the_page(self, width: float) -> None:
        result = made(1)
        result["cells"].values[0, 0], result["cells"].values[0, 1] = 0, 1
        figure = page_of(paper_penetrance(result, 0), width)
        assert overlapping(figure) == []

    def test_an_empty_ranking(self) -> None:
        with pytest.raises(ValueError, match=r"no combination.*min_n"):
            paper_penetrance(made().isel(rank=slice(0)))

    @pytest.mark.parametrize("side", [1.2, 2.0, 3.5])
    def test_a_small_axes_of_the_user(self, side: float) -> None:
        axes = Page((side, side)).add_axes((0, 0, 1, 1))
        draw_on(paper_penetrance(made(2)), axes)
        boxes = [path.get_extents() for path in axes.collections[0].get_paths()]
        assert len(boxes) == 16
        height = side * 25.4
        assert all(0 <= box.y0 < box.y1 <= height for box in boxes)


class TestArcs:
    @pytest.mark.parametrize("width", [85, 180])
    @pytest.mark.parametrize("order", [2, 3, 4])
    def test_texts_stay_apart(self, order: int, width: float) -> None:
        figure = page_of(paper_arcs(permuted(order, ranks=15)), width)
        assert overlapping(figure) == []
        assert {"rs0", "rs1"} <= set(words(figure))

    def test_tops_are_at_the_scores(self) -> None:
        result = made(2, ranks=15)
        figure = page_of(paper_arcs(result), 180)
        (frame,) = figure.axes[0].child_axes
        tops = [
            path.vertices[:, 1].max()
            for label in ("_lead", "_arcs")
            for path in collection(figure, label).get_paths()
        ]
        ticks, texts = frame.get_yticks(), [t.get_text() for t in frame.get_yticklabels()]
        scores = np.sort(result["mi"].values)
        slope, start = np.polyfit(ticks, [float(text) for text in texts], 1)
        assert np.sort(tops) * slope + start == pytest.approx(scores)
        assert (texts[0], ticks[0]) == ("0", 0.0)

    def test_ends_are_at_the_places_of_the_variants(self) -> None:
        drawn = arcs(ranked(made(2, ranks=15)))
        figure = page_of(arcs_of(drawn, 3), 180)
        (lead,) = collection(figure, "_lead").get_paths()
        across = figure.axes[0].child_axes[0].get_xlim()[1]
        ends = np.sort(lead.vertices[[0, -1], 0]) / across
        assert ends == pytest.approx(np.sort(drawn.places[3]) / 900)
        assert same_color(collection(figure, "_lead").get_edgecolors()[0], LIGHT.accent)
        assert "Blue: rank 4." in " ".join(words(figure))

    def test_blue_is_promised_if_an_arc_is_blue(self) -> None:
        drawn = arcs(ranked(made(2, ranks=15)))
        hidden = dataclasses.replace(
            drawn, rank=drawn.rank[drawn.rank != 3], members=drawn.members[drawn.rank != 3]
        )
        figure = page_of(arcs_of(hidden, 3), 180)
        assert not collection(figure, "_lead").get_paths()
        assert "Blue names: rank 4." in " ".join(words(figure))

    def test_names_give_way(self) -> None:
        result = made(2, ranks=15)
        result["variant_id"] = result["variant_id"] + "_with_a_long_name_of_a_variant"
        figure = page_of(paper_arcs(result), 85)
        assert overlapping(figure) == []
        assert sum("long_name" in text for text in words(figure)) <= 2
        assert overlapping(page_of(paper_arcs(result), 180)) == []

    def test_the_family_wise_line(self) -> None:
        result = permuted(ranks=15)
        threshold = threshold_of(ranked(result))
        scores = result["mi"].values
        assert scores.min() < threshold < scores.max()
        figure = page_of(paper_arcs(result), 180)
        assert f"dashed line: family-wise P = 0.05 ({threshold:.3g})" in " ".join(words(figure))
        assert "family-wise" not in " ".join(words(page_of(paper_arcs(made(2, ranks=15)), 180)))
        # The lead is blue, and the others of a score below the line are grey.
        shades = collection(figure, "_arcs").get_edgecolors()
        grey = [same_color(shade, LIGHT.edge) for shade in shades]
        assert sum(grey) == (scores < threshold).sum()
        assert grey == sorted(grey, reverse=True)
        assert len(collection(figure, "_lead").get_paths()) == 1

    @pytest.mark.parametrize("factor", [0.2, 1.0, 3.0])
    def test_the_family_wise_line_is_always_in_view(self, factor: float) -> None:
        result = permuted(ranks=15)
        result["mi"] = factor * threshold_of(ranked(result)) * result["mi"] / result["mi"].max()
        drawn = arcs(ranked(result))
        figure = page_of(paper_arcs(result), 180)
        (frame,) = figure.axes[0].child_axes
        (line,) = [line for line in frame.lines if line.get_label() == "_threshold"]
        height = np.ptp(frame.get_ylim()) * drawn.threshold / drawn.top
        assert line.get_ydata()[0] == pytest.approx(height)
        assert 0 < height < np.ptp(frame.get_ylim())
        reached = factor > 1
        assert len(collection(figure, "_lead").get_paths()) == reached
        said = "no pair reaches family-wise P = 0.05" in " ".join(words(figure))
        assert said is not reached
        assert overlapping(figure) == []
        # A combination that the user chose is blue at any score.
        assert collection(page_of(arcs_of(drawn, 3), 180), "_lead").get_paths()

    def test_the_screen_shows_the_same(self) -> None:
        drawn = arcs(ranked(permuted(ranks=15)))
        picture = draw_arcs(drawn)
        assert picture.HLine.I.data == pytest.approx(HEIGHT * drawn.threshold / drawn.top)
        shades = picture.Contours.Arcs.dimension_values("colour", expanded=False)
        assert shades.tolist() == drawn.colours[::-1].tolist()
        figure = page_of(arcs_of(drawn), 180)
        (frame,) = figure.axes[0].child_axes
        texts = [text for _, text in picture.opts.get("plot").kwargs["yticks"]]
        assert texts == [text.get_text() for text in frame.get_yticklabels()]
        assert picture.opts.get("plot").kwargs["title"] in " ".join(words(figure))

    def test_pairs_that_are_left_out_are_counted(self) -> None:
        generator = np.random.default_rng(0)
        pairs = np.array(list(itertools.combinations(range(40), 2)))
        result = xr.Dataset(
            {"variants": (("rank", "order"), pairs), "mi": ("rank", generator.random(len(pairs)))}
        )
        assert "The best 780 pairs, of which 500 are drawn." in " ".join(
            words(page_of(paper_arcs(result), 180))
        )

    def test_equal_scores(self) -> None:
        result = made(2)
        result["mi"] = 0 * result["mi"] + 0.2
        figure = page_of(paper_arcs(result), 180)
        assert overlapping(figure) == []
        assert "0.2" in words(figure)


class TestPermutations:
    @pytest.mark.parametrize("n", [1, 18, 19, 20, 99, 100, 1000])
    def test_scores_above_the_threshold_are_those_of_small_p(self, n: int) -> None:
        result = permuted(n=n)
        maxima = result["permutation_maximum"].values
        scores = np.concatenate([maxima, maxima + 1e-9, maxima - 1e-9])
        threshold = threshold_of(ranked(result))
        small = familywise(scores, maxima) <= ALPHA
        assert (threshold is None) == (n < 19)
        np.testing.assert_array_equal(scores > (np.inf if threshold is None else threshold), small)

    def test_permutations_without_a_score(self) -> None:
        result = permuted(n=99)
        result["permutation_maximum"].values[:97] = -np.inf
        assert threshold_of(ranked(result)) is None
        assert "2 permutations" in " ".join(words(page_of(paper_permutations(result), 180)))

    @pytest.mark.parametrize("ranks", [0, 4])
    def test_no_permutation_has_a_score(self, ranks: int) -> None:
        result = permuted().isel(rank=slice(ranks))
        result["permutation_maximum"].values[:] = -np.inf
        with pytest.raises(ValueError, match=r"no permutation has a score.*min_n"):
            paper_permutations(result)

    @pytest.mark.parametrize("scores", [(0.3, 0.25), (90.0, 0.5)])
    @pytest.mark.parametrize("n", [1, 9])
    def test_equal_maxima_have_a_narrow_bar(self, n: int, scores: tuple[float, float]) -> None:
        result = permuted(n=n)
        result["permutation_maximum"].values[:] = 0.2
        result["mi"] = "rank", np.linspace(*scores, 4)
        (frame,) = page_of(paper_permutations(result), 180).axes[0].child_axes
        assert (frame.get_xscale() == "log") == (scores[0] > 1)
        (bar,) = frame.patches
        low, high = bar.get_x(), bar.get_x() + bar.get_width()
        assert frame.get_xlim()[0] < low < 0.2 < high < 1.1 * low
        assert bar.get_height() == n

    def test_bars_ticks_and_diamonds(self) -> None:
        result = permuted(ranks=15)
        figure = page_of(paper_permutations(result), 180)
        (frame,) = figure.axes[0].child_axes
        assert sum(bar.get_height() for bar in frame.patches) == 99
        rug = frame.collections[0].get_segments()
        assert sorted(line[0][0] for line in rug) == sorted(result["mi"].values)
        diamonds = [c.get_offsets()[0][0] for c in frame.collections[1:]]
        assert sorted(diamonds, reverse=True) == pytest.approx(result["mi"].values[:3].tolist())
        p = result["p_familywise"].values[0]
        assert f"1  rs0 × rs1, P = {p:#.2g}" in words(figure)

    @pytest.mark.parametrize("width", [85, 180])
    @pytest.mark.parametrize("scores", [(0.1, 0.09), (0.9, 0.2), (0.35, 0.2), (9.0, 0.001)])
    def test_texts_stay_apart(self, scores: tuple[float, float], width: float) -> None:
        result = permuted(ranks=15)
        result["mi"] = "rank", np.linspace(*scores, 15)
        for rank in (0, 14):
            figure = page_of(paper_permutations(result, rank), width)
            assert overlapping(figure) == []
        (frame,) = figure.axes[0].child_axes
        assert frame.get_xscale() == ("log" if scores[0] > 1 else "linear")

    def test_no_name_crosses_a_stem(self) -> None:
        generator = np.random.default_rng(2)
        for _ in range(200):
            at = np.sort(generator.uniform(0, 100, 3))[::-1]
            rows, rights = arranged(at, np.full(3, 20.0), 100.0)
            start = np.where(rights, at, at - 20)
            assert start.min() >= 0
            assert (start + 20).max() <= 100
            for k, other in itertools.permutations(range(3), 2):
                inside = start[k] < at[other] < start[k] + 20
                assert not (inside and rows[other] < rows[k])

    def test_refuses_a_result_without_permutations(self) -> None:
        with pytest.raises(ValueError, match="permutations=1000"):
            paper_permutations(made())


def test_stacked_forms_keep_their_sizes() -> None:
    result = permuted(ranks=15)
    parts = paper_arcs(result), paper_penetrance(result, 2)
    whole = stacked(*parts)
    assert whole.height(180) == pytest.approx(sum(part.height(180) for part in parts))
    figure = page_of(whole, 180)
    assert overlapping(figure) == []
    first, second = figure.axes[0].child_axes
    assert first.get_window_extent().y0 == pytest.approx(second.get_window_extent().y1)


SAVED = ("penetrance", "arcs", "permutations")


def save(folder: Path) -> None:
    folder.mkdir()
    for kind in SAVED:
        permuted(ranks=15).genobit.plot(kind).save(folder / f"{kind}.pdf", width_mm=90)


def test_files_are_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    save(tmp_path / "here")
    there = f"Path({str(tmp_path / 'there')!r})"
    code = f"from tests.epistasis.test_plots_paper import Path, save; save({there})"
    run("-c", code, PYTHONHASHSEED=other_hashes())
    for kind in SAVED:
        first, second = (tmp_path / folder / f"{kind}.pdf" for folder in ("here", "there"))
        assert first.read_bytes() == second.read_bytes()
        if shutil.which("pdftotext"):
            text = subprocess.run(["pdftotext", first, "-"], capture_output=True, check=True).stdout
            assert b"rs0" in text


@pytest.mark.parametrize(
    ("name", "values", "texts"),
    [
        ("p", [0.0, 3.2e-9, 0.04321, np.nan], ["<1e-300", "3.2e-09", "0.043", ""]),
        ("n", [2000.0, np.nan], ["2,000", ""]),
        ("score", [0.08684, 1.5, np.nan], ["0.0868", "1.5000", ""]),
        ("score", [1e-9, 2.0], ["1.00e-09", "2.00e+00"]),
    ],
)
def test_ranking__writes_small_values(name: str, values: list[float], texts: list[str]) -> None:
    from genobit.epistasis.plots.paper_ranking import _written

    assert _written(name, np.array(values)) == texts
