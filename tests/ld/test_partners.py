"""Partners of some variants against the full matrix, in every window, chunking and order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from genobit.data.windows import window_ends
from genobit.engine.schedule import costs
from tests.helpers.cohorts import cohort, random_calls

if TYPE_CHECKING:
    from pathlib import Path


def data(**options: Any) -> xr.Dataset:
    """Return genotypes on three contigs, in chunks of 64 variants."""
    return cohort(random_calls(1, 300, 60, missing=0.1), contigs=3, chunks=(64, 60), **options)


def wanted(
    ds: xr.Dataset, square: np.ndarray, chosen: list[int], window: Any, threshold: float, top: int
) -> list[tuple[int, int]]:
    """Return the pairs that a table of partners has, from the full matrix."""
    last = window_ends(ds, ds.sizes["variants"] if window is None else window)
    found = []
    for i in chosen:
        near = [
            j
            for j in range(len(last))
            if j != i and last[min(i, j)] >= max(i, j) and square[i, j] >= threshold
        ]
        found += [(i, j) for j in sorted(near, key=lambda j: (-square[i, j], j))[:top]]
    return found


@pytest.mark.parametrize("window", [None, 5, 120, "3kb"])
@pytest.mark.parametrize("chosen", [[0], [299], [63, 64], [5, 70, 71, 130, 250], [*range(300)]])
@pytest.mark.parametrize(("threshold", "top"), [(None, 3), (0.05, None), (0.02, 4)])
def test_partners__are_the_best_of_each_variant(
    window: Any, chosen: list[int], threshold: float | None, top: int | None
) -> None:
    ds = data()
    with gb.set_options(chunk_rows=64):
        square = ds.genobit.ld().values
        pairs = ds.genobit.ld_pairs(variants=chosen, threshold=threshold, top=top, window=window)
        table = pairs.to_dataframe()
    found = list(zip(table.variant_0, table.variant_1, strict=True))
    assert found == wanted(ds, square, chosen, window, threshold or 0.0, top or 300)
    i, j = table.variant_0.to_numpy(), table.variant_1.to_numpy()
    np.testing.assert_array_equal(table.r2, square[i, j])
    np.testing.assert_array_equal(table.variant_position_1, ds.variant_position.values[j])
    assert table.variant_id_0.tolist() == ds.variant_id.values[i].tolist()
    assert table.variant_id_1.tolist() == ds.variant_id.values[j].tolist()
    assert table.columns.tolist() == pairs.columns


@pytest.mark.parametrize("phased", [True, False])
def test_partners__have_the_values_of_the_table_of_all_pairs(phased: bool) -> None:
    bits = data(phased=True).genobit.pack(phased=phased)
    statistics = ("r2",) if phased else ("r2", "r2_em")
    for statistic in statistics:
        every = bits.genobit.ld_pairs(threshold=0.1, statistic=statistic).to_dataframe()
        table = bits.genobit.ld_pairs(variants="chr1", threshold=0.1, statistic=statistic)
        of_contig = every[every.variant_contig == "chr1"]
        both = table.to_dataframe()
        assert len(both) == 2 * len(of_contig) > 0
        later = both[both.variant_0 < both.variant_1].sort_values(["variant_0", "variant_1"])
        pd.testing.assert_frame_equal(
            later.reset_index(drop=True), of_contig.reset_index(drop=True), check_exact=not phased
        )


def test_partners__of_ids_regions_masks_and_positions_agree() -> None:
    ds = data()
    name = str(ds.variant_id.values[70])
    place = f"chr1:{int(ds.variant_position[70])}"
    ways: list[Any] = [name, [name], [70], 70, place, np.arange(300) == 70, slice(70, 71), -230]
    tables = [ds.genobit.ld_pairs(variants=way, top=5).to_dataframe() for way in ways]
    assert len(tables[0]) == 5
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0])
    twice = ds.genobit.ld_pairs(variants=[name, name], top=5).to_dataframe()
    assert twice.variant_1.tolist() == tables[0].variant_1.tolist()


def test_partners__compute_only_chunks_that_their_windows_reach() -> None:
    ds = data()
    with gb.set_options(chunk_rows=64):
        near = ds.genobit.ld_pairs(variants=70, top=5, window=3)
        contig = ds.genobit.ld_pairs(variants=70, top=5)
        every = ds.genobit.ld_pairs(threshold=0)
    assert near.tasks < contig.tasks < every.tasks


def test_partners__keep_their_order_in_files(tmp_path: Path) -> None:
    with gb.set_options(chunk_rows=64):
        pairs = data().genobit.ld_pairs(variants=[3, 100, 290], top=7)
        table = pairs.to_dataframe()
        again = gb.open_pairs(pairs.to_parquet(tmp_path / "pairs")).to_dataframe()
    pd.testing.assert_frame_equal(again, table, check_dtype=False)
    assert (table.groupby("variant_0").r2.diff().dropna() <= 0).all()
    pd.testing.assert_frame_equal(pairs.head(3), table.head(3))


def test_partners__are_pairs_once_in_a_network() -> None:
    ds = data()
    pairs = ds.genobit.ld_pairs(variants=[3, 4, 5, 6])
    edges = pairs.to_network().to_dataframe()
    table = pairs.to_dataframe()
    ends = {tuple(sorted(pair)) for pair in zip(table.variant_0, table.variant_1, strict=True)}
    assert list(zip(edges.variant_0, edges.variant_1, strict=True)) == sorted(ends)
    assert len(ends) < len(table)
    assert edges.variant_id_1.tolist() == ds.variant_id.values[edges.variant_1].tolist()


def test_partners__of_no_variant_and_of_one_alone() -> None:
    ds = data()
    none = ds.genobit.ld_pairs(variants=np.zeros(300, bool), top=5)
    assert none.to_dataframe().columns.tolist() == none.columns
    alone = ds.isel(variants=[7]).genobit.ld_pairs(variants=0, top=5).to_dataframe()
    assert len(alone) == 0
    still = ds.assign(call_genotype=0 * ds.call_genotype)
    assert len(still.genobit.ld_pairs(variants=0, top=5).to_dataframe()) == 0


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({}, TypeError, r"needs threshold=.*or variants="),
        ({"top": 5}, ValueError, r"top=5 counts the partners of each variant in variants="),
        ({"top": 5, "threshold": 0.2}, ValueError, r"top=5 .*variants='rs699'"),
        ({"variants": 3, "top": 0}, ValueError, r"top=0 is not a whole number of at least 1"),
        ({"variants": 3, "top": 2.5}, ValueError, r"top=2.5 is not a whole number"),
        ({"variants": 3, "threshold": 2}, ValueError, r"threshold=2 is outside \[0, 1\]"),
        ({"variants": "rs_none"}, KeyError, r"variants='rs_none' is not in variant_id"),
        ({"variants": 300}, IndexError, r"variants\[0\] = 300 is outside the 300 variants"),
    ],
)
def test_partners__errors_name_the_argument(
    options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        data().genobit.ld_pairs(**options)


@pytest.mark.parametrize("chosen", [[0], [5, 70, 71, 130, 250], [*range(300)]])
@pytest.mark.parametrize("window", [None, 5, 120])
def test_partners__estimate_counts_pairs_and_tasks(chosen: list[int], window: Any) -> None:
    with gb.set_options(chunk_rows=64):
        bits = data().genobit.pack()
        table = bits.genobit.ld_pairs(variants=chosen, window=window)
        every = bits.genobit.ld_pairs(threshold=0, window=window)
        estimate = bits.genobit.estimate.ld_pairs(variants=chosen, window=window)
    last = window_ends(bits, window or 300)
    ends = np.maximum.outer(np.arange(300), np.arange(300))
    near = last[np.minimum.outer(np.arange(300), np.arange(300))] >= ends
    pairs = int(near[chosen].sum()) - len(chosen)
    assert estimate.what.startswith(f"{pairs:,} pairs of {len(chosen):,} of 300 variants")
    # The tasks beside tiles are those that any table of these chunks has.
    chunks = len(np.unique(np.array(chosen) // 64))
    first = np.searchsorted(last, chosen)
    others = every.tasks - costs.band(last)(64) + chunks
    assert table.tasks == costs.of_rows(np.array(chosen), first, last)(64) + others
