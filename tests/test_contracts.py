"""Every result keeps the contracts of other tools: pickle, xarray's chunks, netCDF and Zarr.

Layers keep theirs: no lower layer calls a higher one in a way that import-linter cannot see.
"""

from __future__ import annotations

import ast
import pickle
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from tests.helpers.cases import CASES, SOURCES, Case, called, name
from tests.helpers.cohorts import cohort, random_calls

VARIANTS, SAMPLES = 30, 20
PACKAGE, ROOT = Path(gb.__file__).parent, Path(__file__).parents[1]
BY_NAME = {
    "__init__.py": "public names, resolved at their first use",
    "accessor.py": "analyses by their line, and writers at their first use: both are lower",
    "data/analysis.py": "parts of the analyses that the accessor registered",
    "kendall/kernels/registry.py": "kernels of its own folder",
}
"""Files that import a module whose name is computed, and which modules these are."""


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_result__is_pickled_and_written(case: Case, tmp_path: Path) -> None:
    source = SOURCES[case.source]()
    assert type(pickle.loads(pickle.dumps(source.genobit))) is type(source.genobit)
    result = called(case, source, case.base)
    again = pickle.loads(pickle.dumps(result))
    if isinstance(result, gb.PairTable):
        pd.testing.assert_frame_equal(again.to_dataframe(), result.to_dataframe())
        return
    whole = result if isinstance(result, xr.Dataset) else result.to_dataset(name="result")
    # xarray raises for chunks that differ between a result and its labels.
    assert set(whole.chunks) <= set(whole.dims)
    right = whole.compute()
    xr.testing.assert_equal(again.compute(), result.compute())
    planes = [key for key in whole.data_vars if str(key).startswith("plane_")]
    whole.drop_vars(planes).to_netcdf(tmp_path / "x.nc")  # netCDF 3 has no uint64
    for found in (
        xr.open_dataset(tmp_path / "x.nc").load(),
        xr.open_zarr(gb.to_zarr(result, tmp_path / "x.zarr")).load(),
    ):
        values = {str(k): x.values for k, x in found.variables.items() if k in right.coords}
        for label, there in values.items():
            np.testing.assert_array_equal(there, right[label].values, err_msg=label)


def test_an_estimate__is_pickled() -> None:
    found = SOURCES["packed"]().genobit.estimate.ld()
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


def test_lazy_labels__are_in_memory_or_in_the_chunks_of_the_result() -> None:
    ds = cohort(random_calls(1, VARIANTS, SAMPLES)).chunk(variants=10)
    assert ds.variant_position.chunks is not None
    for result in (
        ds.genobit.ld(),
        ds.genobit.ld(window=5),
        ds.genobit.kendall(),
        ds.genobit.grm(),
        ds.genobit.pack(),
    ):
        assert result.chunksizes
        assert result.variant_id.chunks is None if "variant_id" in result.coords else True
    twice = ds.genobit.ld().map_blocks(lambda x: 2 * x)
    xr.testing.assert_allclose(twice.compute(), 2 * ds.genobit.ld().compute())


LABELS = {
    "dates": pd.date_range("2020-02-28", periods=SAMPLES).to_numpy(),
    "days": np.arange(SAMPLES).astype("M8[D]"),
    "spans": np.arange(SAMPLES).astype("m8[s]"),
    "no date": np.array([*["2020-01-01"] * (SAMPLES - 1), "NaT"], "M8[ns]"),
    "text": np.array([f"t{k}" for k in range(SAMPLES)]),
    "variable text": np.array([f"t{k}" for k in range(SAMPLES)], np.dtypes.StringDType()),
    "objects": np.array([f"t{k}" for k in range(SAMPLES)], object),
    "bytes": np.array([f"t{k}" for k in range(SAMPLES)], "S"),
    "booleans": np.arange(SAMPLES) % 2 == 0,
    "integers": np.arange(SAMPLES, dtype="int8"),
    "unsigned": np.arange(SAMPLES, dtype="uint16"),
    "swapped": np.arange(SAMPLES, dtype=">i4"),
    "floats": np.linspace(0, 1, SAMPLES, dtype="float32"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_a_label_of_every_type__goes_to_every_file(kind: str, tmp_path: Path) -> None:
    given = LABELS[kind]
    ds = cohort(random_calls(1, VARIANTS, SAMPLES)).assign_coords(label=("samples", given))
    grm = ds.genobit.grm()
    right = np.asarray(given.astype("M8[ns]") if given.dtype.kind == "M" else given)
    if given.dtype.kind in "SUTO":
        right = np.array([f"t{k}" for k in range(SAMPLES)], object)
    gb.to_zarr(ds.genobit.pack(), tmp_path / "planes")
    gb.to_zarr(grm, tmp_path / "grm")
    grm.to_netcdf(tmp_path / "grm.nc")
    for found in (
        xr.open_zarr(tmp_path / "planes").label,
        xr.open_zarr(tmp_path / "grm").label_0,
        xr.open_dataset(tmp_path / "grm.nc").label_1,
    ):
        there = found.values
        same = there.astype(object) if right.dtype == object else there.astype(right.dtype)
        np.testing.assert_array_equal(same, right)
    pairs = ds.genobit.grm_pairs("king", threshold=-9.0)
    written = pd.read_parquet(pairs.to_parquet(tmp_path / "pairs"))
    assert len(written) == len(pairs.to_dataframe()) > 150
    for _ in range(2):
        ds.genobit.epistasis(np.arange(SAMPLES) % 2, top=3, checkpoint=tmp_path / "run")


def test_tables_without_rows__keep_text(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    ds = cohort(rng.integers(0, 2, (VARIANTS, SAMPLES, 2)).astype("int8"), contigs=2)
    blocks = ds.genobit.ld_blocks("1kb")
    clumps = ds.genobit.ld_clump(np.ones(VARIANTS), 0.5, 10, 1e-8, 0.1)
    assert blocks.contig.values.astype(str).tolist() == []
    for table, columns in ((blocks, ["contig", "first_id"]), (clumps, ["clump_variant_id"])):
        assert table.sizes["blocks" if table is blocks else "clumps"] == 0
        path = tmp_path / f"{columns[0]}.nc"
        table.to_netcdf(path)
        for found in (xr.open_dataset(path), xr.open_zarr(gb.to_zarr(table, path.with_suffix("")))):
            assert {found[column].dtype.kind for column in columns} <= set("OUT")


def floors() -> dict[str, int]:
    """Return the floor of each package in the contract of layers, the lowest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["id"] == "layers"]
    rows = [[name.strip() for name in row.split("|")] for row in reversed(layers)]
    return {name: floor for floor, row in enumerate(rows) for name in row}


def upward(source: str, file: str, floor: dict[str, int]) -> Iterator[str]:
    """Yield the calls of higher layers in a file: by accessor, or by a module's name."""
    own = floor.get(file.split("/", maxsplit=1)[0].removesuffix(".py"), len(floor))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr == "genobit" and own < floor["accessor"]:
            yield f"{file}:{node.lineno} calls the accessor: {ast.unparse(node)}"
        named = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module")
        if not named:
            continue
        target = node.args[0]
        if not isinstance(target, ast.Constant):
            if file not in BY_NAME:
                yield f"{file}:{node.lineno} imports by a computed name: {ast.unparse(node)}"
        elif (parts := target.value.split("."))[0] == "genobit" and (
            len(parts) == 1 or floor[parts[1]] > own
        ):
            yield f"{file}:{node.lineno} imports a higher layer: {ast.unparse(node)}"


def test_no_layer__calls_a_higher_one() -> None:
    found, floor = [], floors()
    for path in sorted(PACKAGE.rglob("*.py")):
        source, file = path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).as_posix()
        found += upward(source, file, floor)
    assert found == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("ld/decay.py", "ds.genobit.ld()"),
        ("data/model.py", 'importlib.import_module("genobit.ld")'),
        ("accessor.py", 'importlib.import_module("genobit.launcher.explore")'),
        ("accessor.py", 'importlib.import_module("genobit")'),
        ("ld/decay.py", "importlib.import_module(name)"),
    ],
)
def test_calls_of_higher_layers__are_found(file: str, source: str) -> None:
    assert len(list(upward(source, file, floors()))) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("launcher/warm.py", "ds.genobit.ld()"),
        ("ld/decay.py", 'importlib.import_module("genobit.data")'),
        ("ld/decay.py", 'importlib.import_module("scipy.special")'),
    ],
)
def test_calls_of_lower_layers__are_allowed(file: str, source: str) -> None:
    assert not list(upward(source, file, floors()))
