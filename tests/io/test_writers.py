"""Open, select, write and open again: every reader with every writer gives the same bits."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.cohorts import cohort, random_calls
from tests.io.formats import FORMATS

LABELS = ("variant_position", "variant_id", "variant_allele", "sample_id")


def bits(ds: xr.Dataset) -> dict[str, np.ndarray]:
    planes = ds.genobit.pack()
    return {str(name): planes[name].values for name in planes.data_vars}


@pytest.mark.parametrize("given_as", FORMATS)
@settings(max_examples=3)
@given(data=st.data())
def test_what_is_selected_and_written__is_read_again(
    tmp_path_factory: pytest.TempPathFactory, given_as: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    variants, samples = data.draw(st.integers(1, 140)), data.draw(st.integers(1, 70))
    seed = data.draw(st.integers(0, 2**32 - 1))
    calls = random_calls(seed, variants, samples)
    rng = np.random.default_rng(seed)
    # Whole calls: half of one is missing in a .bed. A heterozygous call there is (0, 1).
    calls[rng.uniform(size=(variants, samples)) < 0.1] = -1
    ds = cohort(np.sort(calls, axis=2), contigs=1 + variants // 50)
    kept = np.flatnonzero(rng.uniform(size=variants) < 0.7)
    kept = kept if kept.size else np.array([0])
    order = rng.permutation(samples)[: data.draw(st.integers(1, samples))]
    selection = {"variants": kept, "samples": order}
    opened = FORMATS[given_as].through(ds, folder / "given", chunks=64)
    selected = opened.genobit.isel(**selection)
    planes = opened.genobit.pack().genobit.isel(**selection)
    expected_bits = bits(selected)
    (folder / "planes").mkdir()
    for form in FORMATS.values():
        again = form.through(selected, folder / "a")
        np.testing.assert_array_equal(again.call_genotype, ds.call_genotype[kept][:, order])
        for name in LABELS:
            expected = ds[name].isel({d: s for d, s in selection.items() if d in ds[name].dims})
            np.testing.assert_array_equal(again[name], expected)
        contigs = [x.contig_id.values[x.variant_contig.values].tolist() for x in (again, selected)]
        assert contigs[0] == contigs[1]
        for found in (again, form.through(planes, folder / "planes" / "a")):
            np.testing.assert_equal(bits(found), expected_bits)
