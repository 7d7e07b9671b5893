"""Names of variants and samples in every form, in every table and file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from genobit.data import labels
from tests.helpers.cohorts import cohort
from tests.io.formats import FORMATS

DIMS = {"variants": "variant_id", "samples": "sample_id"}
SIZES = {"variants": 6, "samples": 5}
CALLS = np.random.default_rng(2).integers(0, 2, (6, 5, 2)).astype("int8")
"""Every variant has two alleles, so that every pair has a row."""
STRINGS = np.dtypes.StringDType()


def names_of(dim: str, form: str) -> list[str]:
    """Numbers that are not in order, so that no form counts 0, 1, 2, ..."""
    numbers = [f"{7 * k % 11 + 3}" for k in range(SIZES[dim])]
    return numbers if "integers" in form else [f"{dim[0]}-{number}" for number in numbers]


FORMS: dict[str, Callable[[xr.Dataset, str, list[str]], xr.Dataset]] = {
    "variable": lambda ds, dim, names: ds.assign({DIMS[dim]: (dim, names)}),
    "variable of bytes": lambda ds, dim, names: ds.assign({DIMS[dim]: (dim, np.array(names, "S"))}),
    "variable of StringDType": lambda ds, dim, names: ds.assign(
        {DIMS[dim]: (dim, np.array(names, STRINGS))}
    ),
    "variable of integers": lambda ds, dim, names: ds.assign(
        {DIMS[dim]: (dim, np.array(names, np.int64))}
    ),
    "coordinate": lambda ds, dim, names: ds.assign_coords({DIMS[dim]: (dim, names)}),
    "set_index": lambda ds, dim, names: ds.assign({DIMS[dim]: (dim, names)}).set_index(
        {dim: DIMS[dim]}
    ),
    "index of objects": lambda ds, dim, names: ds.assign_coords({dim: np.array(names, object)}),
    "index of StringDType": lambda ds, dim, names: ds.assign_coords(
        {dim: np.array(names, STRINGS)}
    ),
    "index of pandas": lambda ds, dim, names: ds.assign_coords({dim: pd.Index(names, dtype="str")}),
    "index of several levels": lambda ds, dim, names: ds.assign(
        {DIMS[dim]: (dim, names), "level": (dim, np.arange(len(names)))}
    ).set_index({dim: [DIMS[dim], "level"]}),
}


def dataset(form: str, dim: str) -> tuple[xr.Dataset, list[str]]:
    ds = cohort(CALLS).drop_vars(DIMS[dim])
    names = names_of(dim, form)
    return FORMS[form](ds, dim, names), names


def reread(form: str) -> Callable[..., Any]:
    return lambda ds, dim, folder: FORMATS[form].through(ds, folder / "a")[DIMS[dim]].values


def pairs(ds: xr.Dataset, dim: str, _: Path) -> list[str]:
    """The names of all members in a table of their pairs."""
    one = dim.removesuffix("s")
    found = (
        ds.genobit.ld_pairs(threshold=0)
        if dim == "variants"
        else ds.genobit.grm_pairs("king", threshold=-9)
    )
    table = found.to_dataframe()
    sides = [
        table[[f"{one}_{k}", f"{DIMS[dim]}_{k}"]].set_axis(["k", "name"], axis=1) for k in "01"
    ]
    members = pd.concat(sides).drop_duplicates().sort_values("k")
    assert members.k.tolist() == list(range(SIZES[dim]))
    return members.name.tolist()


def matrix(ds: xr.Dataset, dim: str, _: Path) -> Any:
    found = ds.genobit.ld() if dim == "variants" else ds.genobit.grm()
    return found[f"{DIMS[dim]}_1"].values


DOORS: dict[str, Callable[[xr.Dataset, str, Path], Any]] = {
    **{f"to_{form}": reread(form) for form in FORMATS},
    "pairs": pairs,
    "matrix": matrix,
    "pack": lambda ds, dim, folder: matrix(ds.genobit.pack(), dim, folder),
    "stats": lambda ds, dim, _: (
        (ds.genobit.variant_stats() if dim == "variants" else ds.genobit.sample_stats())[
            DIMS[dim]
        ].values
    ),
    "pca": lambda ds, dim, _: ds.genobit.pca(2)[DIMS[dim]].values,
    "sel": lambda ds, dim, _: ds.genobit.sel(**{dim: labels.ids(ds, dim)})[DIMS[dim]].values,
    "Selection": lambda ds, dim, _: getattr(gb.Selection(ds, **{dim: range(SIZES[dim])}), dim),
    "join": lambda ds, dim, _: (
        ds.genobit.join(
            ds.assign(again=(dim, labels.ids(labels.plain(ds), dim))),
            on=DIMS[dim],
            columns="again",
        ).again.values
    ),
}


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("door", DOORS)
def test_names__in_every_form(tmp_path: Path, door: str, form: str, dim: str) -> None:
    ds, names = dataset(form, dim)
    found = DOORS[door](ds, dim, tmp_path)
    assert [x.decode() if isinstance(x, bytes) else str(x) for x in found] == names


def test_an_index_of_other_values__has_no_names(tmp_path: Path) -> None:
    ds = cohort(CALLS).drop_vars("variant_id")
    for k, index in enumerate([range(6), np.arange(6) + 0.5]):
        found = gb.open_plink(gb.to_plink(ds.assign_coords(variants=index), tmp_path / f"{k}"))
        assert found.variant_id.values.tolist() == ["."] * 6
    both = cohort(CALLS).assign_coords(variants=list("uvwxyz"))
    assert labels.ids(both, "variants").tolist() == both.variant_id.values.tolist()


@pytest.mark.parametrize("form", FORMATS)
def test_positions_that_are_the_index__are_found_again(tmp_path: Path, form: str) -> None:
    ds = cohort(CALLS)
    indexed = ds.set_index(variants="variant_position")
    with pytest.raises(KeyError, match=r"If the index has it: ds.assign") as raised:
        FORMATS[form].write(indexed, tmp_path / "a")
    code = str(raised.value.args[0]).partition("has it: ")[2].partition(". If nothing")[0]
    found = FORMATS[form].through(eval(code, {"ds": indexed}), tmp_path / "a")
    for name in ("variant_position", "variant_id"):
        np.testing.assert_array_equal(found[name], ds[name])


CASE = np.array([0, 1, 1, 0, 1])
METHODS: dict[str, Callable[[Any], Any]] = {
    "ld": lambda x: x.ld(),
    "ld of others": lambda x: x.ld(other=x.isel(variants=[0, 2])),
    "ld_pairs": lambda x: x.ld_pairs(threshold=0).to_dataframe(),
    "ld_prune": lambda x: x.ld_prune(3, threshold=0.5),
    "grm": lambda x: x.grm(),
    "grm_pairs": lambda x: x.grm_pairs("king", threshold=-9).to_dataframe(),
    "pca": lambda x: x.pca(2),
    "project": lambda x: x.project(x.pca(2)),
    "kendall": lambda x: x.kendall(),
    "epistasis": lambda x: x.epistasis(CASE, top=3, progress=False),
    "variant_stats": lambda x: x.variant_stats(),
    "sample_stats": lambda x: x.sample_stats(),
    "pack": lambda x: x.pack(),
    "sel": lambda x: x.sel(variants="chr1:1-1Mb", samples=["s3", "s1"]),
    "join": lambda x: x.join(pd.DataFrame({"IID": ["s3", "s0"], "age": [1, 2]})),
}
LEVELS = {
    "variants": ["variant_contig", "variant_position"],
    "samples": ["sample_population", "sample_id"],
}


@pytest.mark.parametrize("dim", LEVELS)
@pytest.mark.parametrize("method", METHODS)
def test_levels__are_coordinates_of_every_result(method: str, dim: str) -> None:
    ds = cohort(CALLS).assign_coords(sample_population=("samples", list("ababa")))
    ds = ds.set_coords(LEVELS[dim])
    found = METHODS[method](ds.set_index({dim: LEVELS[dim]}).genobit)
    right = METHODS[method](ds.genobit)
    if isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(found, right)
    else:
        xr.testing.assert_equal(found, right)


def test_levels__of_another_dataset() -> None:
    ds = cohort(CALLS)
    levels = ds.set_index(variants=LEVELS["variants"])
    for method in ("ld", "kendall"):
        found = getattr(levels.genobit, method)(other=levels)
        np.testing.assert_array_equal(found, getattr(ds.genobit, method)(other=ds))
        assert "variant_position_1" in found.coords


def test_levels__are_stored(tmp_path: Path) -> None:
    ds = cohort(CALLS).set_index(variants=LEVELS["variants"])
    again = xr.open_zarr(gb.to_zarr(ds, tmp_path / "a.zarr"))
    np.testing.assert_array_equal(again.variant_position, ds.variant_position)


def test_levels__of_arrays() -> None:
    names = {"family": list("xxyyzz"), "member": list("abcdef")}
    values = np.random.default_rng(0).random((6, 9))
    array = xr.DataArray(values, {k: ("gene", x) for k, x in names.items()}, ("gene", "sample"))
    levels = array.set_index(gene=["family", "member"])
    xr.testing.assert_equal(levels.genobit.kendall(), array.genobit.kendall())
    bits = levels > 0.5
    xr.testing.assert_equal(
        bits.genobit.similarity(dim="sample"), (array > 0.5).genobit.similarity(dim="sample")
    )
    pairs = levels.genobit.kendall_pairs(0.0, None, names="member").to_dataframe()
    assert set(pairs.name_0) | set(pairs.name_1) == set("abcdef")


@pytest.mark.parametrize("index", [np.arange(6), np.arange(1, 7), np.arange(6) * 0.5])
def test_an_index_of_numbers__holds_no_names(index: np.ndarray) -> None:
    ds = cohort(CALLS, contigs=2).drop_vars("variant_id").assign_coords(variants=index)
    assert "variant_id" not in ds.genobit.variant_stats().coords
    # A number is a chromosome, as without the index.
    assert ds.genobit.sel(variants="2").sizes["variants"] == 3


def test_an_index_of_contigs__holds_their_names(tmp_path: Path) -> None:
    ds = cohort(CALLS, contigs=2)
    indexed = ds.set_index(contigs="contig_id")
    assert "contig_id" not in indexed.variables
    assert indexed.genobit.sel(variants="chr2").variant_id.equals(
        ds.genobit.sel(variants="chr2").variant_id
    )
    for name, form in FORMATS.items():
        found = form.through(indexed, tmp_path / name)
        assert found.contig_id.values.tolist() == ["chr1", "chr2"]
