"""The shared selection: names in, names out, and refusals that name what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets
import xarray as xr

import genobit as gb


@pytest.fixture
def ds() -> xr.Dataset:
    return xr.Dataset(
        {
            "variant_id": ("variants", ["rs1", "rs2", ".", "."]),
            "variant_contig": ("variants", [0, 0, 1, 1]),
            "variant_position": ("variants", [5, 7, 5, 9]),
            "contig_id": ("contigs", ["1", "X"]),
            "sample_id": ("samples", ["ann", "bob", "eve"]),
        }
    )


def test_names_places_and_masks_are_the_same(ds):
    selection = gb.Selection(ds)
    for value in (["X:9", "rs2"], [3, 1], np.array([False, True, False, True]), ("rs2", "X:9")):
        selection.variants = value
        assert selection.variants == ("rs2", "X:9")


def test_observers_hear_of_changes_alone(ds):
    selection, heard = gb.Selection(ds), []
    selection.observe(lambda change: heard.append(change["new"]), "samples")
    selection.samples = ["eve", "ann"]
    selection.samples = [0, 2]
    selection.clear()
    assert heard == [("ann", "eve"), ()]


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("variants", ["rs1", "rs99"], r"no 'rs99' among the 4 \(rs1, rs2, X:5, …\)"),
        ("samples", [3], "no position 3; give 0 to 2"),
        ("samples", -1, "no position -1"),
        ("samples", [True], "the mask has 1 values, and there are 3"),
        ("samples", [["ann"]], r"shape \(1, 1\)"),
    ],
)
def test_refuses_what_is_not_there(ds, kind, value, said):
    selection = gb.Selection(ds, samples=["bob"])
    with pytest.raises(traitlets.TraitError, match=said):
        setattr(selection, kind, value)
    assert selection.samples == ("bob",)


def test_regions_and_contigs_select_their_variants(ds):
    selection = gb.Selection(ds, variants="chr1:6-")
    assert selection.variants == ("rs2",)
    selection.variants = ["X", "rs1"]
    assert selection.variants == ("rs1", "X:5", "X:9")
    selection.by_name(["1:1bp-0.006kb", "eve"])
    assert (selection.variants, selection.samples) == (("rs1",), ("eve",))
    with pytest.raises(traitlets.TraitError, match=r"variants: .* has no variant in 1:50-60"):
        selection.variants = "1:50-60"
    with pytest.raises(ValueError, match="ends before it begins"):
        selection.by_name(["1:9-5"])
    with pytest.raises(ValueError, match="no '7:1-2': rs1"):
        selection.by_name(["7:1-2"])
    assert selection.variants == ("rs1",)


def test_a_sample_comes_before_a_contig_of_its_name(ds):
    selection = gb.Selection(ds.assign(sample_id=("samples", ["1", "2", "X"])))
    selection.by_name(["X"])
    assert (selection.variants, selection.samples) == ((), ("X",))


def test_refuses_another_dimension():
    with pytest.raises(ValueError, match=r"or taxa\), and these data have 'gene', 'donor'"):
        gb.Selection(xr.DataArray(np.zeros((2, 2)), dims=("gene", "donor")))
    with pytest.raises(TypeError, match="not 'genes'"):
        gb.Selection(genes=["a"])


def test_data_of_the_same_names_join(ds):
    selection = gb.Selection(ds)
    few = selection.know(ds.isel(samples=[2, 1]))
    selection.samples = ["ann", "eve"]
    assert selection.places("samples", few["samples"]).tolist() == [0]
    assert selection.samples == ("ann", "eve")


def test_measurements_share_samples_with_genotypes(ds):
    selection = gb.Selection(ds)
    expr = xr.DataArray(np.zeros((2, 2)), {"sample": ["eve", "zoe"]}, dims=("gene", "sample"))
    known = selection.know(expr)
    selection.samples = ["zoe", "eve"]
    assert selection.samples == ("eve", "zoe")
    assert selection.places("samples", known["samples"]).tolist() == [0, 1]


def test_what_was_selected_before_has_to_be_there(ds):
    early = gb.Selection(variants=["rs2"])
    early.know(ds)
    assert early.variants == ("rs2",)
    with pytest.raises(ValueError, match="does not fit these data: variants: there is no 'rs9'"):
        gb.Selection(variants=["rs9"]).know(ds)


def test_places_without_names_are_of_one_dataset(ds):
    bare = ds[["variant_contig"]]
    selection = gb.Selection(bare, variants=[1])
    assert selection.variants == (1,)
    selection.know(bare)
    with pytest.raises(ValueError, match="4 variants without names, and these data have 4 var"):
        selection.know(ds)


def test_by_name_finds_either_kind(ds):
    selection = gb.Selection(ds)
    selection.by_name(["eve", "rs2"])
    assert (selection.variants, selection.samples) == (("rs2",), ("eve",))
    with pytest.raises(ValueError, match="no 'nobody': rs1, rs2, X:5, … are variants; ann, bob"):
        selection.by_name(["nobody"])
    assert repr(selection) == "Selection: 1 variant and 1 sample"
