"""Alleles of two files: exchanged, flipped, ambiguous, or in conflict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.data.strands import align, align_all
from tests.helpers.reference import joined_alleles

LETTERS = st.sampled_from(["A", "C", "G", "T", "AT", "0"])


@st.composite
def rows(draw: st.DrawFn) -> list[str]:
    """Two or three alleles; only "0", unknown, repeats."""
    names = draw(st.lists(LETTERS, min_size=2, max_size=3))
    return ["0" if x in names[:k] else x for k, x in enumerate(names)]


def objects(*given: list[str]) -> np.ndarray:
    width = max(map(len, given))
    return np.array([row + [""] * (width - len(row)) for row in given], object)


@given(st.lists(st.tuples(rows(), rows()), min_size=1, max_size=8))
def test_alleles_fit_as_the_obvious_comparison_says(pairs: list[tuple[list[str], ...]]) -> None:
    found = align(objects(*(a for a, _ in pairs)), objects(*(b for _, b in pairs)))
    for k, (ours, theirs) in enumerate(pairs):
        alleles, how = joined_alleles(ours, theirs)
        said = {
            "flipped": found.flipped[k],
            "ambiguous": found.ambiguous[k],
            "conflict": found.conflicting[k],
        }
        assert [name for name, true in said.items() if true] == [how][: how != "as they are"]
        if how == "conflict":
            continue
        joined = found.alleles[k].tolist()
        assert sorted(x for x in joined if x not in {"", "0"}) == sorted(alleles)
        # Alleles of the first file stay at their place.
        assert all(joined[j] == x for j, x in enumerate(ours) if x != "0")
        other = {"A": "T", "C": "G", "G": "C", "T": "A"} if how == "flipped" else {}
        for j, x in enumerate(theirs):
            if x != "0":
                assert joined[found.codes[k, j]] == other.get(x, x)
        codes = found.codes[k, : len(theirs)].tolist()
        assert len(set(codes)) == len(codes)
        assert found.exchanged[k] == any(c != j for j, c in enumerate(codes) if theirs[j] != "0")


@pytest.mark.parametrize("name", ["0", ".", "", "nan"])
def test_an_unknown_allele_takes_the_one_of_the_other_file(name: str) -> None:
    found = align(objects(["G", name], [name, "G"]), objects(["A", "G"], ["A", "G"]))
    assert found.alleles.tolist() == [["G", "A"], ["A", "G"]]
    assert found.codes.tolist() == [[1, 0], [0, 1]]
    assert found.exchanged.tolist() == [True, False]


def test_an_allele_that_no_file_knows_keeps_its_name() -> None:
    assert align(objects(["G", "0"]), objects(["G", "0"])).alleles.tolist() == [["G", "0"]]


def test_several_files_are_aligned_to_the_first_that_has_the_variant() -> None:
    names = [objects(["G", "A"], ["C", "T"]), objects(["A", "G"]), objects(["T", "C"], ["A", "G"])]
    places = [np.array([0, -1, 1]), np.array([-1, 0, -1]), np.array([0, 1, -1])]
    found = align_all(names, places)
    assert found.alleles.tolist() == [["G", "A"], ["A", "G"], ["C", "T"]]
    assert [code.tolist() for code in found.codes] == [
        [[0, 1], [0, 1], [0, 1]],
        [[0, 1], [0, 1], [0, 1]],
        [[1, 0], [0, 1], [0, 1]],
    ]
    assert found.flipped.tolist() == [1, 0, 0]


def test_alleles_of_left_out_variants_take_no_column() -> None:
    names = [objects(["G", "A"], ["G", "A"]), objects(["G", "T"], ["G", "A"])]
    found = align_all(names, [np.arange(2)] * 2)
    assert found.conflicting.tolist() == [1, 0]
    assert found.isel(np.array([1])).alleles.tolist() == [["G", "A"]]
