"""Places of variants along the genome."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from genobit.visual.genome import places

CONTIGS = ["2", "10", "1", "X"]


@pytest.mark.parametrize("coded", [True, False])
def test_contigs_are_in_the_order_of_the_indices_of_variants(coded: bool) -> None:
    number = np.arange(40)
    contig = np.repeat(CONTIGS, 10).astype(object)
    ds = xr.Dataset(
        {
            "variant_position": ("variants", np.tile(np.arange(10) * 100_000, 4)),
            "variant_contig": ("variants", np.repeat(np.arange(4), 10) if coded else contig),
        }
    )
    if coded:
        ds["contig_id"] = "contigs", np.array(CONTIGS, object)
    whole = places(ds)
    assert [name for _, name in whole.ticks] == (CONTIGS if not coded else ["0", "1", "2", "3"])
    assert (np.diff(whole.x) > 0).all()
    order = np.random.default_rng(0).permutation(40)
    found = places(ds.isel(variants=order), number=number[order])
    assert found.ticks == whole.ticks
    np.testing.assert_array_equal(found.x, whole.x[order])
    np.testing.assert_array_equal(found.contig, whole.contig[order])
