"""The tables of "From sgkit and scikit-allel": lines run, and give the numbers of the programs."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.pages import blocks

pytestmark = pytest.mark.filterwarnings("ignore")

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "from-sgkit-and-scikit-allel.md"
ROW = re.compile(r"^\| `(.+?)`.* \| `(.+?)` \| .*\|$", re.MULTILINE)
LINES = dict(ROW.findall(PAGE.read_text("utf-8")))


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The names that the cells of the page define."""
    found: dict[str, Any] = {}
    with contextlib.chdir(tmp_path_factory.mktemp("peers")):
        for body in blocks(PAGE.read_text("utf-8"), ("{code-cell}",)):
            exec(compile(body, str(PAGE), "exec"), found)
        found["gb"].to_vcf(found["ds"], "own.vcf")
        yield found


def test_rows_of_the_page__are_found() -> None:
    assert len(LINES) == 25


@pytest.mark.parametrize("theirs", LINES)
def test_lines__run(names: dict[str, Any], theirs: str) -> None:
    assert eval(LINES[theirs], names) is not None


def upper(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.triu_indices(len(matrix), 1)]


@pytest.mark.parametrize(
    ("theirs", "tolerance"),
    [
        ("g.count_alleles()", 0),
        ("g.to_n_alt(fill=-1)", 0),
        ("g.is_called()", 0),
        ("allel.heterozygosity_observed(g)", 1e-12),
        ("allel.heterozygosity_expected(af, 2)", 1e-12),
        ("allel.rogers_huff_r(gn)", 1e-3),
        ("allel.rogers_huff_r_between(gn, gn[:5])", 1e-3),
        ("allel.read_vcf(path)", 0),
    ],
)
def test_scikit_allel__has_the_same_numbers(
    names: dict[str, Any], theirs: str, tolerance: float
) -> None:
    allel = pytest.importorskip("allel", reason="scikit-allel needs an environment: make sgkit")
    g = allel.GenotypeArray(names["g"])
    af = g.count_alleles().to_frequencies()
    ours = eval(LINES[theirs], names)
    given = {"allel": allel, "g": g, "gn": g.to_n_alt(fill=-1), "af": af, "path": "own.vcf"}
    expected = eval(theirs, given)
    if theirs == "g.count_alleles()":
        expected = expected[:, 1]
    if theirs == "allel.rogers_huff_r(gn)":
        ours = upper(ours.values)
    if theirs == "allel.read_vcf(path)":
        ours, expected = ours.call_genotype, expected["calldata/GT"]
    np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance)
