"""Labelled arguments: aligned by their labels, or refused with the first difference."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import traitlets
import xarray as xr

import genobit as gb
from genobit import explore, plots
from genobit.data import aligning
from tests.data.labelled_arguments import CASES, N, genotypes, given, labelled

KINDS: list[Any] = ["U", object, "S", np.dtypes.StringDType()]


RESULT = "is a result or data of its own, whose labels it carries along"
PLACES = "takes positions or names, not a value for each member"
UNORDERED = "draws the distribution of the values, whose order does not matter"
SAME = "is compared label by label, and refused"
PAIR = "is a pair of numbers"
CONTIGS = "names contigs, not variants"
EXEMPT = {
    "da.ancestral_states tree": RESULT,
    "da.join columns": "are names",
    "da.join on": "are names",
    "da.join table": "is joined by label; tests/io/test_join.py",
    "da.kendall other": SAME,
    "da.parsimony costs": "is by state, and aligned by its own labels",
    "da.parsimony tree": RESULT,
    "da.parsimony_search outgroup": PLACES,
    "da.parsimony_search start": RESULT,
    "da.similarity other": SAME,
    "ds.genetic_map table": "is joined by position; tests/io/test_genetic_map.py",
    "ds.join columns": "are names",
    "ds.join on": "are names",
    "ds.join table": "is joined by label; tests/data/test_join.py",
    "ds.report colour_by": "is drawn by plots.pca_scatter, which has a case",
    "ds.report sections": "are names",
    "ds.kendall other": SAME,
    "ds.ld other": SAME,
    "ds.ld_decay bins": "are edges of distance",
    "ds.project pcs": SAME,
    "ds.unrelated pairs": "are matched by identifier, as tests/grm/test_listed.py tests",
    "Selection data": RESULT,
    "explore.epistasis result": SAME,
    **{
        f"explore.{name} selection": "holds positions, and no labels"
        for name in ("epistasis", "grm", "kendall", "ld", "parsimony")
    },
    "explore.grm grm": SAME,
    "explore.grm pcs": SAME,
    "explore.kendall pairs": SAME,
    "explore.ld association": "is matched by identifier, as tests/ld/test_association.py tests",
    "explore.ld blocks": "is drawn at its own positions",
    "explore.ld genes": "is drawn at its own positions",
    "explore.parsimony trees": RESULT,
    "plots.allele_frequency_spectrum allele_frequency": UNORDERED,
    "plots.degree_histogram degree": UNORDERED,
    "plots.grm_heatmap selected": PLACES,
    "plots.ld_heatmap genes": "is drawn at its own positions",
    "plots.ld_track genes": "is drawn at its own positions",
    "plots.ld_triangle genes": "is drawn at its own positions",
    "plots.ld_heatmap selected": PLACES,
    "plots.ld_triangle selected": PLACES,
    "plots.tanglegram right": RESULT,
}


def arguments() -> Iterator[tuple[str, inspect.Parameter]]:
    """Every argument of a public method, plot and selection."""
    owners = [("ds.", xr.Dataset.genobit), ("da.", xr.DataArray.genobit)]
    public = [
        (f"{prefix}{name}", member)
        for prefix, owner in owners
        for name, member in inspect.getmembers(owner, inspect.isfunction)
        # Writers hand the data on to functions of gb.
        if not name.startswith(("_", "to_"))
    ]
    public += [
        (f"explore.{name}", member)
        for owner in (explore.Explore, explore.ExploreArray)
        for name, member in inspect.getmembers(owner, inspect.isfunction)
        if not name.startswith("_")
    ]
    public += [(f"plots.{name}", getattr(plots, name)) for name in plots.__all__]
    public += [("Selection", gb.Selection), ("EpistasisLimits", gb.EpistasisLimits)]
    for name, function in public:
        for parameter in inspect.signature(function).parameters.values():
            yield f"{name} {parameter.name}", parameter


def test_every_argument_that_takes_arrays__has_a_case() -> None:
    several = re.compile(
        r"ArrayLike|DataArray|Dataset|ndarray|Series|Selection|Network|Sequence|\bAny\b"
    )
    first_of_plots = {
        f"plots.{name} {next(iter(inspect.signature(getattr(plots, name)).parameters))}"
        for name in plots.__all__
    }
    taking = {
        name
        for name, parameter in arguments()
        if several.search(str(parameter.annotation))
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }
    # The first argument of a plot is what it draws; `ds=` and `blocks=` of one are data as well.
    drawn = {x for x in taking if x.startswith("plots.") and x.split()[1] in {"ds", "blocks"}}
    taking -= first_of_plots - set(CASES) | drawn
    taking |= {"Selection variants", "Selection samples"}
    assert sorted(taking - set(CASES) - set(EXEMPT)) == []
    assert sorted((set(CASES) | set(EXEMPT)) - taking - first_of_plots) == []


@pytest.mark.parametrize("name", CASES)
def test_labels_in_another_order__are_aligned(name: str) -> None:
    case = CASES[name]
    values, ids = given(case)
    right = case.run(labelled(values, case.dim, ids))
    order = np.random.default_rng(1).permutation(ids.size)
    more = np.append(values, values[:2]), np.append(ids, ["other", "another"])
    ways: list[Any] = [
        labelled(values[::-1], case.dim, ids[::-1]),
        labelled(values[order], case.dim, ids[order].astype("S")),
        labelled(values[order], case.dim, ids[order].astype(np.dtypes.StringDType())),
        labelled(more[0][::-1], case.dim, more[1][::-1]),
        pd.Series(values[order], ids[order]),
        pd.Series(values),
    ]
    if case.plain:
        ways.append(values)
    else:
        ways = [way.rename("y") for way in ways]
    for way in ways:
        np.testing.assert_array_equal(case.run(way), right)
    # The order matters, so that a test of it can fail.
    turned = case.run(labelled(values[::-1], case.dim, ids))
    assert np.shape(turned) != np.shape(right) or (np.asarray(turned) != np.asarray(right)).any()


@pytest.mark.parametrize("name", CASES)
def test_labels_that_are_missing_or_repeated__are_refused(name: str) -> None:
    case = CASES[name]
    values, ids = given(case)
    refused = (ValueError, traitlets.TraitError)
    unknown = np.where(np.arange(ids.size) == 5, "unknown", ids).astype(object)
    lacking = re.escape(f"no value for 1 of {ids.size} {case.dim}, first for ")
    for way in (labelled(values, case.dim, unknown), pd.Series(values, unknown)):
        with pytest.raises(refused, match=rf"{lacking}\w+\[5\] = '{re.escape(ids[5])}'"):
            case.run(way)
    twice = np.where(np.arange(ids.size) == 5, ids[6], ids)
    with pytest.raises(refused, match=rf"\[6\] of .* repeats '{re.escape(ids[6])}'"):
        case.run(labelled(values, case.dim, twice))


@pytest.mark.parametrize("name", CASES)
def test_another_dimension__is_refused(name: str) -> None:
    case = CASES[name]
    values, _ = given(case)
    other = "variants" if case.dim == "samples" else "samples"
    for way in (xr.DataArray(values, dims=other), labelled(values, other, np.arange(values.size))):
        with pytest.raises((ValueError, traitlets.TraitError), match=f"{other}.*{case.dim}"):
            case.run(way)


@pytest.mark.parametrize("ours", KINDS)
@pytest.mark.parametrize("theirs", KINDS)
def test_any_text_type__is_aligned_to_any_other(ours: Any, theirs: Any) -> None:
    ids = np.array(["a", "bb", "ccc", "dé"], object)
    kinds = [(k if k != "S" else "utf-8") for k in (ours, theirs)]
    here, there = (
        np.char.encode(ids.astype(str), "utf-8") if k == "utf-8" else ids.astype(k) for k in kinds
    )
    ds = xr.Dataset({"sample_id": ("samples", here)})
    values = xr.DataArray(np.arange(4), {"sample_id": ("samples", there)}, dims="samples")
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        found = aligning.aligned(ds, values.isel(samples=order), "samples", "x")
        assert found.tolist() == [0, 1, 2, 3]
        series = pd.Series(np.array(order), there[order].astype(object))
        assert aligning.aligned(ds, series, "samples", "x").tolist() == [0, 1, 2, 3]


def test_repeated_identifiers__need_one_order_or_positions() -> None:
    ds = xr.Dataset({"variant_id": ("variants", [".", ".", "rs1"])})
    values = ds.assign(x=("variants", [1, 2, 3])).set_coords("variant_id").x
    assert aligning.aligned(ds, values, "variants", "x").tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"variant_id\[1\] of the Dataset repeats '\.'"):
        aligning.aligned(ds, values[::-1], "variants", "x")
    # Told apart by their positions, numbered contigs against the same by name.
    placed = {"variant_position": ("variants", [5, 9, 5]), "contig_id": ("contigs", ["1", "2"])}
    ds = ds.assign(variant_contig=("variants", [0, 0, 1]), **placed)
    position = {"variant_position": ("variants", [5, 9, 5])}
    for contig in ([0, 0, 1], ["1", "1", "2"]):
        values = values.assign_coords(variant_contig=("variants", contig), **position)
        assert aligning.aligned(ds, values[::-1], "variants", "x").tolist() == [1, 2, 3]
    unnamed = ds.drop_vars("variant_id")
    assert aligning.aligned(unnamed, values[::-1], "variants", "x").tolist() == [1, 2, 3]
    moved = values.assign_coords(variant_position=("variants", [5, 8, 5]))
    with pytest.raises(ValueError, match=r"first for contig:position\[1\] = '1:9 \.'"):
        aligning.aligned(ds, moved, "variants", "x")


def test_contigs_alone__are_compared() -> None:
    ds = xr.Dataset({"variant_contig": ("variants", [0, 0, 1])})
    values = ds.assign(x=("variants", [1, 2, 3])).set_coords("variant_contig").x
    assert aligning.aligned(ds, values, "variants", "x").tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"contig\[1\] of the Dataset repeats '0'"):
        aligning.aligned(ds, values[::-1], "variants", "x")


def test_coordinates_of_the_dimension__are_labels() -> None:
    named = xr.DataArray([3, 1, 2], {"samples": ["c", "a", "b"]}, dims="samples")
    for ds in (
        xr.Dataset({"sample_id": ("samples", ["a", "b", "c"])}),
        xr.Dataset(coords={"samples": ["a", "b", "c"]}),
    ):
        assert aligning.aligned(ds, named, "samples", "x").tolist() == [1, 2, 3]


def test_series__with_an_index_of_numbers() -> None:
    ds = xr.Dataset({"sample_id": ("samples", ["a", "b", "c"])})
    by_position = pd.Series([1, 2, 3])
    assert aligning.aligned(ds, by_position, "samples", "x").tolist() == [1, 2, 3]
    # Rows in another order than their numbers: whose they are is not known.
    for index in ([2, 0, 1], [10, 11, 12], range(2, -1, -1)):
        with pytest.raises(ValueError, match=r"no value for 3 of 3 .* sample_id\[0\] = 'a'"):
            aligning.aligned(ds, pd.Series([1, 2, 3], index), "samples", "x")
    levels = pd.MultiIndex.from_arrays([[1, 1, 1], ["c", "b", "a"]], names=["fid", "sample_id"])
    assert aligning.aligned(ds, pd.Series([3, 2, 1], levels), "samples", "x").tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"levels \['fid', 'iid'\], and none .* 'sample_id'"):
        aligning.aligned(ds, pd.Series([3, 2, 1], levels.rename(["fid", "iid"])), "samples", "x")


def test_positions__are_taken_as_they_are() -> None:
    ds = genotypes().set_coords(["variant_id", "sample_id"])
    positions = xr.DataArray(
        [3, 1], dims="variants", coords={"variant_id": ("variants", list("xy"))}
    )
    assert ds.genobit.isel(variants=positions).variant_id.values.tolist() == ["rs3", "rs1"]
    index = ds.genobit.ld_clump(np.full(N, 0.01), 0.5, 3, 0.1, 0.1).index_variant
    assert ds.genobit.isel(variants=index).sizes["variants"] == index.size
    of_samples = xr.DataArray([3, 1], dims="samples")
    with pytest.raises(ValueError, match="is along 'samples', expected positions along 'variants'"):
        ds.genobit.isel(variants=of_samples)
    nullable = pd.Series(np.arange(N) < 2, ds.sample_id.values, dtype="boolean")[::-1]
    assert ds.genobit.isel(samples=nullable).sample_id.values.tolist() == ["s0", "s1"]
