from __future__ import annotations

from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import pytest

import genobit as gb
from genobit.engine.schedule.passes import WIDE_ROWS, in_rows, wide_rows
from genobit.engine.schedule.tiles import in_chunks
from tests.helpers.cohorts import cohort, random_calls


def window(rows: int, width: int) -> np.ndarray:
    return np.minimum(np.arange(rows) + width, rows - 1)


@pytest.mark.parametrize(
    ("rows", "width", "bits", "expected"),
    [
        (50_000, 1_000, 5_000, WIDE_ROWS),
        # 2**24 pairs at most: without a window all rows are one.
        (50_000, 50_000, 5_000, 2**24 // 24_999),
        # 32 MiB at most of three planes.
        (50_000, 1_000, 2**20, 2**25 // (3 * 2**17)),
        (0, 5, 100, WIDE_ROWS),
        (1, 5, 0, WIDE_ROWS),
    ],
)
def test_rows_of_a_wide_chunk(rows: int, width: int, bits: int, expected: int) -> None:
    assert wide_rows(window(rows, width), bits) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((2048,) * 9 + (5,), (8192, 8192, 2053)),
        ((2048,), (2048,)),
        # As a user cut them.
        ((1000,) * 9, (1000,) * 9),
        ((8192, 8192), (8192, 8192)),
    ],
)
def test_chunks_of_the_default_go_together(
    sizes: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    planes = {"alt": da.zeros((sum(sizes), 2), np.uint64, chunks=(sizes, 2))}
    assert in_rows(planes, 8192)["alt"].chunks[0] == expected


def test_parts_of_an_array_in_memory() -> None:
    array = np.arange(21, dtype=np.uint64).reshape(7, 3)
    lazy = in_chunks(array, 3)
    assert lazy.chunks == ((3, 3, 1), (3,))
    np.testing.assert_array_equal(lazy, array)
    np.testing.assert_array_equal(lazy[2:5, 1], array[2:5, 1])
    # Of the same numbers the same name, by which dask knows what it has.
    assert lazy.name == in_chunks(array.copy(), 3).name != in_chunks(array, 4).name
    nothing = in_chunks(array[:0], 3)
    assert nothing.chunks == ((0,), (3,))
    assert nothing.compute().shape == (0, 3)
    # No copy: a chunk is a part of the array.
    assert np.shares_memory(lazy.dask[lazy.name, 1, 0](), array)


def test_pairs_of_wide_chunks__are_those_of_any(tmp_path: Path) -> None:
    ds = cohort(random_calls(5, 5_000, 20, missing=0), contigs=1).genobit.pack()
    wide = ds.genobit.ld_pairs(threshold=0.5, window=30).to_parquet(tmp_path / "wide")
    with gb.set_options(chunk_rows=1_024):
        other = ds.genobit.ld_pairs(threshold=0.5, window=30).to_parquet(tmp_path / "other")
    assert len(list(wide.glob("part-*"))) < len(list(other.glob("part-*")))
    found, expected = (
        pd.read_parquet(folder).sort_values(["variant_0", "variant_1"], ignore_index=True)
        for folder in (wide, other)
    )
    assert len(found) > 100
    pd.testing.assert_frame_equal(found, expected)
