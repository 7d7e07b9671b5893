"""Traits of explorers that name members of the data take names, regions and masks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import traitlets
import xarray as xr

import genobit as gb
from tests.helpers.cohorts import cohort, mosaic_calls


@cache
def ds() -> xr.Dataset:
    return cohort(mosaic_calls(3, 60, 40), contigs=2)


@cache
def genes() -> xr.DataArray:
    return gb.sample_expression().isel(gene=slice(0, 12))


def variants(trait: str) -> Any:
    return lambda value: getattr(ds().genobit.explore.ld(**{trait: value}), trait)


def samples(trait: str) -> Any:
    return lambda value: getattr(ds().genobit.explore.grm(**{trait: value}), trait)


def markers(trait: str) -> Any:
    return lambda value: getattr(ds().genobit.explore.kendall(**{trait: value}), trait)


def expressed(trait: str) -> Any:
    return lambda value: getattr(genes().genobit.explore.kendall(**{trait: value}), trait)


def position(k: int) -> str:
    return f"{'chr1' if k < 30 else 'chr2'}:{int(ds().variant_position[k])}"


MASK = np.arange(60) == 7
GENE = genes().gene.values
CASES = {
    "ld lead, id": (variants("lead"), "rs7", 7),
    "ld lead, position": (variants("lead"), position(7), 7),
    "ld lead, list": (variants("lead"), ["rs7"], 7),
    "ld lead, index": (variants("lead"), 7, 7),
    "ld selected, id": (variants("selected"), "rs7", (7,)),
    "ld selected, ids": (variants("selected"), ["rs9", "rs7"], (7, 9)),
    "ld selected, tuple": (variants("selected"), ("rs9", "rs7"), (7, 9)),
    "ld selected, array": (variants("selected"), ds().variant_id.values[[9, 7]], (7, 9)),
    "ld selected, region": (variants("selected"), "chr2", tuple(range(30, 60))),
    "ld selected, mask": (variants("selected"), MASK, (7,)),
    "ld selected, list of bools": (variants("selected"), MASK.tolist(), (7,)),
    "ld selected, labels": (
        variants("selected"),
        xr.DataArray(MASK[::-1], {"variant_id": ("variants", ds().variant_id.values[::-1])},
                     "variants"),
        (7,),
    ),
    "ld selected, indices": (variants("selected"), [9, 7], (7, 9)),
    "ld selected, array of indices": (variants("selected"), np.array([9, 7]), (7, 9)),
    "grm selected, id": (samples("selected"), "s7", (7,)),
    "grm selected, mask": (samples("selected"), np.arange(40) == 7, (7,)),
    "grm selected, indices": (samples("selected"), (9, 7), (7, 9)),
    "grm shown, ids": (samples("shown"), ["s9", "s7"], (7, 9)),
    "grm shown, None": (samples("shown"), None, None),
    "kendall variable, id": (markers("variable"), "rs7", 7),
    "kendall pair, ids": (markers("pair"), ["rs9", "rs7"], (7, 9)),
    "kendall pair, None": (markers("pair"), None, None),
    "kendall opened, ids": (markers("opened"), ["rs9", "rs7"], (7, 9)),
    "kendall variable, name": (expressed("variable"), GENE[7], 7),
    "kendall pair, names": (expressed("pair"), (GENE[9], GENE[7]), (7, 9)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:kinship from")
@pytest.mark.parametrize("case", CASES)
def test_names__become_positions(case: str) -> None:
    made, value, expected = CASES[case]
    assert made(value) == expected


WRONG = {
    "an unknown variant": (variants("lead"), "rs_none", r"^lead='rs_none' is not in variant_id"),
    "several leads": (variants("lead"), ["rs1", "rs2"], r"lead=.* names 2 variants: give one id"),
    "an unknown member": (variants("selected"), ["rs1", "rsx"], r"^selected='rsx' is not"),
    "a short mask": (variants("selected"), MASK[:-1], r"selected: the mask .* \(59,\)"),
    "a variant too many": (variants("selected"), [3, 60], r"selected has 3 to 60"),
    "an unknown sample": (samples("selected"), "sx", r"^selected='sx' is not in sample_id"),
    "an unknown gene": (expressed("variable"), "none", r"^variable='none' is not in gene"),
    "a position that is no number": (
        variants("selected"),
        [1.5],
        r"selected\[0\]=1.5 is not a position",
    ),
    "a lead between variants": (variants("lead"), 7.0, r"lead=7.0 is not a position or an id"),
    "a list of leads": (variants("lead"), [1, 2], r"lead=\[1, 2\] is not a position or an id"),
    "ids and positions": (
        variants("selected"),
        ["rs1", 5],
        r"^selected= mixes names and positions, 'rs1' at \[0\] and 5 at \[1\]: give only names",
    ),
    "colours of samples": (
        samples("colour_by"),
        np.zeros(40),
        r"^colour_by takes the name of a label",
    ),
    "colours of genes": (expressed("colour_by"), GENE[:5], "^colour_by takes the name"),
    "one of a pair": (expressed("pair"), [GENE[1]], r"'pair' trait"),
}


@pytest.mark.filterwarnings("ignore:kinship from")
@pytest.mark.parametrize("case", WRONG)
def test_wrong_names__say_which(case: str) -> None:
    made, value, message = WRONG[case]
    with pytest.raises(traitlets.TraitError, match=message):
        made(value)


@pytest.mark.parametrize("chosen", [["rs45"], ["rs45", "rs48"], [45, 48], "rs45", MASK, [7, 45]])
def test_selected_variants__are_in_view(chosen: Any) -> None:
    explorer = ds().genobit.explore.ld(selected=chosen)
    contig, start, end = explorer.region
    first = explorer.selected[0]
    assert contig == ("chr1" if first < 30 else "chr2")
    for variant in explorer.selected:
        if (variant < 30) is (first < 30):
            assert start <= int(ds().variant_position[variant]) <= end
    assert not explorer.status.startswith("Error")
    both = ds().genobit.explore.ld(selected=chosen, lead="rs3", region="chr1")
    assert (both.region[0], both.selected, both.lead) == ("chr1", explorer.selected, 3)


def test_a_lead__is_in_view() -> None:
    explorer = ds().genobit.explore.ld(lead="rs45")
    contig, start, end = explorer.region
    assert contig == "chr2"
    assert start <= int(ds().variant_position[45]) <= end


@pytest.mark.parametrize(
    ("name", "meant"), [("leed", "'lead'"), ("treshold", "'threshold'"), ("select", "'selected'")]
)
def test_misspelt_traits__are_refused(name: str, meant: str) -> None:
    explorer = ds().genobit.explore.ld()
    with pytest.raises(AttributeError, match=f"LDExplorer has no trait '{name}'.*{meant}"):
        setattr(explorer, name, 1)
    explorer.note_of_a_user = "kept"
    assert explorer.note_of_a_user == "kept"
