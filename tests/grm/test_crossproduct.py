"""ds.genobit.crossproduct over kernels, chunkings and layouts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.engine.simd import cpu
from genobit.grm.kernels.crossproducts import KERNELS
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.reference import dosage_products, dosages

RUNNING = [k for k in ("auto", *KERNELS) if k != "shuffle" or cpu.host().byte_lanes]


def products(calls: np.ndarray) -> np.ndarray:
    by_samples = dosages(calls).astype(int).T
    return np.array(dosage_products(by_samples, by_samples))


def layouts(calls: np.ndarray, chunks: tuple[int, int] | None) -> list[xr.Dataset]:
    ds = cohort(calls, chunks=chunks, phased=True)
    return [
        ds,
        ds.genobit.pack(),
        ds.genobit.pack(missing="refuse"),
        ds.genobit.pack(phased=True),
        ds.genobit.pack(rows="samples"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("chunks", [None, (64, 37), (50, 37), (300, 20), (7, 13)])
@pytest.mark.parametrize("tile", [1024, 16])
def test_crossproduct__is_the_same_for_every_kernel_layout_and_chunking(
    chunks: tuple[int, int] | None, tile: int
) -> None:
    calls = random_calls(1, 150, 37)
    expected = products(calls)
    with gb.set_options(chunk_rows=tile):
        for kernel in RUNNING:
            for ds in layouts(calls, chunks)[:: 1 if kernel == "auto" else 2]:
                found = ds.genobit.crossproduct(kernel)
                assert found.dtype == np.int64
                np.testing.assert_array_equal(found.values, expected, err_msg=kernel)


def test_crossproduct__is_lazy_and_labelled() -> None:
    ds = cohort(random_calls(2, 70, 5), chunks=(20, 5))
    ds["sample_population"] = "samples", np.array(["x", "x", "y", "y", "y"], object)
    with raise_if_dask_computes():
        found = ds.genobit.crossproduct()
    assert found.name == "crossproduct"
    assert found.dims == ("samples_0", "samples_1")
    for name in ("sample_id", "sample_population"):
        for side in "01":
            np.testing.assert_array_equal(found[f"{name}_{side}"], ds[name])
    assert found.attrs["kernel"] == "auto"
    assert found.attrs["variants"] == 70
    assert "allele" in found.attrs["counted_allele"]


def test_crossproduct__computes_at_once_up_to_the_limit() -> None:
    ds = cohort(random_calls(2, 70, 5), chunks=(20, 5))
    lazy = ds.genobit.crossproduct()
    with gb.set_options(eager_limit=5 * 5 * 8):
        now = ds.genobit.crossproduct(compute=True)
    assert isinstance(now.data, np.ndarray)
    xr.testing.assert_identical(now, lazy.compute())
    with gb.set_options(eager_limit=5 * 5 * 8 - 1), raise_if_dask_computes():
        what = r"crossproduct of 5 x 5 pairs takes 200 bytes, .*isel\(samples="
        with pytest.raises(MemoryError, match=what):
            ds.genobit.crossproduct(compute=True)


def test_crossproduct__refuses_missing_calls_and_unknown_kernels() -> None:
    calls = random_calls(3, 70, 9)
    calls[41, [2, 5]] = calls[60, 1] = -1
    ds = cohort(calls, chunks=(16, 9))
    place = r"2 of 9 calls are missing at variants=41: .* use ds\.genobit\.grm\(missing="
    with gb.set_options(chunk_rows=64), pytest.raises(ValueError, match=place):
        ds.genobit.crossproduct("packed").compute()
    with pytest.raises(ValueError, match="kernel='blas' is not one of 'auto', 'multiply'"):
        ds.genobit.crossproduct("blas")


def test_crossproduct__of_a_fileset_without_missing_calls(shared_data: Path) -> None:
    ds = gb.open_plink(shared_data / "kg1_chr22/kg1_chr22_maf01.bed").isel(samples=slice(60))
    calls = ds.call_genotype.values
    complete = (calls >= 0).all(axis=(1, 2))
    by_samples = dosages(calls[complete]).astype(int).T
    expected = by_samples @ by_samples.T
    chosen = ds.isel(variants=complete)
    for kernel in RUNNING:
        np.testing.assert_array_equal(chosen.genobit.crossproduct(kernel), expected)
