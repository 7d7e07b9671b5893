"""What a user calls has an example, which the doctests run."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
import xarray as xr

import genobit
import genobit.launcher.plots
from genobit.data.pairs.network import Network
from genobit.data.pairs.table import PairTable

# IPython calls them, with its shell.
HOOKS = {"genobit.load_ipython_extension", "genobit.unload_ipython_extension"}
CLASSES = {
    "Dataset.genobit": xr.Dataset.genobit,
    "DataArray.genobit": xr.DataArray.genobit,
    "Network": Network,
    "PairTable": PairTable,
}


def public() -> Iterator[tuple[str, Any]]:
    for module in (genobit, genobit.launcher.plots):
        for name in module.__all__:
            if not inspect.ismodule(getattr(module, name)):
                yield f"{module.__name__}.{name}", getattr(module, name)
    for of, cls in CLASSES.items():
        for name, member in inspect.getmembers(cls, inspect.isroutine):
            if not name.startswith("_"):
                yield f"{of}.{name}", member


PUBLIC = dict(public())


def test_methods_are_among_what_is_public():
    methods = {"Dataset.genobit.ld", "DataArray.genobit.kendall", "PairTable.to_parquet"}
    assert methods <= PUBLIC.keys()
    assert PUBLIC.keys() >= HOOKS


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - HOOKS))
def test_public_functions_have_an_example(name):
    examples = inspect.getdoc(PUBLIC[name]).partition("\nExamples\n--------\n")[2]
    assert ">>> " in examples, f"{name} has no doctest; docs/contributing.md asks for one"
