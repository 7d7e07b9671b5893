"""Arguments of public functions: one vocabulary, few arguments, consistent types."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.public import Parameters, figures, functions, methods, users

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "vocabulary.md"
ROW = re.compile(r"^\| `(\w+)` \| (.+) \| (.+) \|$", re.MULTILINE)
MOST = 10
OF_TESTS = {"kendall": 2, "kendall_pairs": 1}
"""More arguments of methods that have those of a test in scipy and of `corr` in pandas."""
TYPES = {
    "allele_frequency": {"str | ArrayLike | DataArray"},
    "compute": {"bool"},
    "effort": {"SearchEffort"},
    "kernel": {"str"},
    "limits": {"EpistasisLimits"},
    "method": {"str"},
    "progress": {"bool"},
    "seed": {"int"},
    "statistic": {"str"},
    "threshold": {"float"},
    "window": {"int | str", "str"},
}
"""Types of shared arguments, without None."""
OWN_TYPES = {"other": "the set to compare with is of the kind of the data"}


def kind(parameter: inspect.Parameter) -> str:
    """Type without None and without the names of modules."""
    return re.sub(r"\b[a-z_]+\.(?=[A-Z])", "", str(parameter.annotation)).removesuffix(" | None")


@pytest.mark.parametrize("parts", [methods, functions, figures])
def test_number_of_arguments__is_at_most_ten(
    parts: Callable[[], Iterator[tuple[str, Parameters]]],
) -> None:
    many = {
        name: list(given) for name, given in parts() if len(given) > MOST + OF_TESTS.get(name, 0)
    }
    assert many == {}


def test_page__lists_every_argument_with_its_methods() -> None:
    rows = ROW.findall(PAGE.read_text())
    arguments = [argument for argument, _, _ in rows]
    assert arguments == sorted(users())
    listed = {argument: set(re.findall(r"`([\w.]+)`", names)) for argument, _, names in rows}
    assert listed == users()


def test_types__are_those_of_the_vocabulary() -> None:
    found = defaultdict(set)
    for _, parameters in methods():
        for argument, parameter in parameters.items():
            found[argument].add(kind(parameter))
    assert {argument: found[argument] for argument in TYPES} == TYPES
    several = {argument for argument, kinds in found.items() if len(kinds) > 1}
    assert several - set(OWN_TYPES) == {argument for argument in TYPES if len(TYPES[argument]) > 1}


RUNS: dict[str, Callable[[xr.Dataset, Any], Any]] = {
    "grm": lambda ds, p: ds.genobit.grm("vanraden2", allele_frequency=p).values,
    "grm_pairs": lambda ds, p: ds.genobit.grm_pairs(
        "vanraden2", threshold=-9, allele_frequency=p
    ).to_dataframe(),
    "ld_prune": lambda ds, p: ds.genobit.ld_prune(9, 1, 0.1, allele_frequency=p).values,
    "pca": lambda ds, p: ds.genobit.pca(2, allele_frequency=p).scores.values,
}


def test_allele_frequency__is_tried_for_every_method() -> None:
    assert users()["allele_frequency"] == {*RUNS, "plots.allele_frequency_spectrum"}


@pytest.mark.parametrize("method", RUNS)
def test_allele_frequency__takes_arrays_names_and_labelled_arrays(method: str) -> None:
    ds = cohort(random_calls(3, 30, 12)).set_coords("variant_id")
    p = np.random.default_rng(1).uniform(0.1, 0.9, 30)
    ds = ds.assign(panel=("variants", p))
    expected = np.asarray(RUNS[method](ds, p))
    assert not np.array_equal(expected, np.asarray(RUNS[method](ds, None)))
    for given in ("panel", list(p), ds.panel, ds.panel[::-1]):
        np.testing.assert_array_equal(np.asarray(RUNS[method](ds, given)), expected)
