from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from genobit.pca.plots.paper_scatter import paper_scatter
from genobit.visual.paper.page import page_of, style
from genobit.visual.tokens import GROUPS
from tests.visual.texts import overlapping


def components(
    names: tuple[str, ...], n: int = 40, missing: int = 0, *, shared: bool = False
) -> xr.Dataset:
    """Clusters of one group each; with ``shared``, the last two groups share a cluster."""
    r = np.random.default_rng(0)
    centres = r.uniform(-1, 1, (len(names), 3))
    if shared:
        centres[-1] = centres[-2]
    groups = np.arange(n * len(names)) % len(names)
    scores = centres[groups] + r.normal(0, 0.04, (len(groups), 3))
    scores[:missing] = np.nan
    return xr.Dataset(
        {"scores": (("samples", "components"), scores)},
        {"sample_population": ("samples", np.array(names, object)[groups])},
        {"variants": 99, "variants_left_out": 12, "contigs_left_out": "X, Y"},
    )


def panel_of(pcs: xr.Dataset, width: float = 90, **options: object):  # type: ignore[no-untyped-def]
    figure = page_of(paper_scatter(pcs, **options), width)  # type: ignore[arg-type]
    with style():
        figure.draw_without_rendering()
    return figure.axes[0].child_axes[0]


# 55 mm have room for the names in DejaVu Sans, too, which is wider than Arial.
@pytest.mark.parametrize("width", [55, 90, 180])
def test_names_of_groups_cover_neither_points_nor_names_and_are_near_their_group(
    width: float,
) -> None:
    names = ("CEU", "YRI", "a longer name", "HCB", "JPT")
    pcs = components(names)
    axes = panel_of(pcs, width, colour_by="population")
    points = axes.transData.transform(pcs.scores.values[:, :2])
    with style():
        found = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert set(found) == set(names)
    boxes = list(found.values())
    frame = axes.get_window_extent()
    for k, box in enumerate(boxes):
        inside = (points > [box.x0, box.y0]) & (points < [box.x1, box.y1])
        assert not inside.all(axis=1).any()
        assert not any(box.overlaps(other) for other in boxes[k + 1 :])
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
    for name, box in found.items():
        low, high = np.array([box.x0, box.y0]), np.array([box.x1, box.y1])
        away = np.hypot(*np.maximum(np.maximum(low - points, points - high), 0).T)
        gap = {other: away[pcs.sample_population.values == other].min() for other in names}
        nearest = min(gap, key=gap.__getitem__)
        assert nearest == name


@pytest.mark.parametrize("width", [55, 90, 180])
def test_groups_that_overlap_have_a_key_with_their_colours(width: float) -> None:
    names = ("CEU", "YRI", "a longer name", "HCB", "JPT")
    figure = page_of(paper_scatter(components(names, shared=True), colour_by="population"), width)
    page = figure.axes[0]
    (axes,) = page.child_axes
    assert not axes.texts
    key = {text.get_text(): text for text in page.texts if text.get_text() in names}
    assert set(key) == set(names)
    assert overlapping(figure) == []
    squares = [square for square in page.patches if isinstance(square, Rectangle)]
    colours = {to_hex(square.get_facecolor()) for square in squares}
    assert colours == {to_hex(colour) for colour in GROUPS[: len(names)]}
    for name, text in key.items():
        box = text.get_window_extent()
        extents = [(square, square.get_window_extent()) for square in squares]
        row = [(s, e) for s, e in extents if e.y0 < (box.y0 + box.y1) / 2 < e.y1 and e.x1 < box.x0]
        beside = max(row, key=lambda each: each[1].x1)[0]
        assert to_hex(beside.get_facecolor()) == GROUPS[sorted(names).index(name)]
        assert box.y0 > axes.get_window_extent().y1


def test_groups_without_room_for_a_name_have_a_key() -> None:
    names = tuple(f"a name that is far too long for its panel {k}" for k in range(4))
    figure = page_of(paper_scatter(components(names), colour_by="population"), 55)
    written = {text.get_text() for text in figure.axes[0].texts}
    assert set(names) <= written


@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_groups_that_are_apart_are_named_on_the_data(n: int) -> None:
    axes = panel_of(components(("A", "B", "C"), n), colour_by="population")
    assert {text.get_text() for text in axes.texts} == {"A", "B", "C"}


def test_rare_groups_that_share_a_colour_have_a_key() -> None:
    pcs = components(("A", "B", "C"), 10)
    pcs["sample_population"] = ("samples", np.array([f"s{k}" for k in range(30)], object))
    figure = page_of(paper_scatter(pcs, colour_by="population"), 90)
    page = figure.axes[0]
    assert not page.child_axes[0].texts
    assert "22 others" in {text.get_text() for text in page.texts}
    assert overlapping(figure) == []


def test_points_have_the_colours_of_their_groups() -> None:
    pcs = components(("A", "B", "C"))
    axes = panel_of(pcs, colour_by="population", x=3, y=1)
    drawn = axes.collections[0]
    at, colours = np.asarray(drawn.get_offsets()), drawn.get_facecolors()
    scores = pcs.scores.values[:, [2, 0]]
    assert len(at) == len(scores)
    for point, colour in zip(at, colours, strict=True):
        sample = int(np.flatnonzero((scores == point).all(axis=1))[0])
        group = "ABC".index(pcs.sample_population.values[sample])
        assert to_hex(colour) == GROUPS[group]
    assert axes.get_xlabel() == "PC3"


def test_texts_say_what_is_left_out() -> None:
    figure = page_of(paper_scatter(components(("A", "B"), missing=3)), 90)
    written = [text.get_text() for text in figure.axes[0].texts]
    assert written == [
        "80 samples, 3 without scores; 99 variants",
        "12 variants of chromosomes X, Y left out",
    ]
    assert len(figure.axes[0].child_axes[0].collections[0].get_offsets()) == 77


def test_numbers_have_a_colour_bar_and_no_names() -> None:
    pcs = components(("A", "B"))
    axes = panel_of(pcs, colour_by=pcs.scores.values[:, 0])
    (bar,) = axes.child_axes
    assert not axes.texts
    assert len(bar.texts) == 3
    assert axes.get_figure().bbox.y1 >= max(t.get_window_extent().y1 for t in bar.texts)


def test_a_name_with_signs_of_mathematics_is_text() -> None:
    axes = panel_of(components(("a$b$", "c")), colour_by="population")
    assert [text.get_text() for text in axes.texts] == ["a$b$", "c"]
    assert not axes.texts[0].get_parse_math()
    assert isinstance(axes.texts[0].get_path_effects()[0], withStroke)


def test_a_component_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no component 4"):
        paper_scatter(components(("A", "B")), x=4)
