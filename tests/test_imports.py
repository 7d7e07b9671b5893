"""`import genobit` stays light: what is heavy is imported by the function that needs it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import xarray as xr

import genobit
from tests.helpers.programs import run

ROOT = Path(__file__).parents[1]
HEAVY = (
    "bokeh",
    "dask",
    "distributed",
    "holoviews",
    "ipywidgets",
    "llvmlite",
    "msprime",
    "numba",
    "panel",
    "pyarrow",
    "scipy",
    "traitlets",
    "zarr",
)


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    return set(json.loads(run("-c", code).splitlines()[-1]))


def test_import_genobit__loads_nothing_heavy():
    # pandas, which xarray imports, brings pyarrow by itself where that is installed.
    added = modules_after("import genobit") - modules_after("import numpy, xarray")
    assert not added.intersection(HEAVY)


def test_import_genobit__registers_the_accessor():
    modules_after("import genobit, xarray\nassert hasattr(xarray.Dataset, 'genobit')")
    modules_after("import genobit, xarray\nassert hasattr(xarray.DataArray, 'genobit')")


def of_users(names: list[str]) -> set[str]:
    return {name for name in names if not name.startswith("__")}


def test_dir__shows_the_public_names_alone():
    assert of_users(dir(genobit)) == {*genobit.__all__, "explore", "plots"}
    assert of_users(dir(genobit.plots)) == set(genobit.plots.__all__)
    for module in (genobit, genobit.plots):
        assert {"__doc__", "__name__", "__file__", "__all__"} <= set(dir(module))
        assert all(hasattr(module, name) for name in dir(module))


def test_dir__of_an_accessor_shows_its_methods_alone():
    for accessor in (xr.Dataset().genobit, xr.DataArray([1]).genobit):
        members = {name for of in type(accessor).__mro__ for name in vars(of)}
        public = {name for name in members if not name.startswith("_")}
        assert {name for name in dir(type(accessor)) if not name.startswith("_")} == public
        # `tests/test_completion.py` tests what is offered for some data.
        assert {name for name in dir(accessor) if not name.startswith("_")} <= public


def test_command_line__answers_without_loading_anything_heavy():
    added = modules_after(
        "from genobit.cli import parser\nparser().parse_args(['demo'])"
    ) - modules_after("import numpy, xarray")
    assert not added.intersection(HEAVY)


def test_layers__are_all_in_the_table_for_contributors():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["id"] == "layers"]
    modules = {name.strip() for row in layers for name in row.split("|")}
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    named = {name.removesuffix("/") for name in re.findall(r"`([^`\n]+)`", page)}
    assert modules - named == set(), "name them in the table of docs/contributing.md"
    # What is imported, which is a wheel where that is tested, with its own copies of two folders.
    package = Path(genobit.__file__).parent
    found = {path.stem for path in package.iterdir() if path.suffix in {"", ".py"}}
    others = {"__init__", "__pycache__", "_benchmarks", "_compiled", "_notebooks"}
    assert modules == found - others
