"""What stands over and round an LD picture: genes, outlines of blocks, tables, what a pixel is."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from genobit.io.genes import read_genes
from genobit.launcher.plots import ld_heatmap, ld_triangle
from genobit.ld.plots.genes import LANES, gene_track, label_lanes
from genobit.ld.plots.tables import pairs_table, strongest_pairs, variants_table
from genobit.visual.pixels import AGGREGATES, aggregated, lay_out
from genobit.visual.style import WIDTH
from tests.ld.plots.test_heatmap import ld_result, symmetric


def genes(n: int, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    start = generator.integers(1, 900_000, n)
    end = start + generator.integers(1, 60_000, n)
    names = [f"GENE{k}" * (1 + k % 3) for k in range(n)]
    return read_genes(
        pd.DataFrame({"contig": "2", "start": start, "end": end, "name": names, "strand": "+"})
    )


@pytest.mark.parametrize("n", [1, 12, 300])
def test_names_of_genes_do_not_overlap(n):
    track = gene_track(genes(n), (0.0, 1.0))
    labels = track.Labels.I.dframe()
    pixels = labels["x"] * WIDTH
    assert (pixels >= -1e-9).all()
    stops = pixels + 6 * labels["text"].str.len()
    assert (stops <= WIDTH).all()
    for _, lane in labels.assign(at=pixels, stop=stops).groupby("y"):
        row = lane.sort_values("at")
        assert (row["at"].to_numpy()[1:] >= row["stop"].to_numpy()[:-1]).all()
    unnamed = n - len(labels)
    title = track.opts.get("plot").kwargs["title"]
    assert ("without room" in title) == (unnamed > 0)
    assert len(track.Segments.I) == n


def test_bars_of_genes_with_names_do_not_overlap_either():
    table = genes(40)
    x0, x1 = table["start"].to_numpy() / 1e6, table["end"].to_numpy() / 1e6
    lane, _ = label_lanes(x0, x1, table["name"].tolist(), (0.0, 1.0))
    for row in range(LANES):
        inside = np.flatnonzero(lane == row)
        inside = inside[np.argsort(x0[inside])]
        assert (x0[inside][1:] >= x1[inside][:-1]).all()


def test_genes_stand_at_their_variants_where_these_are_evenly_spaced():
    position, at = np.array([100, 200, 1_000]), np.array([7.0, 8.0, 9.0])
    table = read_genes(
        [
            {"contig": "2", "start": 150, "end": 600, "name": "A"},
            {"contig": "2", "start": 2_000, "end": 3_000, "name": "beyond"},
        ]
    )
    bars = gene_track(table, (6.5, 9.5), position=position, at=at).Segments.I
    assert bars.dimension_values("x").tolist() == [7.5]
    assert bars.dimension_values("x1").tolist() == [8.5]


@pytest.mark.parametrize("limit", [3, 5, 9])
@pytest.mark.parametrize("axis", ["rank", "position"])
def test_means_and_samples_are_those_of_numpy(limit, axis):
    matrix = symmetric(9)
    matrix[2, :] = matrix[:, 2] = np.nan
    bins = lay_out(np.array([1, 2, 3, 10, 11, 30, 50, 51, 90]), axis, limit)
    mean = aggregated(matrix, bins, bins, "mean")
    sample = aggregated(matrix, bins, bins, "sample")
    for i in range(bins.n):
        for j in range(bins.n):
            block = matrix[bins.first[i] : bins.last[i], bins.first[j] : bins.last[j]]
            expected = np.nan if np.isnan(block).all() else np.nanmean(block)
            np.testing.assert_allclose(mean[i, j], expected, rtol=1e-6)
            np.testing.assert_array_equal(sample[i, j], block[0, 0])


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_the_title_says_what_a_pixel_is(aggregate):
    plot = ld_triangle(ld_result(symmetric(20)), max_pixels=5, aggregate=aggregate)
    assert (
        f"pixel: {AGGREGATES[aggregate]} up to 4 × 4 variants"
        in (plot.opts.get("plot").kwargs["title"])
    )


def test_an_unknown_aggregate_is_refused():
    with pytest.raises(ValueError, match="use one of max, mean, sample"):
        ld_heatmap(ld_result(symmetric(4)), aggregate="median")


@pytest.fixture
def blocks() -> xr.Dataset:
    return xr.Dataset(
        {
            "first_position": ("blocks", [200, 400, 300]),
            "last_position": ("blocks", [300, 900, 400]),
            "contig": ("blocks", np.array(["2", "2", "3"], object)),
        }
    )


def outlined(plot: hv.Overlay) -> list[tuple[float, ...]]:
    return [tuple(row) for row in plot.Blocks.I.array()]


def test_blocks_are_outlined_on_the_triangle(blocks):
    result = ld_result(symmetric(6), np.arange(1, 7) * 100)
    result = result.assign_coords(
        {f"variant_contig_{k}": (f"variants_{k}", np.zeros(6, int)) for k in (0, 1)}
    ).assign_attrs(contig_id=["2"])
    lines = outlined(ld_triangle(result, blocks=blocks))
    # Variants 1 to 2, and 3 to the end of the window: the second block goes on beyond it.
    assert lines[:3] == [(0.5, 0, 2.5, 0), (0.5, 0, 1.5, -2), (2.5, 0, 1.5, -2)]
    assert lines[3] == (2.5, 0, 5.5, 0)
    assert len(lines) == 6


def test_blocks_are_outlined_on_the_square(blocks):
    result = ld_result(symmetric(6), np.arange(1, 7) * 100)
    lines = outlined(ld_heatmap(result, blocks=blocks.isel(blocks=[0])))
    assert lines == [
        (0.5, 0.5, 2.5, 0.5),
        (2.5, 0.5, 2.5, 2.5),
        (2.5, 2.5, 0.5, 2.5),
        (0.5, 2.5, 0.5, 0.5),
    ]


def test_other_datasets_are_no_blocks():
    with pytest.raises(ValueError, match="ld_blocks"):
        ld_triangle(ld_result(symmetric(4)), blocks=xr.Dataset())


def test_strongest_pairs_are_those_of_a_sort():
    values = symmetric(30)
    values[4, :] = values[:, 4] = np.nan
    pairs, count = strongest_pairs(values, 0.5, limit=20)
    first, second = np.triu_indices(30, k=1)
    size = np.nan_to_num(np.abs(values[first, second]))
    assert count == (size >= 0.5).sum() > 20
    expected = np.sort(size)[::-1][:20]
    np.testing.assert_array_equal(np.abs(values[pairs[:, 0], pairs[:, 1]]), expected)


def test_tables_list_what_is_in_view():
    result = ld_result(symmetric(5))
    table = variants_table(result, np.array([0.1, 0.9, 0.5, 0.7, np.nan]))
    np.testing.assert_allclose(table["MAF"], [0.1, 0.1, 0.5, 0.3, np.nan])
    listed = pairs_table(result, np.array([[0, 3], [1, 2]]))
    np.testing.assert_array_equal(listed["r²"], result.values[[0, 1], [3, 2]].astype("f8"))
