"""Families by Mendelian transmission, of founders whose variants are independent."""

from __future__ import annotations

import numpy as np
import pytest

from genobit.io.samples import _pedigree
from genobit.io.samples._pedigree import FAMILY, Genome, kinship_of_family, shuffled, with_families

VARIANTS, SAMPLES = 6_000, 40
POPULATION = np.repeat(np.array(["A", "B"], object), SAMPLES // 2)


@pytest.fixture(scope="module")
def genome() -> Genome:
    return Genome(np.arange(VARIANTS), np.repeat([0, 1], VARIANTS // 2), np.ones(VARIANTS))


@pytest.fixture
def calls() -> np.ndarray:
    random = np.random.default_rng(1)
    frequency = random.uniform(0.2, 0.8, (VARIANTS, 1, 1))
    return (random.random((VARIANTS, SAMPLES, 2)) < frequency).astype(np.int8)


def test_children_have_an_allele_of_each_parent(calls: np.ndarray, genome: Genome) -> None:
    before = calls.copy()
    found = with_families(calls, genome, POPULATION, 1, np.random.default_rng(2))
    children = np.flatnonzero(found.father >= 0)
    assert children.size == 2 * 7
    for k in children:
        for strand, parent in enumerate((found.father[k], found.mother[k])):
            one, two = calls[:, parent].T
            mine = calls[:, k, strand]
            assert ((mine == one) | (mine == two)).all()
            # Both strands of a parent are passed on, in long pieces.
            switches = np.count_nonzero(np.diff((mine == one)[one != two]))
            assert 5 < switches < 100
    twins = np.flatnonzero(found.twin >= 0)
    assert twins.size == 4
    np.testing.assert_array_equal(calls[:, twins], calls[:, found.twin[twins]])
    others = np.flatnonzero(np.bincount(found.family, minlength=SAMPLES)[found.family] == 1)
    assert others.size == SAMPLES - 2 * len(FAMILY)
    np.testing.assert_array_equal(calls[:, others], before[:, others])


def test_kinship_of_the_family() -> None:
    kinship = kinship_of_family()
    place = {"grandmother": 1, "wife": 2, "son": 5, "daughter": 6, "twin": 7, "sister": 9}
    place |= {"other twin": 8, "cousin": 10, "half-sibling of the cousin": 11}
    for one, two, expected in (
        ("son", "grandmother", 0.25),
        ("son", "daughter", 0.25),
        ("twin", "other twin", 0.5),
        ("twin", "sister", 0.25),
        ("twin", "grandmother", 0.125),
        ("twin", "daughter", 0.125),
        ("cousin", "half-sibling of the cousin", 0.125),
        ("cousin", "other twin", 0.0625),
        ("wife", "daughter", 0.0),
    ):
        assert kinship[place[one], place[two]] == kinship[place[two], place[one]] == expected


def test_impossible_families_are_an_error(
    calls: np.ndarray, genome: Genome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_pedigree, "_TRIES", 3)
    # Without crossovers siblings share all or nothing of a contig.
    monkeypatch.setattr(_pedigree, "CROSSOVERS", 0)
    with pytest.raises(RuntimeError, match="in 3 tries"):
        with_families(calls, genome, POPULATION, 1, np.random.default_rng(3))


def test_blocks_are_exchanged_as_they_are() -> None:
    haplotypes = np.arange(5 * 6, dtype=np.int8).reshape(5, 6)
    genome = Genome(np.array([0, 0, 1, 1, 1]), np.zeros(2, int), np.ones(2))
    found = shuffled(haplotypes, genome, np.random.default_rng(4))
    for block in (slice(0, 2), slice(2, 5)):
        columns = {tuple(column) for column in haplotypes[block].T.tolist()}
        assert {tuple(column) for column in found[block].T.tolist()} == columns
    assert not (found == haplotypes).all(axis=0).any()


def test_a_weak_hotspot_leaves_most_haplotypes_together() -> None:
    haplotypes = np.tile(np.arange(100, dtype=np.int8), (3, 1))
    genome = Genome(np.arange(3), np.zeros(3, int), np.array([1, 0, 0.2]))
    found = shuffled(haplotypes, genome, np.random.default_rng(5))
    np.testing.assert_array_equal(found[0], found[1])
    assert 70 < np.count_nonzero(found[1] == found[2]) < 95
