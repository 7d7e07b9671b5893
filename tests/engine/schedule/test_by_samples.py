from __future__ import annotations

from unittest import mock

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.data import packed
from genobit.data.contigs import starts_of_contigs
from genobit.engine.schedule import by_samples
from genobit.engine.schedule.pair_sums import SampleChunks, planes_of
from tests.helpers.cohorts import TAILS, cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.reference import bits_of, dosages, words_of

FORMS = ("calls", "variants", "samples", "haplotypes")


def in_form(ds: xr.Dataset, form: str) -> xr.Dataset:
    if form == "calls":
        return ds
    if form == "haplotypes":
        return ds.genobit.pack(phased=True)
    return ds.genobit.pack(rows=form)


def unpacked(samples: SampleChunks) -> np.ndarray:
    """Dosages (samples, variants), NaN where missing; padding must be zero."""
    planes = dask.compute(*samples.planes)
    columns, word = [], 0
    for variants in samples.variants:
        words = -(-variants // 64)
        parts = [bits_of(plane[:, word : word + words], 64 * words) for plane in planes]
        assert not any(part[:, variants:].any() for part in parts)
        carrier, hom_alt, *called = (part[:, :variants] for part in parts)
        g = carrier.astype(float) + hom_alt
        columns.append(np.where(called[0], g, np.nan) if called else g)
        word += words
    assert word == planes[0].shape[1]
    return np.concatenate(columns, axis=1)


@given(
    form=st.sampled_from(FORMS),
    samples=st.sampled_from(TAILS[:11]),
    variants=st.one_of(st.sampled_from(TAILS[:11]), st.integers(1, 300)),
    missing=st.sampled_from([0.0, 0.1, 1.0]),
    chunk=st.sampled_from([1, 33, 64, 100, 1000]),
    calls_of_chunk=st.sampled_from([1, 2**13, 2**25]),
    chunk_rows=st.sampled_from([1, 7, 64, 2048]),
    contigs=st.sampled_from([0, 1, 3]),
    seed=st.integers(0, 2**32),
)
def test_by_samples__is_the_transpose(
    form: str,
    samples: int,
    variants: int,
    missing: float,
    chunk: int,
    calls_of_chunk: int,
    chunk_rows: int,
    contigs: int,
    seed: int,
) -> None:
    if chunk == 1:
        variants = min(variants, 40)
    if chunk_rows == 1:
        samples = min(samples, 20)
    calls = random_calls(seed, variants, samples, missing=missing)
    calls[(calls < 0).any(axis=2)] = -1
    ds = cohort(calls, contigs=max(1, contigs), phased=True)
    with gb.set_options(chunk_rows=chunk_rows), raise_if_dask_computes():
        shape = in_form(ds, form)
        if form != "calls":
            # Chunks of any length, not of whole words.
            along = {"samples" if form == "samples" else "variants": chunk}
            shape = shape.assign({name: x.chunk(along) for name, x in shape.data_vars.items()})
        with mock.patch.object(by_samples, "CHUNK_CALLS", calls_of_chunk):
            _, _, found = packed.by_samples(shape, contigs=contigs > 0)
    edge = max(found.tiles)
    assert edge <= chunk_rows
    assert sum(found.tiles) == samples
    assert max(found.tiles) - min(found.tiles) < edge or len(found.tiles) == 1
    assert sum(found.variants) == variants
    assert found.copies.chunks == found.called.chunks == (found.variants,)
    assert found.copies.dtype == found.called.dtype == np.int64
    g = dosages(calls)
    np.testing.assert_array_equal(unpacked(found), g.T)
    np.testing.assert_array_equal(found.copies, np.nansum(g, axis=1))
    np.testing.assert_array_equal(found.called, (~np.isnan(g)).sum(axis=1))
    if contigs:
        starts = set(starts_of_contigs(ds).tolist())
        assert starts <= set(np.cumsum((0, *found.variants)).tolist())


@pytest.mark.parametrize("form", FORMS)
def test_planes__have_the_chunks_they_are_said_to_have(form: str) -> None:
    ds = cohort(random_calls(0, 500, 100), contigs=3, chunks=(90, 100), phased=True)
    with gb.set_options(chunk_rows=30), mock.patch.object(by_samples, "CHUNK_CALLS", 12_800):
        _, _, found = packed.by_samples(in_form(ds, form))
    assert found.tiles == (25,) * 4
    words = tuple(-(-variants // 64) for variants in found.variants)
    for plane in found.planes:
        assert plane.chunks == (found.tiles, words)
        for i, rows in enumerate(found.tiles):
            for k, width in enumerate(words):
                assert plane.blocks[i, k].compute().shape == (rows, width)


@pytest.mark.parametrize("samples", [1, 100, 2**25 // 64, 2**26])
def test_variant_chunk__is_of_whole_words(samples: int) -> None:
    chunk = by_samples.variant_chunk(samples)
    assert chunk % 64 == 0
    assert chunk == 64 or chunk * samples <= by_samples.CHUNK_CALLS


@given(
    chunks=st.lists(st.integers(0, 9), min_size=1, max_size=9).filter(any),
    data=st.data(),
)
def test_cut__parts_chunks_at_the_cuts_only(chunks: list[int], data: st.DataObject) -> None:
    total = sum(chunks)
    cuts = data.draw(st.sets(st.integers(0, total - 1)))
    found = by_samples._cut(tuple(chunks), np.array(sorted({0} | cuts)))
    assert sum(found) == total
    assert 0 not in found
    expected = {0, total} | cuts | set(np.cumsum(chunks).tolist())
    assert set(np.cumsum((0, *found)).tolist()) == expected


@pytest.mark.parametrize("samples", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("variants", [1, 64, 65, 700])
def test_to_variants__turns_back(samples: int, variants: int) -> None:
    bits = np.random.default_rng(samples).uniform(size=(samples, variants)) < 0.5
    plane = da.from_array(words_of(bits), chunks=(17, 2))
    with mock.patch.object(by_samples, "CHUNK_CALLS", 128 * samples):
        turned = by_samples.to_variants(plane, variants)
    assert turned.shape == (variants, -(-samples // 64))
    np.testing.assert_array_equal(turned.compute(), words_of(bits.T))


@pytest.mark.parametrize("rows", ["variants", "samples"])
def test_planes_in_memory_and_from_zarr__are_the_same(tmp_path: object, rows: str) -> None:
    calls = random_calls(0, 300, 70, missing=0.1)
    bits = cohort(calls).genobit.pack(rows=rows)
    bits.to_zarr(f"{tmp_path}/bits.zarr", consolidated=False)
    for chunks in ({}, None):
        again = xr.open_zarr(f"{tmp_path}/bits.zarr", consolidated=False, chunks=chunks)
        np.testing.assert_array_equal(unpacked(packed.by_samples(again)[2]), dosages(calls).T)
    np.testing.assert_array_equal(unpacked(packed.by_samples(bits.compute())[2]), dosages(calls).T)


@pytest.mark.parametrize("samples", [1, 40, 64, 130])
@pytest.mark.parametrize("variants", [1, 64, 70])
def test_chunks_that_miss_nothing__need_no_called_plane(samples: int, variants: int) -> None:
    called = np.ones((variants, samples), bool)
    other = np.zeros((samples, -(-variants // 64)), np.uint64)
    for missed in (False, True):
        called[-1, -1] = not missed
        turned = by_samples._turned_called([words_of(called)], samples)
        np.testing.assert_array_equal(turned, words_of(called.T))
        known = planes_of([other, other, turned], variants).called
        assert (known is None) == (not missed)
