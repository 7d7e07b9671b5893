"""Statistics of variants in each population: of the population alone, and of plink."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import PLINK, plink
from tests.quality.filesets import assert_printed, mixed_cohort, table


def with_populations(ds: xr.Dataset, names: list[str], seed: int) -> xr.Dataset:
    of = np.random.default_rng(seed).choice(np.array(names, object), ds.sizes["samples"])
    of[: len(names)] = names
    return ds.assign(sample_population=("samples", of))


@given(
    seed=st.integers(0, 2**32),
    samples=st.sampled_from([9, 64, 65, 130]),
    packed=st.sampled_from([None, "dosages", "haplotypes"]),
    founders=st.booleans(),
    hwe=st.sampled_from(["exact", "midp"]),
    chunks=st.sampled_from([None, 16]),
)
def test_populations__are_those_of_the_samples_alone(
    seed: int, samples: int, packed: str | None, founders: bool, hwe: str, chunks: int | None
) -> None:
    ds = mixed_cohort(seed, 40, samples, chunks=chunks)
    ds["sample_father_id"][:3] = ds["sample_mother_id"][:3] = "0"
    ds = with_populations(ds, ["b", "a", "c", ""], seed)
    ds = ds.assign(call_genotype_phased=ds.call_genotype.notnull().all("ploidy"))
    given_ds = ds if packed is None else ds.genobit.pack(phased=packed == "haplotypes")
    asked: dict[str, Any] = {"founders": founders, "hwe": hwe, "hwe_samples": "sample_tested"}
    tested = np.random.default_rng(seed).random(samples) < 0.7
    ds, given_ds = (x.assign_coords(sample_tested=("samples", tested)) for x in (ds, given_ds))
    with raise_if_dask_computes():
        found = given_ds.genobit.variant_stats(populations="population", **asked)
    assert found.populations.values.tolist() == ["a", "b", "c"]
    found = found.compute()
    for name in found.populations.values:
        alone = ds.isel(samples=ds.sample_population.values == name)
        right = alone.genobit.variant_stats(**asked).compute()
        one = found.sel(populations=name, drop=True)
        assert set(one.data_vars) == set(right.data_vars)
        for variable in right.data_vars:
            np.testing.assert_array_equal(one[variable], right[variable], err_msg=variable)
            assert one[variable].dtype == right[variable].dtype
    assert found.call_rate.dims == ("populations", "variants")
    assert found.variant_id.values.tolist() == ds.variant_id.values.tolist()


@PLINK
@pytest.mark.parametrize("fileset", ["hapmap279/hapmap279", "bigsnpr_example/example"])
def test_populations__equal_plink_within(shared_data: Path, fileset: str, tmp_path: Path) -> None:
    ds = with_populations(gb.open_plink(f"{shared_data / fileset}.bed"), ["u", "v", "w"], 3)
    lines = zip(*(ds[f"sample_{x}"].values for x in ("family_id", "id", "population")), strict=True)
    (tmp_path / "within").write_text("".join(f"{' '.join(line)}\n" for line in lines))
    options = ("--freq", "--within", tmp_path / "within", "--keep-allele-order")
    plink(shared_data / fileset, tmp_path / "p", *options)
    printed = table(tmp_path / "p.frq.strat").sort_values("CLST", kind="stable")
    found = ds.genobit.variant_stats(populations="sample_population", founders=True).compute()
    of = {"allele_count": printed.MAC, "allele_number": printed.NCHROBS}
    for name, column in of.items():
        np.testing.assert_array_equal(found[name].values.ravel(), column)
    known = found.allele_number.values.ravel() > 0
    assert_printed(found.allele_frequency.values.ravel()[known], printed.MAF[known])
    assert known.all() or fileset != "hapmap279/hapmap279"


def test_populations__read_the_genotypes_once() -> None:
    ds = with_populations(mixed_cohort(1, 64, 20), ["a", "b", "c"], 1)
    seen: list[int] = []

    def look(block: np.ndarray) -> np.ndarray:
        seen.append(len(block))
        return block

    calls = da.from_array(ds.call_genotype.values, chunks=(16, -1, -1))
    lazy = ds.assign(
        call_genotype=(
            ds.call_genotype.dims,
            calls.map_blocks(look, meta=np.empty((0, 0, 0), "i1")),
        )
    )
    lazy.genobit.variant_stats(populations="population").compute()
    assert sum(seen) == 64


def test_populations__are_arrays_series_and_names() -> None:
    ds = with_populations(mixed_cohort(1, 40, 20), ["a", "b"], 1)
    right = ds.genobit.variant_stats(populations="sample_population").compute()
    names = ds.sample_population.values
    order = np.random.default_rng(2).permutation(20)
    series = pd.Series(names[order], ds.sample_id.values[order])
    for given_names in (names, names.tolist(), series, ds.sample_population, names.astype("U")):
        found = ds.genobit.variant_stats(populations=given_names).compute()
        xr.testing.assert_identical(found, right)
    numbers = ds.genobit.variant_stats(populations=np.where(names == "a", 1.0, np.nan))
    assert numbers.populations.values.tolist() == [1.0]
    np.testing.assert_array_equal(numbers.maf[0], right.maf[0])


def test_populations__name_what_is_wrong() -> None:
    ds = with_populations(mixed_cohort(1, 40, 20), ["a", "b"], 1)
    with pytest.raises(KeyError, match=r"no variable 'nation' along 'samples'.*population"):
        ds.genobit.variant_stats(populations="nation")
    with pytest.raises(ValueError, match=r"populations has shape \(3,\), expected \(20,\)"):
        ds.genobit.variant_stats(populations=["a", "b", "a"])
    with pytest.raises(ValueError, match="populations= names no population: every"):
        ds.genobit.variant_stats(populations=[""] * 20)


def test_populations__are_written_and_tabulated(tmp_path: Path) -> None:
    ds = with_populations(mixed_cohort(1, 40, 20), ["a", "b"], 1)
    found = ds.genobit.variant_stats(populations="population")
    gb.to_zarr(found, tmp_path / "stats.zarr")
    stored = xr.open_zarr(tmp_path / "stats.zarr")
    xr.testing.assert_equal(stored.compute(), found.compute())
    frame = found.maf.to_dataframe()
    assert frame.index.names == ["populations", "variants"]
    assert len(frame) == 80


def test_dates_are_populations_too() -> None:
    ds = cohort(random_calls(2, 20, 12))
    for unit in ("ns", "us"):
        dates = np.array(["2020-01-01", "2021-01-01"], f"M8[{unit}]")[np.arange(12) % 2]
        found = ds.genobit.variant_stats(populations=dates)
        assert found.n_called.values.sum(axis=0).tolist() == [12] * 20
