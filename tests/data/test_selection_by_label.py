"""Selections by id, region and contig: right rows, labels of every type, and clear refusals."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.data.selection_by_label import of_names
from tests.helpers.laziness import raise_if_dask_computes

TEXT: dict[str, Any] = {
    "U": lambda texts: np.array(texts, "U"),
    "object": lambda texts: np.array(texts, object),
    "bytes": lambda texts: np.array(texts, "S"),
    "StringDType": lambda texts: np.array(texts, np.dtypes.StringDType()),
}
CONTIGS = ("numbers of names", "text", "text and names")
CONTIG = ["chr1", "chr1", "chr2", "chr2", "chr2", "X", "HLA:1", "HLA:1"]
POSITION = [1_000, 2_000, 1_000, 1_500_000, 2_000_000, 7, 5, 6]
IDS = ["rs1", "rs2", "rs3", "chr2:1500000:A:G", "rs5", "rs6", "rs7", "rs8"]
SAMPLES = ["ann", "bob", "eve", "1"]


def cohort(text: str = "object", contigs: str = "numbers of names") -> xr.Dataset:
    """Genotypes whose labels have one type and whose contigs have one form."""
    made = TEXT[text]
    calls = np.random.default_rng(1).integers(0, 2, (8, 4, 2)).astype("i1")
    names = ["chr1", "chr2", "X", "HLA:1"]
    ds = xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "variant_id": ("variants", made(IDS)),
            "variant_position": ("variants", POSITION),
            "sample_id": ("samples", made(SAMPLES)),
        }
    )
    if contigs == "numbers of names":
        ds["variant_contig"] = "variants", [names.index(name) for name in CONTIG]
    else:
        ds["variant_contig"] = "variants", made(CONTIG)
    return ds if contigs == "text" else ds.assign(contig_id=("contigs", made(names)))


def lazy(ds: xr.Dataset) -> xr.Dataset:
    """Return genotypes in chunks; labels stay in memory."""
    return ds.assign(call_genotype=ds.call_genotype.chunk(variants=3))


def phased(ds: xr.Dataset) -> xr.Dataset:
    return ds.assign(call_genotype_phased=ds.call_genotype.notnull().all("ploidy"))


FORMS = {
    "genotypes": lambda ds: ds,
    "lazy": lazy,
    "dosages": lambda ds: ds.genobit.pack(),
    "haplotypes": lambda ds: phased(lazy(ds)).genobit.pack(phased=True),
    "by samples": lambda ds: ds.genobit.pack(rows="samples"),
}

CASES: list[tuple[Any, list[int]]] = [
    ("rs3", [2]),
    (["rs5", "rs1"], [4, 0]),
    (("rs5", "rs5"), [4, 4]),
    (pd.Index(["rs5", "rs1"]), [4, 0]),
    (np.array([b"rs5", b"rs1"]), [4, 0]),
    (xr.DataArray(["rs5", "rs1"], dims="hits"), [4, 0]),
    ("chr2:1500000:A:G", [3]),
    ("2", [2, 3, 4]),
    ("chr2", [2, 3, 4]),
    ("chrX", [5]),
    ("2:1.5Mb-2Mb", [3, 4]),
    ("chr2:1,500,000-1999999bp", [3]),
    ("2:1500kb-", [3, 4]),
    ("1:1001-2e3", [1]),
    ("HLA:1", [6, 7]),
    ("HLA:1:6-9", [7]),
    ("1:2000", [1]),
    (["X", "rs2", "chr1:1-1kb"], [5, 1, 0]),
    (["2:1-2Mb", "chr2", "rs1"], [2, 3, 4, 0]),
    (["rs4_is_not_here", "rs1"][1:], [0]),
    (slice(1, 3), [1, 2]),
    ([-1, 0], [7, 0]),
    ([True] + [False] * 7, [0]),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("variants", "expected"), CASES, ids=str)
def test_variants(form: str, variants: Any, expected: list[int]) -> None:
    ds = FORMS[form](cohort())
    with raise_if_dask_computes():
        found = ds.genobit.sel(variants=variants)
    xr.testing.assert_identical(found, ds.genobit.isel(variants=expected))
    xr.testing.assert_identical(found, ds.genobit.isel(variants=variants))
    assert found.variant_id.values.tolist() == [IDS[k] for k in expected]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("samples", "expected"),
    [("bob", [1]), (["eve", "ann"], [2, 0]), ("1", [3]), (np.array(["1"]), [3]), ([1], [1])],
)
def test_samples(form: str, samples: Any, expected: list[int]) -> None:
    ds = FORMS[form](cohort())
    with raise_if_dask_computes():
        found = ds.genobit.sel(samples=samples, variants="chr1")
    xr.testing.assert_identical(found, ds.genobit.isel(samples=expected, variants=[0, 1]))


@given(
    text=st.sampled_from(sorted(TEXT)),
    given_as=st.sampled_from(sorted(TEXT)),
    contigs=st.sampled_from(CONTIGS),
    wanted=st.lists(st.integers(0, 7), min_size=1, max_size=10),
    ends=st.tuples(st.integers(1, 10**7), st.integers(1, 10**7)).map(sorted),
    unit=st.sampled_from(["", "bp", "kb", "Mb"]),
    prefix=st.sampled_from(["", "chr", "CHR"]),
)
def test_labels_of_every_type(
    text: str,
    given_as: str,
    contigs: str,
    wanted: list[int],
    ends: list[int],
    unit: str,
    prefix: str,
) -> None:
    ds = cohort(text, contigs)
    ids = TEXT[given_as]([IDS[k] for k in wanted])
    xr.testing.assert_identical(ds.genobit.sel(variants=ids), ds.isel(variants=wanted))
    scale = {"": 1, "bp": 1, "kb": 10**3, "Mb": 10**6}[unit]
    first, last = (f"{end / scale:.6f}".rstrip("0").rstrip(".") + unit for end in ends)
    inside = [k for k in range(8) if CONTIG[k] == "chr2" and ends[0] <= POSITION[k] <= ends[1]]
    region = f"{prefix}2:{first}-{last}"
    if inside:
        found = ds.genobit.sel(variants=region)
        xr.testing.assert_identical(found, ds.isel(variants=inside))
    else:
        with pytest.raises(ValueError, match="no variant in"):
            ds.genobit.sel(variants=region)


def test_masks_are_aligned_by_label() -> None:
    ds = cohort()
    mask = xr.DataArray(ds.variant_position.values < 10, {"variant_id": ("v", IDS)}, ("v",))
    mask = mask.rename(v="variants")[::-1]
    assert ds.genobit.sel(variants=mask).variant_id.values.tolist() == ["rs6", "rs7", "rs8"]


def test_names_of_a_shared_selection_select() -> None:
    ds = cohort().assign(variant_id=("variants", ["rs1", *"......", "rs8"]))
    selection = gb.Selection(ds, variants=["chr2", "rs8"])
    assert selection.variants == ("chr2:1000", "chr2:1500000", "chr2:2000000", "rs8")
    found = ds.genobit.sel(variants=list(selection.variants))
    assert found.variant_position.values.tolist() == [1_000, 1_500_000, 2_000_000, 6]


def test_coordinates_name_samples_without_ids() -> None:
    ds = cohort().drop_vars("sample_id").assign_coords(samples=SAMPLES)
    assert ds.genobit.sel(samples=["eve"]).samples.values.tolist() == ["eve"]


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"variants": "rs9"}, KeyError, r"variants='rs9' is not in variant_id, .* did you mean 'rs1'"),
    ({"variants": ["rs1", "rs33"]}, KeyError, "did you mean 'rs3'"),
    ({"variants": "nothing"}, KeyError, "the first names are 'rs1', 'rs2', "),
    ({"variants": "9:1-2"}, KeyError, "no region of the contigs chr1, chr2, X, HLA:1"),
    ({"variants": "9"}, KeyError, "no region of the contigs chr1, chr2, X, HLA:1"),
    ({"variants": "chr1:3"}, KeyError, "'chr1:3' is not in variant_id"),
    ({"variants": "2:1.5-7"}, ValueError, "'1.5' is not a whole position"),
    ({"variants": "2:7-5"}, ValueError, "ends before it begins"),
    ({"variants": "2:1Mb-1.2Mb"}, ValueError, "no variant in chr2:1000000-1200000"),
    ({"variants": slice("rs1", "rs3")}, IndexError, "not of labels such as 'rs1'"),
    ({"variants": [1.5]}, IndexError, "takes ids, regions, a slice"),
    ({"samples": [["ann"]]}, IndexError, r"samples= takes ids, a slice"),
    ({"samples": ["ann", 1]}, IndexError, r"samples= mixes names and positions, 'ann' at .0. "),
    ({"samples": "any"}, KeyError, "samples='any' is not in sample_id; did you mean 'ann'"),
    ({"samples": "1:1-9"}, KeyError, "samples='1:1-9' is not in sample_id"),
]


@pytest.mark.parametrize("form", ["genotypes", "dosages"])
@pytest.mark.parametrize(("selection", "error", "message"), REFUSED, ids=str)
def test_refuses(
    form: str, selection: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        FORMS[form](cohort()).genobit.sel(**selection)


def test_repeated_names_are_refused_with_their_positions() -> None:
    ds = cohort().assign(variant_id=("variants", ["a", "b", "a", *"......"][:8]))
    with pytest.raises(ValueError, match="'a' names 2 members in variant_id, at index 0, 2:"):
        ds.genobit.sel(variants=["b", "a"])
    assert ds.genobit.sel(variants="b").variant_position.values.tolist() == [2_000]
    twice = cohort().assign(variant_position=("variants", [5] * 8))
    with pytest.raises(ValueError, match=r"'2:5' is the position of 3 .*=2, 3, 4: .*'2:5-5'"):
        twice.genobit.sel(variants="2:5")
    assert twice.genobit.sel(variants="2:5-5").sizes["variants"] == 3


def test_a_region_may_hold_position_zero() -> None:
    ds = cohort().assign(variant_position=("variants", [0, 50, 0, 50, 51, 0, 0, 0]))
    for region, expected in (("2:0-50", [0, 50]), ("2:1-50", [50]), ("2", [0, 50, 51])):
        found = ds.genobit.sel(variants=region)
        assert found.variant_position.values.tolist() == expected


def test_missing_labels_are_named() -> None:
    ds = cohort()
    with pytest.raises(KeyError, match="the Dataset has no variant_id to find it in"):
        ds.drop_vars(["variant_id", "variant_contig"]).genobit.sel(variants="rs1")
    with pytest.raises(KeyError, match="a region needs variant_position"):
        ds.drop_vars("variant_position").genobit.sel(variants="2:1-5")
    assert ds.drop_vars("variant_position").genobit.sel(variants="2").sizes["variants"] == 3


def test_other_takes_names_of_variants() -> None:
    ds = cohort()
    whole = ds.genobit.ld("r2", compute=True)
    for form in ("genotypes", "dosages", "lazy"):
        held = FORMS[form](ds)
        with raise_if_dask_computes():
            one = held.genobit.ld("r2", other="rs3")
            some = held.genobit.ld("r2", other=["chr1", "rs3"])
        xr.testing.assert_equal(one.drop_attrs(), whole.isel(variants_1=[2]).drop_attrs())
        xr.testing.assert_equal(some.drop_attrs(), whole.isel(variants_1=[0, 1, 2]).drop_attrs())
    tau = ds.genobit.kendall("tau_b", compute=True)
    xr.testing.assert_equal(
        phased(ds).genobit.pack(phased=True).genobit.kendall("tau_b", other="rs3", compute=True),
        tau.isel(variants_1=[2]),
    )
    with pytest.raises(KeyError, match="did you mean 'rs3'"):
        ds.genobit.ld("r2", other="rs33")
    with pytest.raises(TypeError, match="or ids or regions of this Dataset, not int"):
        ds.genobit.ld("r2", other=3)


def test_many_ids_of_a_million_are_found_in_their_order() -> None:
    ids = np.array([f"rs{k}" for k in range(10**6)], object)
    ds = xr.Dataset({"variant_id": ("variants", ids)})
    # One by one, this would be 10**11 comparisons.
    assert of_names(ds, ids[::-10], "variants").tolist() == [*range(999_999, 0, -10)]
    with pytest.raises(KeyError, match="did you mean 'rs123456'"):
        of_names(ds, np.array(["rs_123456"], object), "variants")


def test_regions_of_published_data(shared_data: Path, tmp_path: Path) -> None:
    ds = gb.open_plink(shared_data / "lct_1kg/lct_1kg.bed")
    lead = ds.genobit.sel(variants="rs4988235")
    assert lead.variant_position.values.tolist() == [136_608_646]
    near = ds.genobit.sel(variants="chr2:136.5Mb-136.6Mb")
    expected = (ds.variant_position >= 136_500_000) & (ds.variant_position <= 136_600_000)
    xr.testing.assert_identical(near, ds.isel(variants=expected.values))
    r2 = ds.genobit.pack().genobit.ld("r2", other="rs4988235")
    assert r2.sizes == {"variants_0": 607, "variants_1": 1}
    with pytest.raises(KeyError, match=r"did you mean .*'rs4988235'"):
        ds.genobit.sel(variants="rs4988236")
    vcf = shared_data / "kg1_chr22/kg1_chr22.vcf.gz"
    region = "chr22:16.05Mb-16100kb"
    part = gb.open_vcf(vcf, region=region, cache_dir=tmp_path)
    assert part.attrs["region"] == "22:16050000-16100000"
    with gzip.open(vcf, "rt") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    inside = [row for row in rows if 16_050_000 <= int(row[1]) <= 16_100_000]
    assert 0 < len(inside) < len(rows)
    np.testing.assert_array_equal(part.variant_position, [int(row[1]) for row in inside])
    calls = [[call[:3].replace("/", "|").split("|") for call in row[9:]] for row in inside]
    np.testing.assert_array_equal(part.call_genotype, np.array(calls, int))
    later = part.genobit.sel(variants="chr22:16.06Mb-16.1Mb")
    expected = part.variant_position >= 16_060_000
    xr.testing.assert_identical(later, part.isel(variants=expected.values))
    assert 0 < later.sizes["variants"] < part.sizes["variants"]
