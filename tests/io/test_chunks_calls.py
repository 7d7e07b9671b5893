"""Lazy calls of every format: any slice, in threads and processes, under names that follow them."""

from __future__ import annotations

import functools
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.io.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

VARIANTS, SAMPLES = 150, 13


def written(name: str, folder: Path) -> Callable[..., xr.Dataset]:
    """Write a cohort, and return a function that opens it."""
    if name == "bgen":
        pytest.importorskip("bgen")
        from tests.helpers.bgen_files import random_variants, write

        return functools.partial(gb.open_bgen, write(folder / "a.bgen", random_variants(8, 0.3)))
    if name == "tskit":
        from tests.io.tree_sequences import simulated

        path = folder / "a.trees"
        simulated().dump(path)
        return functools.partial(gb.open_tskit, path)
    ds = cohort(random_calls(1, VARIANTS, SAMPLES), contigs=2, phased=True)
    form = FORMATS["pgen" if name == "pgen of dosages" else name]
    more = {"dosages": True} if name == "pgen of dosages" else {}
    return functools.partial(form.read, form.write(ds, folder / "a"), **more)


NAMES = [*FORMATS, "pgen of dosages", "bgen", "tskit"]
ALL = pytest.mark.parametrize("name", NAMES)
PICKS: list[dict[str, Any]] = [
    {"variants": slice(3, 28), "samples": [0, 2]},
    {"variants": slice(None, None, -2)},
    {"variants": 5},
    {"variants": [1, 29, 1], "ploidy": 0},
    {"samples": slice(6, 0, -3), "variants": slice(29, 2, -3)},
    {"variants": slice(4, 4)},
]


@ALL
def test_slices_of_every_kind(tmp_path: Path, name: str) -> None:
    ds = written(name, tmp_path)(chunks=9)
    whole = ds.compute(scheduler="synchronous")
    lazy = [x for x in ds if ds[x].chunks is not None]
    assert "call_genotype" in lazy
    for pick in PICKS:
        for x in lazy:
            own = {dim: at for dim, at in pick.items() if dim in ds[x].dims}
            np.testing.assert_array_equal(ds[x].isel(own).values, whole[x].isel(own).values)


@ALL
def test_threads_read_the_same(tmp_path: Path, name: str) -> None:
    ds = written(name, tmp_path)(chunks=7)
    right = ds.compute(scheduler="synchronous")
    with dask.config.set(pool=ThreadPoolExecutor(8)):
        assert all(ds.compute().equals(right) for _ in range(3))


@pytest.mark.slow
@pytest.mark.distributed
@ALL
def test_other_processes_open_the_file_themselves(tmp_path: Path, name: str) -> None:
    ds = written(name, tmp_path)(chunks=16)
    with dask.config.set(scheduler="processes", num_workers=2):
        found = ds.call_genotype.values
    np.testing.assert_array_equal(found, ds.call_genotype.compute(scheduler="synchronous"))


@ALL
def test_opening_computes_nothing_and_a_chunk_has_all_samples(tmp_path: Path, name: str) -> None:
    opened = written(name, tmp_path)
    opened()
    with raise_if_dask_computes():
        ds = opened(chunks=16)
        again = pickle.loads(pickle.dumps(ds))
        repr(ds)
    assert isinstance(ds.variant_position.variable._data, np.ndarray)
    sizes = ds.call_genotype.chunksizes
    assert sizes["variants"][:2] == (16, 16)
    assert sizes["samples"] == (ds.sizes["samples"],)
    assert again.call_genotype.data.name == ds.call_genotype.data.name


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("vcf")])
def test_names_follow_the_file_and_the_chunks(tmp_path: Path, name: str) -> None:
    opened = written(name, tmp_path)

    def names(**options: Any) -> set[str]:
        ds = opened(**options)
        return {ds[x].data.name for x in ds if ds[x].chunks is not None}

    assert names(chunks=16) == names(chunks=16)
    assert not names(chunks=16) & names(chunks=25)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("vcf")])
@pytest.mark.parametrize("chunks", [0, -1, "big", None, 2.5, True, (4, 6)])
def test_chunks_that_are_no_number(tmp_path: Path, name: str, chunks: Any) -> None:
    with pytest.raises(ValueError, match=r"chunks is .*; it is a number of variants, at le"):
        written(name, tmp_path)(chunks=chunks)


@pytest.mark.parametrize("name", ["pgen of dosages", "bgen"])
def test_a_file_that_changes_in_use_is_an_error(tmp_path: Path, name: str) -> None:
    ds = written(name, tmp_path)()
    path = Path(ds.attrs["source"])
    os.utime(path, ns=(1, 1))
    for x in ("call_genotype", "call_genotype_phased", "call_dosage"):
        with pytest.raises(OSError, match=rf"{path.name} was changed while in use\. Open it again"):
            ds[x].compute()
