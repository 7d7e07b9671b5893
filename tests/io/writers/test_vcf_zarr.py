"""Stores of `to_vcf_zarr`: what is in them, and what vcztools and bio2zarr say of them."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
import zarr
from bio2zarr.vcz import VcfZarrIndexer

import genobit as gb
from genobit.io.writers import vcf_zarr
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.programs import vcztools

MISSING = 0x7F800001

VCF = """##fileformat=VCFv4.3
##contig=<ID=1>
##contig=<ID=2>
##FILTER=<ID=PASS,Description="All filters passed">
##FILTER=<ID=low,Description="Low quality">
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT S1 S2 S3
1 100 rs1 A G . PASS . GT 0|1 1|1 ./.
1 105 . ACC G,T 3.5 low . GT 0/2 1|2 0/0
2 50 rs3;x A <DEL> . . . GT 0/1 ./. 1
2 60 r A AT 30 PASS . GT 0/1 1/1 0/.
"""


def opened(folder: Path) -> xr.Dataset:
    (folder / "a.vcf").write_text(
        "\n".join(
            line if line.startswith("##") else line.replace(" ", "\t") for line in VCF.splitlines()
        )
        + "\n"
    )
    return gb.open_vcf(folder / "a.vcf", cache_dir=folder / "cache")


def test_a_vcf__comes_back_with_every_label(tmp_path: Path) -> None:
    ds = opened(tmp_path)
    again = gb.open_vcf_zarr(gb.to_vcf_zarr(ds, tmp_path / "a.vcz"))
    assert set(again.variables) == {*ds.variables, "variant_length"}
    for name, variable in ds.variables.items():
        found = again[name].variable.compute()
        assert found.dims == variable.dims
        assert found.dtype == variable.dtype, name
        equal = variable.dtype.kind == "f"
        np.testing.assert_array_equal(found.values, variable.values, strict=not equal)
    assert again.variant_length.values.tolist() == [1, 3, 1, 1]
    assert again.variant_quality.values.view("u4").tolist()[0] == MISSING


def test_a_store__is_vcf_zarr_of_equal_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vcf_zarr, "_VARIANTS", 40)
    monkeypatch.setattr(vcf_zarr, "_SAMPLES", 6)
    ds = cohort(random_calls(1, 130, 9), chunks=(33, 4), contigs=3, phased=True)
    group = zarr.open_group(gb.to_vcf_zarr(ds, tmp_path / "a.vcz"), mode="r")
    assert group.metadata.zarr_format == 2
    assert group.metadata.consolidated_metadata is not None
    assert group.attrs["vcf_zarr_version"] == "0.4"
    sizes = {"variants": 40, "samples": 6}
    for name, array in group.arrays():
        dims = array.attrs["_ARRAY_DIMENSIONS"]
        expected = [sizes.get(dim, size) for dim, size in zip(dims, array.shape, strict=True)]
        assert list(array.chunks) == expected, name
    assert group["variant_position"].dtype == np.int32
    np.testing.assert_array_equal(group["call_genotype"][:], ds.call_genotype)
    # bio2zarr makes the index that it would make of its own store.
    ours = group["region_index"][:]
    again = zarr.open_group(tmp_path / "a.vcz", mode="r+")
    del again["region_index"]
    VcfZarrIndexer(tmp_path / "a.vcz").create_index()
    theirs = zarr.open_group(tmp_path / "a.vcz", mode="r", use_consolidated=False)
    np.testing.assert_array_equal(ours, theirs["region_index"][:])


def test_chunks__of_many_samples_have_few_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vcf_zarr, "_CHUNK_BYTES", 1000)
    store = cohort(random_calls(1, 50, 100), chunks=(50, 100))
    assert vcf_zarr._chunks(store) == {"variants": 5, "samples": 100}
    parts = vcf_zarr._chunked(store, vcf_zarr._chunks(store)).call_genotype.chunks
    assert parts == ((5,) * 10, (100,), (2,))


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_missing_numbers__keep_their_bits(tmp_path: Path, scheduler: str) -> None:
    ds = cohort(random_calls(1, 30, 4), chunks=(10, 4))
    quality = np.full(30, np.nan)
    quality[3] = 7
    depth = np.full((30, 4), MISSING, "u4").view("f4")
    ds["variant_quality"] = ("variants", quality)
    ds["call_DP"] = (("variants", "samples"), da.from_array(depth, chunks=(10, 4)))
    with dask.config.set(scheduler=scheduler, num_workers=2):
        gb.to_vcf_zarr(ds, tmp_path / "a.vcz")
    again = gb.open_vcf_zarr(tmp_path / "a.vcz")
    bits = again.variant_quality.values.view("u4")
    assert np.flatnonzero(bits != MISSING).tolist() == [3]
    assert again.variant_quality.values[3] == 7
    assert (again.call_DP.values.view("u4") == MISSING).all()


@pytest.mark.parametrize("phased", [False, True])
def test_planes__become_calls(tmp_path: Path, phased: bool) -> None:
    calls = random_calls(2, 150, 67)
    calls[np.random.default_rng(1).uniform(size=(150, 67)) < 0.1] = -1
    ds = cohort(calls, chunks=(50, 67), phased=True)
    with gb.set_options(chunk_rows=64):
        again = gb.open_vcf_zarr(gb.to_vcf_zarr(ds.genobit.pack(phased=phased), tmp_path / "a.vcz"))
    expected = calls if phased else np.sort(calls, axis=2)
    np.testing.assert_array_equal(again.call_genotype, expected)
    assert ("call_genotype_phased" in again) is phased
    if phased:
        flags = np.ones((150, 67), bool)
        np.testing.assert_array_equal(again.call_genotype_phased.values, flags, strict=True)
    assert not {"word", "sample_bit", "plane_called"} & set(again.variables)


def test_haploid_calls__of_genotypes_stay_and_those_of_planes_lack_an_allele(
    tmp_path: Path,
) -> None:
    ds = cohort(np.array([[[1, -2], [0, -2], [1, 0]]], np.int8), phased=True)
    again = gb.open_vcf_zarr(gb.to_vcf_zarr(ds, tmp_path / "a.vcz"))
    np.testing.assert_array_equal(again.call_genotype, ds.call_genotype)
    planes = gb.open_vcf_zarr(gb.to_vcf_zarr(ds.genobit.pack(phased=True), tmp_path / "b.vcz"))
    assert planes.call_genotype.values.tolist() == [[[1, -1], [0, -1], [1, 0]]]


def test_any_ploidy_and_contigs_as_text(tmp_path: Path) -> None:
    calls = random_calls(2, 5, 6, ploidy=3)
    ds = cohort(calls).drop_vars("contig_id")
    ds["variant_contig"] = ("variants", ["b", "b", "a", "a", "c"])
    again = gb.open_vcf_zarr(gb.to_vcf_zarr(ds, tmp_path / "a.vcz"))
    np.testing.assert_array_equal(again.call_genotype, calls)
    assert again.contig_id.values.tolist() == ["b", "a", "c"]
    assert again.variant_contig.values.tolist() == [0, 0, 1, 1, 2]


def test_a_bed__leaves_no_trace_of_its_file(tmp_path: Path) -> None:
    ds = gb.open_plink(gb.to_plink(cohort(random_calls(2, 9, 6)), tmp_path / "a"))
    again = gb.open_vcf_zarr(gb.to_vcf_zarr(ds, tmp_path / "a.vcz"))
    assert set(again.call_genotype.attrs) == {"counted_allele"}
    assert again.sample_family_id.values.tolist() == ["0"] * 6


def test_an_existing_path__is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.vcz").mkdir()
    with pytest.raises(FileExistsError, match=r"a\.vcz exists: remove it"):
        gb.to_vcf_zarr(cohort(random_calls(1, 5, 4)), tmp_path / "a.vcz")
    assert list((tmp_path / "a.vcz").iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_error_beside_running_threads__leaves_nothing(
    tmp_path: Path, error: type[BaseException] | OSError
) -> None:
    others = threading.Barrier(3, timeout=60)

    def calls(block: np.ndarray, block_info: dict) -> np.ndarray:
        first = block_info[0]["chunk-location"][0] == 0
        others.wait()
        if first:
            raise error
        time.sleep(0.05)
        return block

    monitored = cohort(random_calls(1, 3000, 9), chunks=(1000, 9))
    ds = monitored.assign(
        call_genotype=monitored.call_genotype.copy(
            data=monitored.call_genotype.data.map_blocks(calls, dtype=np.int8)
        )
    )
    with (
        dask.config.set(scheduler="threads", num_workers=3),
        pytest.raises((KeyboardInterrupt, OSError)),
    ):
        gb.to_vcf_zarr(ds, tmp_path / "a.vcz")
    for _ in range(20):
        assert list(tmp_path.iterdir()) == []
        time.sleep(0.02)


FIELDS: dict[str, tuple[str, object, str]] = {
    # The variable, its values, and its field in the VCF; "" if it is refused.
    "flags": ("variant_x", [True, False], "x|."),
    "flags of alleles": ("variant_x", [[True, False], [True, True]], "x=1,0|x=1,1"),
    **{f"integers of {t}": ("variant_x", np.array([1, 2], t), "x=1|x=2") for t in "bBhHiIqQ"},
    **{f"floats of {t}": ("variant_x", np.array([1, np.nan], t), "x=1|.") for t in "efd"},
    "big-endian": ("variant_x", np.array([1, np.nan], ">f4"), "x=1|."),
    "large integers": ("variant_x", [1, 2**40], ""),
    "complex numbers": ("variant_x", [1, 2j], ""),
    "dates": ("variant_x", np.array(["2020", "2021"], "M8[ns]"), ""),
    "text": ("variant_x", ["a,b", ""], "x=a,b|."),
    "text with blanks": ("variant_x", ["a b", ""], ""),
    "text with semicolons": ("variant_x", ["a", "b;c"], ""),
    "of alleles": ("variant_x", [[1, 2], [3, 4]], "x=1,2|x=3,4"),
    "a name with a dash": ("variant_x-y", [1, 2], ""),
    "a name with a blank": ("variant_x y", [1, 2], ""),
    "flags of calls": ("call_x", np.array([[True, False]] * 2), "1:0|1:0"),
    **{f"calls of {t}": ("call_x", np.array([[1, 2]] * 2, t), "1:2|1:2") for t in "bBhHiIqQefd"},
    "missing of calls": ("call_x", [[np.nan, 2]] * 2, ".:2|.:2"),
    "text of calls": ("call_x", np.array([["a", ""]] * 2, object), "a:.|a:."),
    "text with colons": ("call_x", np.array([["a:b", ""]] * 2, object), ""),
    "large integers of calls": ("call_x", [[1, 2**40]] * 2, ""),
    "no dimension": ("x", 3, ""),
    "text along samples": ("sample_x", ["a b", "c;d"], ".|."),
    "dates along samples": ("sample_x", np.array(["2020", "2021"], "M8[ns]"), ".|."),
}


def with_field(ds: xr.Dataset, name: str, values: object) -> xr.Dataset:
    along = {"variant": ("variants", "alleles"), "call": ("variants", "samples")}
    dims = along.get(name.partition("_")[0], ("samples",))[: np.ndim(values)]
    return ds.assign({name: (dims, values)})


def two_variants() -> xr.Dataset:
    return cohort(np.zeros((2, 2, 2), np.int8)).drop_vars("variant_genetic_position")


@pytest.mark.parametrize("lazy", [False, True])
def test_vcztools__prints_every_type(tmp_path: Path, lazy: bool) -> None:
    ds, fields = two_variants(), {}
    for k, (name, values, expected) in enumerate(field for field in FIELDS.values() if field[2]):
        ds = with_field(ds, f"{name}{k}", values)
        fields[f"{name}{k}"] = [
            own.replace("x", f"x{k}") for own in expected.split("|") if name != "sample_x"
        ]
    store = gb.to_vcf_zarr(ds.chunk(variants=1) if lazy else ds, tmp_path / "a.vcz")
    rows = [line.split("\t") for line in vcztools("view", "-H", store).splitlines()]
    for row, k in zip(rows, range(2), strict=True):
        expected = {own[k] for name, own in fields.items() if name.startswith("variant") and own}
        assert set(row[7].split(";")) == expected - {"."}
        keys = row[8].split(":")
        for name, own in fields.items():
            if name.startswith("call"):
                at = keys.index(name.removeprefix("call_"))
                assert ":".join(call.split(":")[at] for call in row[9:]) == own[k], name
    again = gb.open_vcf_zarr(store)
    for name in fields:
        if again[name].dtype.kind in "biuf":
            np.testing.assert_array_equal(again[name].values, ds[name].values)


@pytest.mark.parametrize("field", [name for name, field in FIELDS.items() if not field[2]])
def test_a_field_that_a_vcf_does_not_hold(tmp_path: Path, field: str) -> None:
    name, values, _ = FIELDS[field]
    for ds in (with_field(two_variants(), name, values), two_variants().chunk(variants=1)):
        with pytest.raises((ValueError, TypeError), match=rf"{name}.*drop_vars\('{name}'\)"):
            gb.to_vcf_zarr(with_field(ds, name, values), tmp_path / "a.vcz")
        assert list(tmp_path.iterdir()) == []


def test_vcztools__shows_the_vcf(tmp_path: Path) -> None:
    ds = opened(tmp_path)
    gb.to_vcf_zarr(ds, tmp_path / "a.vcz")
    (tmp_path / "b.vcf").write_text(vcztools("view", tmp_path / "a.vcz"))
    fields = [line.split("\t") for line in (tmp_path / "b.vcf").read_text().splitlines()]
    assert [row[5] for row in fields if len(row) > 5][1:] == [".", "3.5", ".", "30"]
    again = gb.open_vcf(tmp_path / "b.vcf", cache_dir=tmp_path / "cache")
    for name in ("call_genotype", "call_genotype_phased", "variant_allele", "variant_filter"):
        np.testing.assert_array_equal(again[name], ds[name])
    some = vcztools("view", "-H", "-r", "2:1-55", tmp_path / "a.vcz").splitlines()
    assert [line.split("\t")[2] for line in some] == ["rs3;x"]


def test_vcztools__writes_the_bed_of_to_plink(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 50, 13, missing=0.1), contigs=2)
    bed = gb.to_plink(ds, tmp_path / "a")
    gb.to_vcf_zarr(gb.open_plink(bed), tmp_path / "a.vcz")
    vcztools("view-plink", tmp_path / "a.vcz", "-o", tmp_path / "b")
    assert (tmp_path / "b.bed").read_bytes() == bed.read_bytes()


@pytest.mark.parametrize("phased", [False, True])
def test_vcztools__writes_bgen_that_is_read_back(tmp_path: Path, phased: bool) -> None:
    pytest.importorskip("bgen")
    calls = random_calls(2, 60, 21)
    calls[np.random.default_rng(2).uniform(size=calls.shape[:2]) < 0.1] = -1
    ds = cohort(calls, contigs=3, phased=phased)
    gb.to_vcf_zarr(ds, tmp_path / "a.vcz")
    vcztools("view-bgen", tmp_path / "a.vcz", "-o", tmp_path / "b")
    again = gb.open_bgen(tmp_path / "b.bgen").compute()
    called = calls[:, :, 0] >= 0
    assert 0.05 < 1 - called.mean() < 0.2
    found = again.call_genotype.values
    # Without phase, the order of alleles in a call means nothing.
    expected = calls if phased else np.sort(calls, axis=2)
    np.testing.assert_array_equal(found[called], expected[called])
    assert (found[~called] < 0).all()
    np.testing.assert_array_equal(again.call_dosage.values[called], calls.sum(axis=2)[called])
    mixed = called & (calls[:, :, 0] != calls[:, :, 1])
    assert (again.call_genotype_phased.values[mixed] == phased).all()
    for name in ("variant_position", "variant_id", "variant_allele", "sample_id"):
        np.testing.assert_array_equal(again[name], ds[name])
    for x in (again, ds):
        x["contig"] = x.contig_id[x.variant_contig]
    np.testing.assert_array_equal(again.contig, ds.contig)
