"""Clumps along the genome."""

from __future__ import annotations

import numpy as np

from genobit.ld.plots.tracks import clump_plot
from tests.helpers.cohorts import cohort, mosaic_calls


def test_contigs_of_clumps_are_in_the_order_of_the_genome() -> None:
    ds = cohort(mosaic_calls(1, 90, 60))
    contig = np.repeat(np.array(["2", "10", "X"], object), 30)
    ds = ds.drop_vars("contig_id", errors="ignore").assign(variant_contig=("variants", contig))
    p = np.full(90, 0.5)
    p[[70, 40, 5]] = 1e-12, 1e-10, 1e-8
    clumps = ds.genobit.ld_clump(p)
    assert clumps["index_variant"].values.tolist() == [70, 40, 5]
    panel = clump_plot(clumps).panel
    ticks = panel.x.ticks
    assert [name for _, name in ticks] == ["2", "10", "X"]
    assert (np.diff([at for at, _ in ticks]) > 0).all()
    (leads,) = (mark for mark in panel.marks if mark.label == "Index variants")
    assert (np.diff(leads.x) < 0).all()
