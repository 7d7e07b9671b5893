from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.data.topology import is_binary
from genobit.io.trees import read_trees


@pytest.fixture(scope="module")
def aln() -> xr.DataArray:
    return gb.sample_alignment()


def test_shape_and_labels(aln: xr.DataArray) -> None:
    assert aln.dims == ("taxa", "sites")
    assert aln.shape == (24, 600)
    assert aln.dtype == np.dtype("U1")
    assert aln.attrs["kind"] == "dna"
    assert aln.taxa.values.tolist() == [f"species_{number:02d}" for number in range(1, 25)]
    assert aln.codon_position.values[:4].tolist() == [1, 2, 3, 1]
    assert aln.attrs["source"] == "genobit.sample_alignment, version 1"


def test_the_same_every_time(aln: xr.DataArray) -> None:
    xr.testing.assert_identical(gb.sample_alignment(), aln)
    assert "".join(aln.values[0, 20:40]) == "AGACGCTCCTGGAAACGTTT"


def test_the_tree_is_of_these_taxa(aln: xr.DataArray) -> None:
    tree = read_trees(aln.attrs["tree"], aln.taxa.values).trees[0]
    assert is_binary(tree.children)
    # All tips are of today.
    depth = np.zeros(tree.parents.size)
    for node in range(tree.parents.size - 2, -1, -1):
        depth[node] = depth[tree.parents[node]] + tree.lengths[node]
    np.testing.assert_allclose(depth[:24], depth[0], atol=1e-4)
    assert (tree.lengths[:24] > 0.1).all()


def test_close_species_are_alike(aln: xr.DataArray) -> None:
    known = np.isin(aln.values, list("ACGT"))
    differ = (aln.values[:, None] != aln.values) & known[:, None] & known
    differences = differ.sum(axis=2)
    assert differences[19, 20] < 20
    assert differences[0, 23] > 100


def test_third_positions_change_most(aln: xr.DataArray) -> None:
    varies = (aln.values != aln.values[0]).any(axis=0)
    share = [float(varies[aln.codon_position.values == position].mean()) for position in (1, 2, 3)]
    assert share[1] < share[0] < share[2]
    assert share[2] > 0.8


def test_blemishes(aln: xr.DataArray) -> None:
    gaps = aln.values == "-"
    assert gaps[:, 240:249].all(axis=1).sum() == gaps.any(axis=1).sum() == 3
    assert gaps.sum() == 27
    assert (aln.values == "?").sum() == 36
    assert 0.002 < np.isin(aln.values, list("RYSWKM")).mean() < 0.006
