"""Counts and positions past 2**32, and products past 2**63, against Python's whole numbers.

None is counted: leaves of sums and tables of counts are given as large as they may be.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import genobit  # noqa: F401 - registers the accessor
from genobit.data.characters import state_sets
from genobit.data.topology import children
from genobit.engine.schedule.pair_sums import SampleChunks
from genobit.epistasis.kernels import combinations
from genobit.epistasis.schedule.units import Cut
from genobit.grm import kinship as relatives
from genobit.grm import pairs as related_pairs
from genobit.grm import sums as grm_sums
from genobit.grm.kernels import kinship as counted
from genobit.kendall import pairs as kendall_pairs
from genobit.kendall.kernels import pvalues, tables, tau
from genobit.kendall.kernels.ranks import ties, ties_within
from genobit.parsimony import lengths

LEAF = 2**31 - 1
"""The most that int32 holds, and so the most variants of a leaf."""
BILLIONS = 5 * 10**9


def two_samples(monkeypatch: pytest.MonkeyPatch, leaves: tuple[int, ...]) -> SampleChunks:
    """One heterozygous in all variants, the other in a third of each leaf and else homozygous.

    Planes have a word for each leaf: what leaves count is said here.
    """

    def sums(chunks: Any, needs: str, dtype: Any) -> counted.Sums:
        assert len(chunks) == 1
        size = chunks[0][0].bits
        third = size // 3
        products = np.array([[0, 0], [0, size - third]], dtype)
        hets = np.array([[size, third], [third, third]], dtype)
        of_a, of_b = np.array([[size], [third]], dtype), np.array([[size, third]], dtype)
        return counted.Sums(products, hets, None, None, None, np.array([[size]], dtype), of_a, of_b)

    monkeypatch.setattr(counted, "sums", sums)
    # A leaf takes chunks until it has enough calls, which each of these has.
    plane = da.zeros((2, len(leaves)), dtype=np.uint64, chunks=(2, 1))
    along = da.zeros(len(leaves), dtype=np.int64, chunks=1)
    return SampleChunks((plane, plane), leaves, along, along)


@pytest.mark.parametrize("leaves", [(LEAF,), (LEAF,) * 5, (LEAF, 2**30, LEAF, 3)])
def test_relatives(monkeypatch: pytest.MonkeyPatch, leaves: tuple[int, ...]) -> None:
    variants, third = sum(leaves), sum(size // 3 for size in leaves)
    settings = {"scheduler": "synchronous"}
    found = relatives.shared(two_samples(monkeypatch, leaves)).compute(**settings)
    assert found["variants"].tolist() == [[variants] * 2] * 2
    # (A's calls that differ from B's) / (4 x the fewer heterozygous calls).
    kinship = Fraction(1, 2) - Fraction(variants - third, 4 * third)
    assert found["kinship"][0, 1] == pytest.approx(float(kinship), rel=0, abs=1e-15)
    assert found["ibs0"][0, 1] == 0
    alike = relatives.ibs_compared(two_samples(monkeypatch, leaves))[0].compute(**settings)
    assert alike[0, 1] == float(Fraction(variants + third, 2 * variants))
    assert alike[1, 1] == 1


def test_relationship__of_billions_of_variants() -> None:
    calls = np.random.default_rng(2).integers(0, 3, (3, 40))
    times = BILLIONS // 40
    n, copies = 3, [int(c) for c in calls.sum(axis=0)]
    # The same 40 variants over and over, in whole numbers of any length.
    m = [[int(x) for x in row] for row in calls]
    products = [[times * sum(x * y for x, y in zip(a, b, strict=True)) for b in m] for a in m]
    shared = [times * sum(x * c for x, c in zip(a, copies, strict=True)) for a in m]
    total, squares = times * sum(copies), times * sum(c * c for c in copies)
    expected = [
        [
            float(
                Fraction(
                    2 * (n * n * products[i][j] - n * (shared[i] + shared[j]) + squares),
                    2 * n * total - squares,
                )
            )
            for j in range(n)
        ]
        for i in range(n)
    ]
    plan = grm_sums.Plan(
        "vanraden1", n, exact=True, own=True, pairwise=False, counted=False, by_digits=False
    )
    centred = times * ((calls - 1) @ (calls - 1).T)
    terms = np.array([n * n * times * sum(a) - n * s for a, s in zip(m, shared, strict=True)])
    numbers = np.array([40 * times, total, squares, 0]), np.array([1.0, 0.0])
    assert np.abs(centred).max() > 2**31
    assert total > 2**32
    found = np.empty((n, n))
    summed = grm_sums.TileSums(centred, None, None)
    grm_sums._relationship(plan, summed, (terms, terms), *numbers, found)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def scored(table: list[int]) -> int:
    """Concordant less discordant pairs of the counts of a 3 x 3 table."""
    cells = list(itertools.product(range(3), repeat=2))
    return sum(
        table[3 * i + j] * table[3 * k + h] * ((k > i) - (k < i)) * ((h > j) - (h < j))
        for (i, j), (k, h) in itertools.combinations(cells, 2)
    )


@pytest.mark.parametrize("n", [92_683, 3 * 10**6, 2**29])
def test_kendall__of_genotypes(n: int) -> None:
    part = n // 16
    table = [3 * part, part, 0, part, 4 * part, part, 2 * part, part, n - 13 * part]
    score, pairs = scored(table), n * (n - 1) // 2
    assert pairs > 2**32
    rows = [sum(table[:3]), sum(table[3:6]), sum(table[6:])]
    columns = [sum(table[k::3]) for k in range(3)]
    cells = np.array(table, np.int64).reshape(3, 3)
    # Calls of at least one and of two copies.
    at_least = [int(cells[i:, j:].sum()) for i in (1, 2) for j in (1, 2)]
    margins = [rows[1] + rows[2], rows[2], columns[1] + columns[2], columns[2]]
    found = tables._score_of_three(*(np.int64(x) for x in (n, *margins, *at_least)))
    assert int(found) == score
    tied = [tables._ties_of_three(n, margins[k], margins[k + 1]) for k in (0, 2)]
    for (ties_of, triples, levels), counts in zip(tied, (rows, columns), strict=True):
        assert int(ties_of) == sum(t * (t - 1) // 2 for t in counts)
        assert triples == pytest.approx(sum(t * (t - 1) * (t - 2) for t in counts), rel=1e-14)
        assert levels == 3
    (x, x3, _), (y, y3, _) = ((int(a), float(b), c) for a, b, c in tied)
    untied = Fraction(pairs - x) * (pairs - y)
    right = score / math.sqrt(untied)
    coefficient = tau._coefficient(tau.B, *(np.int64(k) for k in (score, n, x, y, 3, 3)))
    assert coefficient == pytest.approx(right, rel=1e-14)
    # A score of two standard deviations, in whole numbers (Kendall 1970, chapter 4).
    fives = 18 * (x + y) + 2 * sum(t * (t - 1) * (t - 2) for t in (*rows, *columns))
    cubes = [sum(t * (t - 1) * (t - 2) for t in side) for side in (rows, columns)]
    variance = Fraction(n * (n - 1) * (2 * n + 5) - fives, 18)
    variance += Fraction(2 * x * y, n * (n - 1))
    variance += Fraction(cubes[0] * cubes[1], 9 * n * (n - 1) * (n - 2))
    two = 2 * math.sqrt(variance)
    p = pvalues.asymptotic(np.int64(two), np.int64(n), (np.int64(x), x3), (np.int64(y), y3))
    assert p == pytest.approx(math.erfc(math.sqrt(2)), rel=1e-6)


def test_ties__of_100_000_and_more_observations() -> None:
    n = 3 * 10**6
    # A third misses; what is left ties in two values.
    ranks = np.zeros((1, n), np.uint32)
    ranks[0, n // 2 :] = 1
    absent = ranks.copy()
    absent[0, ::3] = np.iinfo(np.uint32).max
    whole, within = ties(ranks), ties_within(ranks, absent)
    half = n // 2
    assert whole.pairs[0] == half * (half - 1)
    assert whole.triples[0] == pytest.approx(2 * half * (half - 1) * (half - 2), rel=1e-14)
    left = half * 2 // 3
    assert within.n.item() == 2 * left
    assert within.rows.pairs.item() == left * (left - 1)
    assert within.rows.triples.item() == pytest.approx(
        2 * left * (left - 1) * (left - 2), rel=1e-12
    )


def test_kendall__of_more_observations_than_places_is_refused() -> None:
    values = da.zeros((2, 2**31), dtype=np.int8, chunks=(1, 2**28))
    array = xr.DataArray(values, dims=("gene", "cell"))
    with pytest.raises(ValueError, match="2,147,483,648 cell are more than 2,147,483,647"):
        array.genobit.kendall()


@pytest.mark.parametrize(
    ("variants", "order", "p"), [(10**6, 3, 1), (10**6, 3, 2), (2 * 10**5, 5, 2), (10**5, 4, 3)]
)
def test_units_of_combinations(variants: int, order: int, p: int) -> None:
    total = math.comb(variants, order)
    cut = Cut(variants, order, 2, p, 16, 512, 10**12)
    assert cut.combinations == total > 2**53
    units = [0, 2**32 // 10**12, cut.units // 3, cut.units - 2, cut.units - 1]
    for unit in units:
        parts = cut.range_of(unit)
        # Units follow on each other, and end where combinations do.
        assert parts.start == (cut.range_of(unit - 1).stop if unit else 0)
        assert cut.weight(unit) == cut.before(parts.stop) - cut.before(parts.start)
    assert cut.before(cut.range_of(cut.units - 1).stop) == total


@pytest.mark.parametrize("first", [2**32 - 2, 2**63 - 2, 2**64 + 5])
def test_combinations__of_any_number(first: int) -> None:
    for size in (3, 5):
        for number, members in enumerate(combinations.combinations(first, 4, size).tolist(), first):
            assert members == sorted(set(members))
            assert sum(math.comb(m, k) for k, m in enumerate(members, 1)) == number


def test_lengths_of_trees__times_weights() -> None:
    rows = np.array([list("AAAC"), list("AACG"), list("CCAC"), list("CCCT")])
    sites = np.repeat(np.arange(4), [1, 5, 9, 3])
    weights = np.full(sites.size, 2**31 - 1)
    weights[::2] -= 12_345
    found = lengths.columns(state_sets(rows[:, sites], "dna"), weights, sites=False)
    tree = children(np.array([4, 4, 5, 5, 6, 6, -1]))
    # Changes of the four sites, counted by hand.
    changes = [1, 1, 2, 2]
    right = sum(int(w) * changes[k] for w, k in zip(weights, sites, strict=True))
    assert right > 2**32
    assert lengths.tree_lengths(found, [tree]).tolist() == [right]


@pytest.mark.parametrize(("top", "left"), [(2**32, 2**33), (2**40 + 1, 2**41)])
def test_positions_of_pairs(top: int, left: int) -> None:
    wanted = np.array([[False, True], [True, False]])
    rows, columns = related_pairs.above_diagonal(wanted, top, left)
    assert rows.tolist() == [top, top + 1]
    assert columns.tolist() == [left + 1, left]
    value = np.array([[0.1, 0.9], [-0.8, 0.2]])
    query = kendall_pairs.PairQuery(0.5, None, ("a", "b", "tau"))
    kept = kendall_pairs._reduced(
        None, (), top, left, None, function=lambda *_: (value, value > 0), query=query
    )
    assert kept.columns["a"].tolist() == [top, top + 1]
    assert kept.columns["b"].tolist() == [left + 1, left]
    assert kendall_pairs._pairs(range(1, 2), (2**33, 2**34)) == 2**67
