"""Tables of sums over orders: the patterns there are, and blocks of rows, units and pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genobit.engine.gemm.sum_tables import COLUMNS, ENTRY, UNITS
from genobit.kendall.kernels import orders, registry, signs
from genobit.kendall.kernels.lonesum_tables import STRICT, WEAK, Shape
from genobit.kendall.kernels.ranks import ranked
from genobit.kendall.kernels.registry import KERNELS, chosen_kernel, costs, scores
from tests.helpers.reference import kendall_scores
from tests.helpers.sized import sized


def places(shape: Shape) -> set[int]:
    """Patterns that a table is built for."""
    words = shape.both.words.view(np.uint16).reshape(-1, UNITS)
    return {
        int(place) // ENTRY + state * shape.states**2
        for state, (start, stop) in enumerate(itertools.pairwise(shape.both.starts))
        for place in words[start:stop].reshape(-1)
    }


def test_patterns__are_those_that_come_from_an_order() -> None:
    # Poly-Bernoulli numbers: 230 lonesum matrices of 3 x 3.
    nested = {
        x + 8 * y + 64 * z
        for x, y, z in itertools.product(range(8), repeat=3)
        if all(p & q in {p, q} for p, q in itertools.combinations((x, y, z), 2))
    }
    assert places(STRICT) == nested
    assert len(nested) == 230
    assert len(places(WEAK)) == 261


@pytest.mark.compiled("three panels of columns take minutes")
@pytest.mark.parametrize("tied", [False, True])
def test_blocks__of_rows_and_of_units_add_up(monkeypatch: pytest.MonkeyPatch, tied: bool) -> None:
    rng = np.random.default_rng(5)
    values = rng.random((3 * COLUMNS + 7, 90))
    ranks = ranked(np.floor(values * 40) if tied else values)
    expected = scores(ranks, ranks, "naive")
    monkeypatch.setattr(orders, "ROWS", COLUMNS + 3)
    monkeypatch.setattr(orders, "PLACES", 1)
    np.testing.assert_array_equal(scores(ranks, None, "orders"), expected)
    np.testing.assert_array_equal(scores(ranks[:70], ranks[30:], "orders"), expected[:70, 30:])


def test_blocks__of_pairs_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, shape = np.random.default_rng(6), sized((9, 301), (4, 70))
    values = rng.random(shape)
    values[rng.random(values.shape) < 0.1] = np.nan
    for rows in (ranked(values), ranked(rng.random(shape))):
        expected = scores(rows, rows, "naive")
        monkeypatch.setattr(signs, "BLOCK_BYTES", 1)
        np.testing.assert_array_equal(scores(rows, None, "signs"), expected)


@settings(max_examples=sized(60, 10))
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(0, sized(40, 12)),
    rows=st.integers(1, sized(12, 4)),
    columns=st.integers(1, sized(12, 4)),
    levels=st.integers(1, 60),
)
def test_orders__of_variables_of_all_kinds(
    seed: int, n: int, rows: int, columns: int, levels: int
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.random((rows + columns, n))
    kind = rng.integers(0, 4, rows + columns)
    values[kind == 1] = np.floor(values[kind == 1] * levels)
    values[(kind == 2)[:, None] & (rng.random(values.shape) < 0.3)] = np.nan
    values[kind == 3] = 7.0
    ranks, expected = ranked(values), np.array(kendall_scores(values, values))
    np.testing.assert_array_equal(scores(ranks, None, "orders"), expected.reshape(len(ranks), -1))
    found = scores(ranks[:rows], ranks[rows:], "orders")
    np.testing.assert_array_equal(found, expected.reshape(len(ranks), -1)[:rows, rows:])


def test_ranks__of_32_bits_are_compared_as_those_of_16() -> None:
    rng = np.random.default_rng(8)
    ranks = ranked(rng.random(sized((70, 33), (7, 13))))
    wide = ranks.astype(np.uint32)
    np.testing.assert_array_equal(scores(wide, None, "orders"), scores(ranks, None, "orders"))
    np.testing.assert_array_equal(scores(wide, None, "signs"), scores(ranks, None, "orders"))


def test_costs__name_every_kernel_and_leave_out_tables_of_many_levels() -> None:
    assert set(costs(50, 20, levels=3, fitted=False)) == set(KERNELS)
    assert set(costs(50, 20, levels=50, fitted=False)) == set(KERNELS) - {"table"}
    assert list(costs(353, 4000, tied=False, fitted=False))[-1] == "naive"


def test_costs__are_fitted_where_a_choice_is_close_and_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def factor(kernel: str) -> float:
        asked.append(kernel)
        return 0.01 if kernel == "signs" else 1.0

    monkeypatch.setattr(registry, "factor", factor)
    assert chosen_kernel(353, 10_000, tied=False) == "signs"
    assert set(asked) == {"orders", "signs"}
    asked.clear()
    chosen_kernel(353, 100, tied=False)
    assert not asked
    assert min(costs(30, 5).values()) > 0


def test_choice__for_many_variables_with_a_few_others_shares_no_tables() -> None:
    for n in (353, 2000, 17_941):
        assert chosen_kernel(n, 1000, others=1, tied=False) == "packed-merge"
        assert chosen_kernel(n, 1, others=1000, tied=False) == "packed-merge"
    # With many it is the choice of a triangle, or on some CPUs (SSE2) one that is close there.
    triangle = costs(353, 1000, tied=False, fitted=False)
    chosen = chosen_kernel(353, 1000, others=1000, tied=False)
    assert triangle[chosen] < 1.5 * min(triangle.values())
    square, triangle = costs(400, 70, others=70, fitted=False), costs(400, 70, fitted=False)
    assert square["naive"] == pytest.approx(triangle["naive"] * 70 / 34.5)


def test_orders__take_the_side_with_more_variables_as_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(7)
    many, few = ranked(rng.random((200, 20))), ranked(rng.random((3, 20)))
    tables: list[int] = []
    score_rows = orders._score_rows
    monkeypatch.setattr(
        orders, "_score_rows", lambda *a: tables.append(len(a[1])) or score_rows(*a)
    )
    expected = scores(few, many, "naive")
    np.testing.assert_array_equal(scores(few, many, "orders"), expected)
    np.testing.assert_array_equal(scores(many, few, "orders"), expected.T)
    # Panels of columns: one, for three of them.
    assert tables == [1, 1]
