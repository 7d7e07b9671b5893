"""The trace of a tree search for papers: rounds, hits, and the shortest so far."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import genobit  # noqa: F401  the accessor
from genobit.parsimony.plots.paper_trace import paper_trace
from genobit.visual.paper.page import page_of
from tests.visual.texts import overlapping, texts_of


def search(start: float = 112.0, rounds: int = 30) -> xr.Dataset:
    """Two replicates of a ratchet; the second ends three rounds earlier."""
    lengths = np.random.default_rng(1).integers(100, 106, (2, rounds + 2)).astype(float)
    lengths[:, 0], lengths[:, 1] = start, 107
    lengths[1, -3:] = np.nan
    trace = np.minimum.accumulate(np.nanmin(lengths, axis=0)).astype(int)
    return xr.Dataset(
        {
            "tree": ("trees", ["(a,b,c);", "(a,c,b);"]),
            "length": ("trees", [100, 100]),
            "trace": ("iteration", trace),
            "round_length": (("replicate", "iteration"), lengths),
        },
        attrs={"method": "ratchet", "proven": False, "partial": False},
    )


def words(figure) -> str:
    return " ".join(text for text, _ in texts_of(figure))


def dots(frame, label: str) -> np.ndarray:
    (found,) = (c for c in frame.collections if c.get_label() == label)
    return np.asarray(found.get_offsets())


def test_plots_draw_this_form():
    figure = search().genobit.plot("trace").to_matplotlib(85)
    assert words(figure) == words(page_of(paper_trace(search()), 85))


def test_rounds_hits_line_and_counts():
    found = search()
    figure = page_of(paper_trace(found), 180)
    frame, beside = figure.axes[0].child_axes
    lengths = found["round_length"].values
    hits = np.argwhere(lengths == 100)
    np.testing.assert_array_equal(dots(frame, "_hits"), [[k, 100] for _, k in hits])
    assert len(dots(frame, "_rounds")) == np.isfinite(lengths).sum() - len(hits)
    (line,) = frame.lines
    np.testing.assert_array_equal(line.get_ydata(), found["trace"].values)
    assert line.get_drawstyle() == "steps-post"
    counts = {bar.get_y() + bar.get_height() / 2: bar.get_width() for bar in beside.patches}
    for length in range(100, 106):
        assert counts[length] == (lengths[:, 2:] == length).sum()
    assert f"{len(hits)} of 57 rounds end with it, in 2 of 2 replicates" in words(figure)


@pytest.mark.parametrize("width", [85, 180])
@pytest.mark.parametrize("start", [101, 112, 9_000])
def test_texts_stay_apart_and_long_starts_are_told(start, width):
    figure = page_of(paper_trace(search(start)), width)
    assert overlapping(figure) == []
    assert ("9,000 changes, partly not shown" in words(figure)) == (start == 9_000)
    low, high = figure.axes[0].child_axes[0].get_ylim()
    assert low < 100
    assert 107 < high < 120


def swapping(method: str) -> xr.Dataset:
    """Two replicates without rounds; the last swapping of all trees finds a shorter one."""
    return xr.Dataset(
        {
            "tree": ("trees", ["(a,b,c);"]),
            "length": ("trees", [104]),
            "trace": ("iteration", [110, 105, 104]),
            "round_length": (("replicate", "iteration"), [[110, 107, np.nan], [112, 105, np.nan]]),
        },
        attrs={"method": method, "proven": False, "partial": False},
    )


@pytest.mark.parametrize("method", ["ratchet", "tbr"])
def test_bars_of_a_search_without_rounds_count_its_trees(method):
    figure = page_of(paper_trace(swapping(method)), 180)
    _, beside = figure.axes[0].child_axes
    counts = {bar.get_y() + bar.get_height() / 2: bar.get_width() for bar in beside.patches}
    assert {length: count for length, count in counts.items() if count} == {105: 1, 107: 1}
    assert beside.get_xlabel() == "Trees"
    assert "end with it" not in words(figure)


def test_replicates_whose_start_is_a_shortest_tree_need_a_round():
    found = search()
    found["round_length"][0, 1:] = 103
    found["round_length"][0, 0] = 100
    figure = page_of(paper_trace(found), 180)
    assert "rounds end with it, in 1 of 2 replicates" in words(figure)


def test_a_search_without_rounds():
    found = search().drop_vars("round_length").assign_attrs(method="branch_and_bound", proven=True)
    figure = page_of(paper_trace(found), 85)
    assert len(figure.axes[0].child_axes) == 1
    assert "Branch and bound: 100 changes" in words(figure)
    assert "2 trees of this length, proven to be the shortest." in words(figure)
    with pytest.raises(ValueError, match="no trace"):
        paper_trace(found.drop_vars("trace"))
