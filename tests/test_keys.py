"""Names of tasks: equal for equal inputs, and another one for whatever changes a result."""

from __future__ import annotations

import gc
import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import tskit
import xarray as xr
from dask.callbacks import Callback

import genobit as gb
from genobit.accessor import GenobitDataArrayAccessor, GenobitDatasetAccessor
from genobit.data.estimates import NOT_ESTIMATED
from genobit.engine.schedule.graphs import layer_name
from tests.helpers.bgen_files import random_probabilities
from tests.helpers.bgen_files import write as write_bgen
from tests.helpers.cases import (
    CASES,
    NO_RESULT,
    SOURCES,
    Case,
    by_argument,
    by_variable,
    called,
    computed,
    name,
)
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.plink_files import write_fileset

Opening = Callable[[], xr.DataArray]
LAZY = [case for case in CASES if not case.eager]
DECIDES = {"call_genotype", "values", "plane_carrier"}
FAST = {"ld_pairs", "ld_blocks", "ld_decay", "grm_pairs", "similarity", "parsimony"}
"""Methods of which every call is compared; in the slow run, all."""
OBJECTS = {"limits": gb.EpistasisLimits, "effort": gb.SearchEffort}
"""Arguments that are objects: each of their fields has another value."""
NO_MATTER = {"kernel", "multiallelic"}
"""Any kernel computes the same, and no variant here has three alleles."""


def identity(result: Any) -> str:
    """What a lazy result is known by: names of what is computed, and labels that are there."""
    if isinstance(result, xr.DataArray):
        result = result.to_dataset(name="result")
    if not isinstance(result, xr.Dataset):
        return layer_name("table", sorted({key[0] for key in result._parts.keys}))
    parts = {
        str(key): variable.data.name if isinstance(variable.data, da.Array) else variable.values
        for key, variable in result.variables.items()
    }
    attributes = [str(x.attrs) for x in (result, *result.variables.values())]
    return layer_name("result", dict(sorted(parts.items())), attributes)


def same(found: Any, right: Any) -> bool:
    if isinstance(right, pd.DataFrame):
        return bool(found.equals(right))
    return bool(found.identical(right))


@pytest.mark.parametrize("accessor", [GenobitDatasetAccessor, GenobitDataArrayAccessor])
def test_every_parameter_of_every_method__has_another_value(accessor: type) -> None:
    arrays = accessor is GenobitDataArrayAccessor
    of = [case for case in CASES if isinstance(SOURCES[case.source](), xr.DataArray) == arrays]
    methods = inspect.getmembers(accessor, inspect.isfunction)
    # A figure, a page, a frame or a file of a result is no result.
    public = {k: method for k, method in methods if k[0] != "_" and k not in NOT_ESTIMATED}
    assert set(public) == {case.method for case in of}
    for key, method in public.items():
        parameters = set(inspect.signature(method).parameters) - {"self"} - NO_RESULT
        changed = {change for case in of if case.method == key for change in case.changes}
        fields = {f"{name}.{x.name}" for name, kind in OBJECTS.items() for x in fields_of(kind)}
        expected = (parameters - set(OBJECTS)) | {
            x for x in fields if x.split(".")[0] in parameters
        }
        assert changed == expected, key


@pytest.mark.parametrize("case", LAZY, ids=name)
def test_names__change_with_every_argument_and_are_equal_for_equal_ones(case: Case) -> None:
    source = SOURCES[case.source]
    for argument, base, changed in by_argument(case):
        before = identity(called(case, source(), base))
        assert before == identity(called(case, source(), base)), argument
        after = called(case, source(), changed)
        assert argument in NO_MATTER or before != identity(after), argument


@pytest.mark.slow
@pytest.mark.parametrize("case", LAZY, ids=name)
def test_names__change_with_every_variable_that_changes_a_result(case: Case) -> None:
    base = called(case, SOURCES[case.source](), case.base)
    before, right = identity(base), computed(base)
    # dask gives two tables of one name the same object, and with it the same result.
    is_table = not isinstance(base, xr.DataArray | xr.Dataset)
    del base
    if is_table:
        gc.collect()
    for variable, source in by_variable(case):
        try:
            changed = called(case, source, case.base)
        except ValueError:  # refused
            assert variable not in DECIDES
            continue
        if identity(changed) == before:
            assert variable not in DECIDES
            assert same(computed(changed), right), variable
        del changed
        if is_table:
            gc.collect()


def names() -> dict[str, str]:
    """Of every lazy method."""
    return {name(case): identity(called(case, SOURCES[case.source](), case.base)) for case in LAZY}


@pytest.mark.slow
def test_names__are_equal_in_another_process() -> None:
    code = "import json, tests.test_keys as t; print(json.dumps(t.names()))"
    command = [sys.executable, "-W", "ignore", "-c", code]
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    root = Path(__file__).parents[1]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=root, env=environment
    )
    assert json.loads(done.stdout.splitlines()[-1]) == names()


@pytest.mark.parametrize("which", ["fast", pytest.param("all", marks=pytest.mark.slow)])
def test_tasks_of_one_name__have_one_result(which: str) -> None:
    """Whatever a method computes on the way, when called with other arguments or data."""
    results: dict[Any, str] = {}
    owner: dict[Any, str] = {}
    clashes: set[str] = set()
    what = "made ready"

    def see(key: Any, result: Any, *_: Any) -> None:
        found = layer_name("result", result)
        if results.setdefault(key, found) != found:
            clashes.add(f"{what}: {key} is also of {owner[key]}")
        owner.setdefault(key, what)

    with dask.config.set(scheduler="synchronous"), Callback(posttask=see):
        for case in CASES:
            if which == "fast" and case.method not in FAST:
                continue
            source = SOURCES[case.source]()
            calls = [(case.base, source, "base")]
            calls += [(given, source, change) for change, _, given in by_argument(case)]
            calls += [(case.base, other, change) for change, other in by_variable(case)]
            for given, of, change in calls:
                what = f"{name(case)}, {change}"
                try:
                    result = called(case, of, given)
                    if not case.eager or isinstance(result, gb.PairTable):
                        computed(result)
                except (ValueError, KeyError):  # refused, at once or of a chunk
                    assert change not in case.changes or change == "missing"
    assert not clashes
    assert len(results) > 300


def test_labels__that_joined_are_the_same_text_have_names_of_their_own() -> None:
    labels = [
        ["a-b", "c"],
        ["a", "b-c"],
        ["a\0b", "c"],
        ["a", "b\0c"],
        ["a", None],
        ["a", "None"],
        ["a", float("nan")],
        [b"a", b"b"],
        ["a", "b"],
        [1, 2],
        ["1", "2"],
    ]
    arrays = [np.array([*row], object) for row in labels]
    arrays += [np.array(["a", "b"]), np.array(["a", "b"], np.dtypes.StringDType())]
    arrays += [np.arange(4).reshape(2, 2), np.arange(4).reshape(2, 2).T, np.arange(4)]
    found = [layer_name("x", array) for array in arrays]
    assert len(set(found)) == len(arrays)
    assert found == [layer_name("x", array.copy()) for array in arrays]


def test_a_mapped_file__has_the_name_of_its_values(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "x", np.int64, "w+", shape=(2, 3))
    mapped[:] = 5
    assert layer_name("x", mapped) == layer_name("x", np.full((2, 3), 5))
    assert layer_name("x", mapped.reshape(3, 2)) != layer_name("x", mapped)


def plink(folder: Path, seed: int) -> Opening:
    write_fileset(folder, random_calls(seed, 9, 5).sum(axis=2).clip(0))
    return lambda: gb.open_plink(folder / "cohort").call_genotype


def pgen(folder: Path, seed: int) -> Opening:
    gb.to_pgen(cohort(random_calls(seed, 9, 5)), folder / "cohort", overwrite=True)
    return lambda: gb.open_pgen(folder / "cohort").call_genotype


def bgen(folder: Path, seed: int) -> Opening:
    pytest.importorskip("bgen")
    rng = np.random.default_rng(seed)
    write_bgen(folder / "a.bgen", [(random_probabilities(rng, 5, False, 8, 0), False)] * 9)
    return lambda: gb.open_bgen(folder / "a.bgen").call_genotype


def gcta(folder: Path, seed: int) -> Opening:
    grm = cohort(random_calls(seed, 30, 5)).genobit.grm("gcta")
    gb.to_gcta(grm, folder / "grm", overwrite=True)
    return lambda: gb.open_gcta(folder / "grm")


def plink_rel(folder: Path, seed: int) -> Opening:
    grm = cohort(random_calls(seed, 30, 5)).genobit.grm("gcta")
    gb.to_plink_rel(grm, folder / "rel", form="square-bin", overwrite=True)
    return lambda: gb.open_plink_rel(folder / "rel")


def fasta(folder: Path, seed: int) -> Opening:
    rows = np.random.default_rng(seed).choice(list("ACGT"), (3, 8))
    text = "".join(f">t{k}\n{''.join(row)}\n" for k, row in enumerate(rows))
    (folder / "a.fasta").write_text(text)
    return lambda: gb.open_alignment(folder / "a.fasta", chunks=4)


def vcf_zarr(folder: Path, seed: int) -> Opening:
    ds = cohort(random_calls(seed, 9, 5))
    ds.to_zarr(folder / "c.zarr", mode="w", consolidated=False)
    return lambda: gb.open_vcf_zarr(folder / "c.zarr").call_genotype


def trees(folder: Path, seed: int) -> Opening:
    tables = tskit.Tree.generate_random_binary(5, random_seed=seed).tree_sequence.dump_tables()
    tables.mutations.add_row(site=tables.sites.add_row(0, "A"), node=seed, derived_state="C")
    tables.tree_sequence().dump(folder / "a.trees")
    return lambda: gb.open_tskit(folder / "a.trees", haploid=True).call_genotype


@pytest.mark.parametrize("write", [plink, pgen, bgen, gcta, plink_rel, fasta, vcf_zarr, trees])
def test_a_file_that_was_written_again__has_another_name(
    write: Callable[[Path, int], Opening], tmp_path: Path
) -> None:
    found = []
    for seed in (1, 2):
        opening = write(tmp_path, seed)
        found.append(opening().data.name)
        # zarr names what it opens anew each time.
        assert write is vcf_zarr or opening().data.name == found[-1]
        # As coarse as the clock of a file system may be.
        time.sleep(0.02)
    assert len(set(found)) == 2
