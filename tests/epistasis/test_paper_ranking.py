"""The table of a ranking for papers: all members, numbers, and columns that fit."""

from __future__ import annotations

import numpy as np
import pytest

from genobit.epistasis.plots.paper_ranking import ROWS, paper_ranking
from genobit.epistasis.result import ranked
from genobit.visual.paper.page import page_of
from tests.epistasis.results import made, permuted, words
from tests.visual.texts import overlapping


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("width", [60, 90, 180])
def test_texts_stay_apart_and_on_the_page(order: int, width: float) -> None:
    result = permuted(order, ranks=4)
    long = np.array([f"AFFX-SNP_{k:07}" for k in range(100)], dtype=object)
    result["variant_id"] = ("rank", "order"), long[result["variants"].values]
    assert overlapping(page_of(paper_ranking(result), width)) == []


@pytest.mark.parametrize("width", [90, 180])
def test_all_members_are_named(width: float) -> None:
    result = permuted(3)
    seen = " ".join(words(page_of(paper_ranking(result), width)))
    for names in ranked(result).names:
        assert " × ".join(names) in seen


def test_a_narrow_page_leaves_out_columns() -> None:
    result = permuted(3)
    wide, narrow = (words(page_of(paper_ranking(result), width)) for width in (180, 60))
    assert {"n", "places", "p"} <= set(wide)
    assert "MI (nats)" in narrow
    assert "places" not in narrow


def test_the_rest_and_sparse_cells_are_noted() -> None:
    result = permuted(2, ranks=15).isel(rank=[k % 15 for k in range(ROWS + 3)])
    seen = " ".join(words(page_of(paper_ranking(result), 180)))
    assert f"the first {ROWS} of {ROWS + 3} rows" in seen
    assert "* cells with too few samples for p" in seen


def test_numbers() -> None:
    result = permuted(2, ranks=3)
    result["mi"] = "rank", [0.25, 0.03, 0.00512]
    result["p"] = "rank", [1.68e-57, 0.0213, np.nan]
    result["sparse"] = "rank", [False, True, False]
    seen = words(page_of(paper_ranking(result), 180))
    assert {"0.25000", "0.00512", "1.7e-57", "0.021*"} <= set(seen)


def test_nothing_is_left() -> None:
    seen = words(page_of(paper_ranking(made(2), "nothing like it"), 90))
    assert "variants" in seen
