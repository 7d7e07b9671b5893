from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

from genobit.engine.bits.layout import Layout
from genobit.engine.options import set_options
from genobit.engine.schedule import packing
from genobit.engine.schedule.tiles import joined
from tests.helpers.cohorts import random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.reference import dosages, words_of


def pack(calls: np.ndarray, layout: Layout, chunks: tuple[int, ...]) -> packing.DaskPlanes:
    n = calls.shape[0]
    ones = np.ones(n, np.int8)
    lazy = da.from_array(calls, chunks=chunks)
    return packing.pack_calls(lazy, layout, np.arange(n), ones, ones, refuse_missing=False)


@pytest.mark.parametrize("chunks", [(200, 70, 2), (64, 70, 2), (64, 33, 2), (9, 13, 1)])
@pytest.mark.parametrize("rows", ["variants", "samples"])
def test_pack_calls__one_task_a_chunk_whatever_the_chunks(
    chunks: tuple[int, ...], rows: str
) -> None:
    calls = random_calls(4, 200, 70, missing=0.1)
    layout = Layout("dosage", rows, 70 if rows == "variants" else 200, 1)
    with set_options(chunk_rows=64), raise_if_dask_computes():
        planes = pack(calls, layout, chunks)
    g = dosages(calls) if rows == "variants" else dosages(calls).T
    for name, right in (("carrier", g >= 1), ("hom_alt", g == 2), ("called", ~np.isnan(g))):
        np.testing.assert_array_equal(planes[name], words_of(right))
    (graph,) = dask.optimize(planes["carrier"])
    # Of each chunk its calls are packed once; the planes are views of that.
    every = dask.compute(*planes.values(), scheduler="sync")
    assert len(every) == 3
    assert len(dict(graph.dask)) > 0


@pytest.mark.parametrize("chunks", [(64, 70, 2), (9, 13, 1)])
def test_pack_calls__packs_each_chunk_once_for_all_planes(
    chunks: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = random_calls(4, 200, 70, missing=0.1)
    seen = []
    original = packing._pack_chunk

    def counting(block: Any, *arguments: object, **keywords: object) -> np.ndarray:
        seen.append(joined(block).shape)
        return original(block, *arguments, **keywords)

    monkeypatch.setattr(packing, "_pack_chunk", counting)
    with set_options(chunk_rows=64):
        planes = pack(calls, Layout("dosage", "variants", 70, 1), chunks)
        dask.compute(planes, scheduler="sync")
    assert sorted(seen) == sorted([(64, 70, 2)] * 3 + [(8, 70, 2)])


class Counts:
    """A file of dosages, which lists the rows that it was asked for."""

    def __init__(self, calls: np.ndarray) -> None:
        g = dosages(calls)
        self.n_variants, self.n_samples, self.asked = *g.shape, []
        self.rows = np.stack([words_of(x) for x in (g >= 1, g == 2, ~np.isnan(g))])

    def part(self, start: int, stop: int) -> Counts:
        return self

    def planes(self, start: int, stop: int) -> np.ndarray:
        self.asked.append((start, stop))
        return self.rows[:, start:stop]


@pytest.mark.parametrize(("octets", "reads"), [(0, 4), (2 * 64 * 48, 2), (2**20, 1)])
def test_pack_file__chunks_of_few_samples_share_a_task(
    octets: int, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Counts(random_calls(4, 200, 70, missing=0.1))
    monkeypatch.setattr(packing, "_TOGETHER_BYTES", octets)
    planes = packing.pack_file(file, "mark", Layout("dosage", "variants", 70, 1), 64)
    assert {plane.chunks[0] for plane in planes.values()} == {(64, 64, 64, 8)}
    found = dask.compute(*planes.values(), scheduler="sync")
    np.testing.assert_array_equal(found, file.rows)
    assert len(file.asked) == reads
    assert (packing.stack_of(list(planes.values())) is None) == (reads < 4)


def test_row_chunk__is_whole_words_and_fits_memory() -> None:
    for size in (1, 63, 64, 1000, 2048):
        with set_options(chunk_rows=size):
            for row in (0, 1, 1000, 10**6, 10**9):
                rows = packing.row_chunk(row)
                assert rows % 64 == 0
                assert 64 <= rows <= max(size, 64)
                assert rows == 64 or rows * row <= packing._CHUNK_BYTES
