"""Relationship matrices: exact in any chunks, on disk, on a cluster, and in little memory."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.data import packed
from genobit.engine.gemm import matrix_unit
from genobit.engine.schedule import pair_sums
from genobit.grm.sums import GRMSums
from tests.grm.cohorts import (
    FORMS,
    METHODS,
    RULES,
    assert_close,
    exact,
    in_form,
    whole_calls,
)
from tests.helpers.cohorts import TAILS, cohort, random_calls
from tests.helpers.programs import run
from tests.helpers.reference import dosages, relationships
from tests.helpers.sized import KERNELS


@given(
    form=st.sampled_from(FORMS),
    samples=st.integers(1, 40),
    variants=st.one_of(st.sampled_from(TAILS[:11]), st.integers(1, 150)),
    rule=st.sampled_from(RULES),
    chunk_rows=st.sampled_from([3, 64, 2048]),
    scheduler=st.sampled_from(["threads", "synchronous"]),
    seed=st.integers(0, 2**32),
)
def test_vanraden1__is_exact_to_its_last_division(
    form: str,
    samples: int,
    variants: int,
    rule: str,
    chunk_rows: int,
    scheduler: str,
    seed: int,
) -> None:
    calls = random_calls(seed, variants, samples)
    leaf = 1 if form == "leaves" else pair_sums.LEAF_BITS
    with (
        gb.set_options(chunk_rows=chunk_rows),
        mock.patch.object(pair_sums, "LEAF_BITS", leaf),
        dask.config.set(scheduler=scheduler),
    ):
        found = in_form(form, calls).genobit.grm(missing=rule).values
    np.testing.assert_array_equal(found, exact(calls))


@pytest.mark.parametrize("kernel", KERNELS)
def test_vanraden1__is_the_same_bits_by_every_kernel(kernel: str) -> None:
    calls = random_calls(8, 1000, 230)
    expected = cohort(calls).genobit.grm().values
    with gb.set_options(kernel=kernel, chunk_rows=200):
        np.testing.assert_array_equal(cohort(calls, chunks=(100, 50)).genobit.grm(), expected)


def test_vanraden1__of_numbers_past_64_bits_falls_back_on_floats() -> None:
    calls = np.abs(random_calls(8, 100, 10))
    expected = cohort(calls).genobit.grm().values
    samples = packed.by_samples(cohort(calls))[2]
    for variants, fits in ((2**53, True), (2**54, False)):
        sums = GRMSums.of("vanraden1", samples._replace(variants=(variants,)), None, pairwise=False)
        assert sums.plan.exact == fits
    sums = GRMSums.of("vanraden1", samples, None, pairwise=False)
    sums = sums._replace(plan=sums.plan._replace(exact=False))
    assert_close(sums.matrix(samples, None).values.compute(), expected)


@pytest.mark.parametrize("method", ["gcta", "vanraden2"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.usefixtures("unit_by_twin")
def test_standardised__is_exact_on_a_matrix_unit_in_any_chunks(
    method: str, rule: str, given: bool
) -> None:
    calls = whole_calls(5, 150, 40, missing=0.05)
    calls[60:] = np.maximum(calls[60:], 0)  # A chunk without missing calls.
    g = dosages(calls).T
    p = np.random.default_rng(5).uniform(0.05, 0.5, 150) if given else None
    found = []
    for form in FORMS:
        with gb.set_options(chunk_rows=13), mock.patch.object(pair_sums, "LEAF_BITS", 1):
            ds = in_form(form, calls)
            found.append(ds.genobit.grm(method, missing=rule, allele_frequency=p).values)
    for values in found[1:]:
        np.testing.assert_array_equal(values, found[0])
    assert_close(found[0], relationships(method, g, missing=rule, frequency=p), 1e-12)


def test_estimate__says_how_weights_are_summed(unit_by_twin: pytest.MonkeyPatch) -> None:
    ds = cohort(whole_calls(6, 120, 30, missing=0.05))
    assert "exact integers on the matrix unit" in str(ds.genobit.estimate.grm("gcta"))
    assert "tables of three calls" in str(ds.genobit.estimate.grm("dominance"))
    unit_by_twin.setattr(matrix_unit, "permitted", lambda: False)
    matrix_unit.usable.cache_clear()
    assert "tables of three calls" in str(ds.genobit.estimate.grm("gcta"))


@pytest.mark.usefixtures("unit_by_twin")
def test_standardised__leaves_contigs_out_exactly_on_a_matrix_unit() -> None:
    calls = whole_calls(6, 120, 30, missing=0.05)
    found = cohort(calls, contigs=3, chunks=(25, 30)).genobit.grm("gcta", loco=True)
    contig = cohort(calls, contigs=3).variant_contig.values
    for k in range(3):
        rest = cohort(calls[contig != k]).genobit.grm("gcta")
        np.testing.assert_array_equal(found.values[k], rest.values)


@pytest.mark.parametrize("loco", [False, True])
def test_zarr_round_trip(tmp_path: Path, loco: bool) -> None:
    ds = cohort(random_calls(0, 130, 12, missing=0.1), chunks=(20, 6), contigs=2)
    with gb.set_options(chunk_rows=5):
        lazy = ds.genobit.grm("gcta", loco=loco)
    lazy.to_zarr(tmp_path / "grm.zarr", consolidated=False)
    again = xr.open_dataarray(tmp_path / "grm.zarr", engine="zarr", consolidated=False)
    xr.testing.assert_identical(again.compute(), lazy.compute())


@pytest.mark.distributed
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the cluster's own, at start and at the end
def test_on_a_cluster__is_the_same() -> None:
    from distributed import Client, LocalCluster

    ds = cohort(whole_calls(7, 300, 97, missing=0.1), contigs=3, chunks=(50, 97))
    bits = ds.genobit.pack(rows="samples")
    with gb.set_options(chunk_rows=40):
        asked = [form.genobit.grm(method) for method in METHODS for form in (ds, bits)]
        asked.append(ds.genobit.grm(loco=True))
    expected = [grm.compute(scheduler="synchronous") for grm in asked]
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, Client(cluster):
        for found, right in zip(dask.compute(*asked), expected, strict=True):
            xr.testing.assert_identical(found, right)


MEMORY = """
import sys
import dask, dask.array as da, numpy as np, xarray as xr
import genobit as gb
from tests.helpers.memory import peak_gib
from genobit.data import layouts
from genobit.engine.bits.layout import Layout, tail_mask

n, variants, chunk = 10_000, 100_000, 2048
words = -(-n // 64)

def planes(block_info=None):
    _, (start, stop), _ = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    out = rng.integers(0, 2**64, (2, stop - start, words), dtype=np.uint64)
    out[1] &= out[0]
    out[:, :, -1] &= tail_mask(n)
    return out

sizes = tuple(min(chunk, variants - s) for s in range(0, variants, chunk))
meta = np.empty((0, 0, 0), np.uint64)
both = da.map_blocks(planes, chunks=((2,), sizes, (words,)), dtype=np.uint64, meta=meta)
layout = Layout("dosage", "variants", n, 1)
named = {"plane_carrier": both[0], "plane_hom_alt": both[1]}
ds = xr.Dataset(
    {name: (("variants", "words"), plane) for name, plane in named.items()},
    attrs=layout.to_attributes(),
)
ds = layouts.mark_bits(ds, layout)
with dask.config.set(scheduler="threads", num_workers=2):
    ds.genobit.grm().to_zarr(sys.argv[1] + "/grm.zarr", consolidated=False)
print(peak_gib())
"""


@pytest.mark.long
def test_matrix_of_10_000_samples_and_100_000_variants__stays_under_3_gb(tmp_path: Path) -> None:
    printed = run("-c", MEMORY, str(tmp_path))
    assert float(printed) < 2.8
