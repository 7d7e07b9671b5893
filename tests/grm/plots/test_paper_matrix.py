from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from genobit.grm.plots.heatmap import arrange
from genobit.grm.plots.paper_matrix import paper_heatmap
from genobit.grm.plots.paper_tree import LEAVES, blocks_of, nodes_of
from genobit.visual.clusters import CLUSTERED_SAMPLES
from genobit.visual.paper.page import page_of
from genobit.visual.tokens import GROUPS, LIGHT
from tests.visual.texts import overlapping, texts_of


def matrix(sizes: dict[str, int], seed: int = 0, near: float = 0.4) -> xr.DataArray:
    """Samples of groups, shuffled: members of one group are near each other."""
    r = np.random.default_rng(seed)
    groups = r.permutation(np.repeat(list(sizes), list(sizes.values())).astype(object))
    values = np.where(groups[:, None] == groups, near, -0.1)
    noise = r.normal(0, 0.01, values.shape)
    values = values + (noise + noise.T) / 2
    np.fill_diagonal(values, 1.0)
    coords = {f"sample_population_{side}": (f"samples_{side}", groups) for side in (0, 1)}
    attrs = {"method": "vanraden1", "variants": 90}
    return xr.DataArray(values, coords, ("samples_0", "samples_1"), "vanraden1", attrs)


def texts(figure: Figure) -> list[str]:
    return [text for text, _ in texts_of(figure)]


def drawn(grm: xr.DataArray, width: float = 90, **options: object):  # type: ignore[no-untyped-def]
    """Return the figure, and the axes of tree, strip, matrix and bar."""
    figure = page_of(paper_heatmap(grm, **options), width)  # type: ignore[arg-type]
    figure.draw_without_rendering()
    return figure, *figure.axes[0].child_axes


def test_the_order_of_the_tree_is_that_of_rows_strip_and_names() -> None:
    grm = matrix({"A": 12, "B": 9, "C": 6})
    figure, _, strip, image, _ = drawn(grm, colour_by="population")
    order = arrange(grm).tree.order
    pixels = np.asarray(image.images[0].get_array())
    np.testing.assert_allclose(pixels, grm.values[np.ix_(order, order)], rtol=1e-6)
    assert image.get_ylim() == (26.5, -0.5)  # the first sample is at the top
    colour = dict(zip("ABC", GROUPS, strict=False))
    at = 0
    ordered = grm.sample_population_0.values[order]
    for box in strip.patches:
        size = round(box.get_height())
        assert {to_hex(box.get_facecolor())} == {colour[g] for g in ordered[at : at + size]}
        at += size
    assert at == 27
    names = {text.get_text(): text for text in image.texts}
    assert set(names) == {"A  (12)", "B  (9)", "C  (6)"}
    for text, drawn_at in names.items():
        place = np.flatnonzero(ordered == text[0])
        assert drawn_at.get_position()[0] == pytest.approx((place.mean() + 0.5) / 27)
    assert "27 samples, 90 variants" in texts(figure)


def test_lines_of_the_tree_have_the_colours_of_pure_groups() -> None:
    _, tree, *_ = drawn(matrix({"A": 4, "B": 4}), colour_by="population")
    (lines,) = (c for c in tree.collections if isinstance(c, LineCollection))
    ends = np.array(lines.get_segments())
    colours = np.array([to_hex(c) for c in lines.get_colors()])
    upright = ends[:, 0, 0] == ends[:, 1, 0]
    assert upright.sum() == 7
    assert set(colours) == {GROUPS[0], GROUPS[1], "#4a5361"}
    root = ends[:, 0, 0].argmin()
    assert colours[root] == "#4a5361"
    assert ends[..., 0].max() == 1.0  # leaves reach the strip


def test_a_value_beyond_the_limits_is_marked_at_the_colour_bar() -> None:
    *_, bar = drawn(matrix({"A": 8, "B": 8}), colour_limits=(-0.5, 0.5))
    assert [t.get_text() for t in bar.get_xticklabels()] == ["−0.5", "0", "≥ 0.5"]


def test_by_default_the_limits_are_even_round_and_at_most_a_sample_with_itself() -> None:
    for near in (0.02, 0.3, 0.9):
        _, _, _, image, _ = drawn(matrix({"A": 30, "B": 30}, near=near))
        low, high = image.images[0].get_clim()
        assert low == -high
        assert high <= 1
        assert f"{high:.2g}" == f"{high:g}"
        assert high > near or high == 1


@pytest.mark.parametrize("limits", [None, (-0.5, 0.5), (0.0, 0.25)])
def test_kinship_is_white_at_zero_and_below(limits: tuple[float, float] | None) -> None:
    kinship = matrix({"A": 8, "B": 8}).assign_attrs(method="king").rename("king") / 2
    kinship.attrs = {"method": "king"}
    _, _, _, image, bar = drawn(kinship, colour_limits=limits)
    (shown,) = image.images
    assert shown.get_clim() == (limits or (0.0, 0.5))
    # Limits below 0 ask for colours there.
    assert shown.cmap(shown.norm(0.0)) == pytest.approx((1, 1, 1, 1), abs=0.03)
    low = to_hex(shown.cmap(shown.norm(-0.05)))
    assert (low == LIGHT.paper) is (limits != (-0.5, 0.5))
    if limits is None:
        assert bar.get_xticklabels()[0].get_text() == "≤ 0"


def test_blocks_join_groups_that_the_tree_mixes_and_outliers_join_a_block() -> None:
    r = np.random.default_rng(1)
    grm = matrix({"A": 30, "mixed": 40})
    groups = (grm.sample_population_0.values == "mixed").astype(int)
    inside = np.flatnonzero(groups == 1)
    groups[r.permutation(inside)[:20]] = 2
    lone = inside[groups[inside] == 1][0]
    grm.values[lone, :], grm.values[:, lone] = -0.3, -0.3
    grm.values[lone, lone] = 1
    tree = arrange(grm).tree
    blocks = blocks_of(nodes_of(tree, groups), groups[tree.order], 3)
    assert sorted((block.groups, block.size) for block in blocks) == [((0,), 30), ((1, 2), 40)] or (
        sorted((block.groups, block.size) for block in blocks) == [((0,), 31), ((1, 2), 39)]
    )
    assert [block.first for block in blocks][1:] == [block.last + 1 for block in blocks][:-1]


def test_many_samples_share_cells_and_have_few_lines_of_the_tree() -> None:
    figure, tree, _, image, _ = drawn(matrix({"A": 300, "B": 200}), max_pixels=100)
    assert image.images[0].get_array().shape == (100, 100)
    assert any("5 × 5 samples" in text for text in texts(figure))
    assert LEAVES < 500 <= CLUSTERED_SAMPLES
    ends = np.array(tree.collections[0].get_segments())
    assert len(ends) < 3 * 499


def test_samples_without_values_are_last_and_counted() -> None:
    grm = matrix({"A": 5, "B": 5})
    grm.values[2, :], grm.values[:, 2] = np.nan, np.nan
    figure, _, _, image, _ = drawn(grm, colour_by="population", selected=[2])
    assert np.ma.getmaskarray(image.images[0].get_array())[-1].all()
    assert "grey: no value, 1 sample" in texts(figure)
    marks = np.array(image.collections[-1].get_segments())
    assert marks[0, 0, 1] == 9


def test_what_is_left_out_is_on_the_picture() -> None:
    grm = matrix({"A": 4})
    grm.attrs |= {"variants_left_out": 365, "contigs_left_out": "23"}
    assert "365 variants of chromosome 23 left out" in texts(drawn(grm)[0])


@pytest.mark.parametrize("width", [90, 180])
def test_texts_are_apart_and_on_the_page(width: float) -> None:
    grm = matrix({"a long name of a population": 9, "B": 8, "another long name": 7, "D": 1})
    figure, *_ = drawn(grm, width, colour_by="population")
    assert overlapping(figure) == []


def test_limits_that_do_not_ascend_are_refused() -> None:
    with pytest.raises(ValueError, match="lowest and the highest"):
        paper_heatmap(matrix({"A": 3}), colour_limits=(0.5, -0.5))


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(KeyError, match="population"):
        paper_heatmap(matrix({"A": 3}), colour_by="populaton")
