"""Genes beside an LD picture: labels, bars and places."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from genobit.io.genes import read_genes
from genobit.ld.plots.genes import LANES, gene_track, label_lanes
from genobit.visual.style import WIDTH


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
