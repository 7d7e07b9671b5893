"""The trace of a tree search: rounds, hits, and the shortest so far."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.parsimony.plots.search_trace import search_trace
from genobit.visual.paper.page import page_of
from genobit.visual.picture.paper import paper_of
from genobit.visual.picture.spec import Boxes, Line, Picture, Points, Texts
from genobit.visual.tokens import LIGHT
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


def words(picture: Picture) -> str:
    return " ".join([picture.title, *picture.notes])


def counts(picture: Picture) -> dict[float, float]:
    """Lengths with the number of rounds that ended with each."""
    assert picture.beside is not None
    (bars,) = picture.beside.marks_of(Boxes)
    middle = (bars.y0 + bars.y1) / 2
    return {at: n for at, n in zip(middle.tolist(), bars.x1.tolist(), strict=True) if n}


def test_the_result_draws_its_picture():
    figure = search().genobit.plot("trace")
    assert words(figure.picture) == words(search_trace(search()))
    assert len(list(figure.hv)) == 2


def test_rounds_hits_line_and_counts():
    found = search()
    picture = search_trace(found)
    lengths = found["round_length"].values
    hits = np.argwhere(lengths == 100)
    others, shortest = picture.panel.marks_of(Points)
    np.testing.assert_array_equal(
        np.stack([shortest.x, shortest.y]), [hits[:, 1], [100] * len(hits)]
    )
    assert shortest.colour == LIGHT.accent
    assert len(others.x) == np.isfinite(lengths).sum() - len(hits)
    (line,) = picture.panel.marks_of(Line)
    np.testing.assert_array_equal(line.y, found["trace"].values)
    assert line.steps
    expected = {k: (lengths[:, 2:] == k).sum() for k in range(100, 106)}
    assert counts(picture) == expected
    (text,) = picture.beside.marks_of(Texts)
    assert text.texts == (str(expected[100]),)
    assert f"{len(hits)} of 57 rounds end with it, in 2 of 2 replicates" in words(picture)


@pytest.mark.parametrize("width", [85, 180])
@pytest.mark.parametrize("start", [101, 112, 9_000])
def test_texts_stay_apart_and_long_starts_are_told(start, width):
    picture = search_trace(search(start))
    figure = page_of(paper_of(picture), width)
    assert overlapping(figure) == []
    written = " ".join(text for text, _ in texts_of(figure))
    assert ("9,000 changes, partly not shown" in written) == (start == 9_000)
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
    picture = search_trace(swapping(method))
    assert counts(picture) == {105: 1, 107: 1}
    assert picture.beside.x.label == "Trees"
    assert "end with it" not in words(picture)


def test_replicates_whose_start_is_a_shortest_tree_need_a_round():
    found = search()
    found["round_length"][0, 1:] = 103
    found["round_length"][0, 0] = 100
    assert "rounds end with it, in 1 of 2 replicates" in words(search_trace(found))


def test_a_search_without_rounds():
    found = search().drop_vars("round_length").assign_attrs(method="branch_and_bound", proven=True)
    picture = search_trace(found)
    assert picture.beside is None
    assert "Branch and bound: 100 changes" in words(picture)
    assert "2 trees of this length, proven to be the shortest." in words(picture)
    with pytest.raises(ValueError, match="no trace"):
        search_trace(found.drop_vars("trace"))


def test_best_of_replicates():
    letters = np.random.default_rng(1).choice(list("ACGT"), (9, 60))
    aligned = xr.DataArray(letters, {"taxa": list("abcdefghi")}, ("taxa", "sites"))
    effort = gb.SearchEffort(replicates=3, iterations=5, patience=2)
    found = aligned.genobit.parsimony_search(seed=1, effort=effort)
    picture = search_trace(found)
    (line,) = picture.panel.marks_of(Line)
    assert line.y.tolist() == found["trace"].values.tolist()
    assert picture.title == f"Parsimony ratchet: {int(found['length'][0])} changes"
