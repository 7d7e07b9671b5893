from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from tests.helpers.cohorts import TAILS, cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.plink_files import write_fileset
from tests.helpers.reference import (
    banded,
    bits_of,
    dosages,
    haplotypes,
    linkage_matrix,
    window_pairs,
    words_of,
)

# One rounding to float32 (2**-24); the oracle's float64 sums are good to 1e-12.
TOLERANCE = {"rtol": 1e-6, "atol": 1e-7}
CHUNKINGS = [None, (64, 97), (100, 97), (300, 97), (64, 40), (7, 13)]


def plane_names(ds: xr.Dataset) -> list[str]:
    return [str(name) for name in ds.data_vars if str(name).startswith("plane_")]


def assert_padding_is_zero(ds: xr.Dataset) -> None:
    bits = ds.attrs["genobit_bits"]
    for name in plane_names(ds):
        words = ds[name].values
        assert words.dtype == np.uint64
        np.testing.assert_array_equal(words, words_of(bits_of(words, bits)), err_msg=name)


def unpacked(ds: xr.Dataset) -> np.ndarray:
    """Dosages, or alleles of haplotypes, of a packed Dataset, rows x bits, NaN where missing."""
    planes = {name: bits_of(ds[name].values, ds.attrs["genobit_bits"]) for name in plane_names(ds)}
    called = planes.pop("plane_called", None)
    values = sum(plane.astype(float) for plane in planes.values())
    return values if called is None else np.where(called, values, np.nan)


# Packing


@given(
    seed=st.integers(0, 2**32),
    variants=st.sampled_from([1, 5, 63, 64, 65, 130]),
    samples=st.sampled_from(TAILS),
    missing=st.sampled_from([0.0, 0.2, 1.0]),
    rows=st.sampled_from(["variants", "samples"]),
    chunks=st.sampled_from([None, (64, 33), (50, 1000)]),
)
@settings(max_examples=60)
def test_pack__equals_the_definition_and_pads_with_zeros(
    seed: int, variants: int, samples: int, missing: float, rows: str, chunks: tuple | None
) -> None:
    calls = random_calls(seed, variants, samples, missing=missing)
    bits = cohort(calls, chunks=chunks).genobit.pack(rows=rows)
    g = dosages(calls)
    np.testing.assert_array_equal(unpacked(bits), g if rows == "variants" else g.T)
    assert_padding_is_zero(bits)


def packed_every_way(folder: Path) -> dict[str, xr.Dataset]:
    """Planes from each place they can come from, of 70 variants and 75 samples."""
    calls = random_calls(3, 70, 75, missing=0.1)
    ds = cohort(calls, chunks=(64, 30), phased=True)
    g = np.nan_to_num(dosages(calls), nan=-1).astype(np.int64)
    plink = gb.open_plink(write_fileset(folder, g))
    plink = plink.drop_vars([v for v in plink.variables if "position" in str(v)])
    haploid = ds.genobit.pack(phased=True)
    pick = np.random.default_rng(1).permutation(75)[:66]
    return {
        "calls": ds.genobit.pack(),
        "calls, rows=samples": ds.genobit.pack(rows="samples"),
        "haplotypes": haploid,
        "bed": plink.genobit.pack(),
        "bed, rows=samples": plink.genobit.pack(rows="samples"),
        "bed, selected first": plink.isel(samples=pick).genobit.pack(),
        "isel of dosages": ds.genobit.pack().genobit.isel(samples=pick),
        "isel of haplotypes": haploid.genobit.isel(samples=pick),
        "isel of bits of rows=samples": ds.genobit.pack(rows="samples").genobit.isel(
            variants=slice(1, 66)
        ),
        "isel of none": ds.genobit.pack().genobit.isel(samples=slice(0, 64)),
    }


def test_padding_bits_are_zero_however_planes_come_to_be(tmp_path: Path) -> None:
    for name, bits in packed_every_way(tmp_path).items():
        assert_padding_is_zero(bits.assign_attrs(genobit_name=name))


def test_pack__of_a_bed_file_equals_packing_its_calls(tmp_path: Path) -> None:
    g = np.random.default_rng(2).integers(-1, 3, (150, 83))
    ds = gb.open_plink(write_fileset(tmp_path, g), chunks=40)
    in_memory = ds.load().copy()
    expected = np.where(g < 0, np.nan, g)
    for rows in ("variants", "samples"):
        for source in (gb.open_plink(tmp_path / "cohort.bed", chunks=40), in_memory):
            bits = source.genobit.pack(rows=rows)
            np.testing.assert_array_equal(
                unpacked(bits), expected if rows == "variants" else expected.T
            )


def test_pack__of_a_changed_bed_dataset_does_not_read_the_file_instead(tmp_path: Path) -> None:
    g = np.random.default_rng(2).integers(0, 3, (70, 83))
    ds = gb.open_plink(write_fileset(tmp_path, g))
    reverse = ds.isel(samples=slice(None, None, -1))
    np.testing.assert_array_equal(unpacked(reverse.genobit.pack()), g[:, ::-1])
    swapped = ds.assign(call_genotype=(1 - ds.call_genotype).assign_attrs(ds.call_genotype.attrs))
    np.testing.assert_array_equal(unpacked(swapped.genobit.pack()), 2 - g)
    turned = ds.transpose("samples", ...)
    np.testing.assert_array_equal(unpacked(turned.genobit.pack()), g)


def test_pack__of_genotypes_in_memory_without_gaps_has_no_called_plane() -> None:
    calls = random_calls(1, 20, 30)
    assert plane_names(cohort(calls).genobit.pack()) == ["plane_carrier", "plane_hom_alt"]
    assert plane_names(cohort(calls, phased=True).genobit.pack(phased=True)) == ["plane_alt"]
    lazy = cohort(calls, chunks=(10, 30))
    assert "plane_called" in lazy.genobit.pack()
    assert "plane_called" not in lazy.genobit.pack(missing="refuse")
    calls[3, 4, 1] = -1
    assert "plane_called" in cohort(calls).genobit.pack()


def test_pack__missing_refuse_names_the_first_missing_call() -> None:
    calls = random_calls(1, 300, 30)
    calls[299] = -1
    calls[201, 17, 1] = -1
    for chunks in CHUNKINGS:
        ds = cohort(calls, chunks=chunks and (chunks[0], 10))
        bits = ds.isel(variants=slice(0, 250)).genobit.pack(missing="refuse")
        with pytest.raises(ValueError, match=r"variants=201, samples=17 .*missing='keep'"):
            bits.compute(scheduler="synchronous")


def test_pack__of_bed_missing_refuse(tmp_path: Path) -> None:
    g = np.random.default_rng(2).integers(0, 3, (70, 83))
    g[65, 80] = -1
    ds = gb.open_plink(write_fileset(tmp_path, g))
    with pytest.raises(ValueError, match="variants=65, samples=80"):
        ds.genobit.pack(missing="refuse").compute()


def test_pack__carries_every_label_and_says_what_it_is() -> None:
    ds = cohort(random_calls(1, 20, 30), contigs=2, chunks=(8, 30))
    ds.attrs["title"] = "a cohort"
    bits = ds.genobit.pack()
    for name in ("variant_position", "variant_contig", "variant_id", "variant_allele", "sample_id"):
        xr.testing.assert_equal(bits[name].variable, ds[name].variable)
        assert name in bits.coords
    assert bits.contig_id.values.tolist() == ["chr1", "chr2"]
    assert bits.attrs["title"] == "a cohort"
    assert bits.attrs["counted_allele"].startswith("allele 1")
    assert bits.attrs["genobit_bits"] == 30
    assert "call_genotype" not in bits.variables


@pytest.mark.parametrize("dtype", ["int16", "int64", "uint8"])
def test_pack__takes_any_integer(dtype: str) -> None:
    calls = random_calls(1, 20, 30)
    bits = cohort(calls.astype(dtype)).genobit.pack()
    np.testing.assert_array_equal(unpacked(bits), dosages(calls))
    wide = calls.astype(dtype)
    wide[3, 4, 1] = 200
    message = (
        "call_genotype is 200 at variants=3, samples=4: an allele index is at most 127"
        if dtype != "int8"
        else ""
    )
    with pytest.raises(ValueError, match=message):
        cohort(wide).genobit.pack().compute()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (2, r"call_genotype is 2 at variants=130, samples=7: expected alleles 0..1; name all"),
        (-3, r"call_genotype is -3 at variants=130, samples=7: expected .* -1 \(missing\); -2"),
        (-2, r"call_genotype is -2 at variants=130, samples=7: .*lower ploidy.*phased=True"),
    ],
)
@pytest.mark.parametrize("chunks", CHUNKINGS)
def test_pack__names_the_first_call_that_does_not_fit(
    call: int, message: str, chunks: tuple | None
) -> None:
    calls = random_calls(1, 200, 30)
    calls[130, 7, 1] = call
    ds = cohort(calls, chunks=chunks).drop_vars("variant_allele")
    with pytest.raises(ValueError, match=message):
        ds.genobit.pack().compute(scheduler="synchronous")


def test_pack__haploid_calls_are_haplotypes_with_one_missing() -> None:
    calls = random_calls(1, 20, 30)
    calls[:, 5, 1] = -2
    ds = cohort(calls, chunks=(8, 30), phased=True)
    bits = ds.genobit.pack(phased=True)
    np.testing.assert_array_equal(unpacked(bits), haplotypes(calls))
    right = linkage_matrix("r2", haplotypes(calls))
    np.testing.assert_allclose(bits.genobit.ld("r2"), right, **TOLERANCE)
    # As dosages a haploid call is missing, in either order of doing it.
    np.testing.assert_allclose(
        bits.genobit.ld("r2", phased=False), linkage_matrix("r2", dosages(calls)), **TOLERANCE
    )


@pytest.mark.parametrize("phased", [[[np.nan, 1.0]], [["False", "True"]], [[0, 1]]])
def test_pack__refuses_a_phase_that_is_not_boolean(phased: list[list[object]]) -> None:
    ds = cohort(np.array([[[0, 1], [0, 1]]], np.int8))
    ds["call_genotype_phased"] = ("variants", "samples"), phased
    with pytest.raises(TypeError, match=r"call_genotype_phased is .*, expected booleans: ") as told:
        ds.genobit.pack(phased=True)
    remedy = str(told.value).rpartition("ds.assign(")[2]
    mended = eval("ds.assign(" + remedy, {"ds": ds})
    assert mended.call_genotype_phased.values.tolist() == [[False, True]]
    # Dosages need no phase.
    assert ds.genobit.pack().sizes["variants"] == 1


@pytest.mark.parametrize("ploidy", [1, 3, 4])
def test_pack__of_another_ploidy_takes_haplotypes_only(ploidy: int) -> None:
    calls = random_calls(1, 10, 45, ploidy=ploidy, missing=0.1)
    ds = cohort(calls, phased=True)
    with pytest.raises(ValueError, match=f"ploidy {ploidy}, a dosage needs 2.*phased=True"):
        ds.genobit.pack()
    bits = ds.genobit.pack(phased=True)
    np.testing.assert_array_equal(unpacked(bits), haplotypes(calls))
    np.testing.assert_allclose(
        bits.genobit.ld("D"), linkage_matrix("D", haplotypes(calls)), **TOLERANCE
    )
    with pytest.raises(ValueError, match=f"packed Dataset has ploidy {ploidy}, a dosage needs 2"):
        bits.genobit.ld("r2", phased=False)
    chosen = bits.genobit.isel(samples=[3, 44, 3])
    np.testing.assert_array_equal(unpacked(chosen), haplotypes(calls[:, [3, 44, 3]]))


@pytest.mark.parametrize("chunks", CHUNKINGS)
def test_pack__refuses_an_unphased_heterozygote(chunks: tuple | None) -> None:
    calls = random_calls(1, 200, 60)
    calls[150, 41] = (1, 0)
    ds = cohort(calls, chunks=chunks, phased=True)
    phased = ds.call_genotype_phased.values.copy()
    # Unphased homozygotes and gaps say nothing wrong.
    phased[(calls[..., 0] == calls[..., 1])] = False
    phased[150, 41] = False
    ds["call_genotype_phased"] = (
        ("variants", "samples"),
        phased if chunks is None else dask.array.from_array(phased, chunks=chunks),
    )
    bits = ds.genobit.pack(phased=True)
    with pytest.raises(ValueError, match=r"variants=150.*samples=41.*not phased.*phased=False"):
        bits.compute(scheduler="synchronous")
    ds.genobit.pack().compute()
    fine = ds.isel(variants=slice(0, 150)).genobit.pack(phased=True).compute()
    np.testing.assert_array_equal(unpacked(fine), haplotypes(calls[:150]))


@pytest.mark.parametrize(
    ("call", "refused"),
    [
        ((0, -1), True),
        ((-1, 1), True),
        ((-1, -1), False),
        ((1, -2), False),
        ((-1, 0, 1), True),
        ((0, 0, 1), True),
        ((1, 1, -2), False),
    ],
)
def test_pack__refuses_an_unphased_call_whose_alleles_differ(call: tuple, refused: bool) -> None:
    calls = np.array([[call]], np.int8)
    ds = xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "call_genotype_phased": (("variants", "samples"), [[False]]),
        }
    )
    bits = ds.genobit.pack(phased=True)
    if refused:
        with pytest.raises(ValueError, match=r"variants=0, samples=0 has different alleles"):
            bits.compute()
    else:
        np.testing.assert_array_equal(unpacked(bits), np.where(calls < 0, np.nan, calls)[:, 0])


def test_ld__refuses_what_is_no_dataset() -> None:
    _, dosage, _ = packed_pair()
    with pytest.raises(TypeError, match=r"other= takes a Dataset .* not DataArray"):
        dosage.genobit.ld(other=dosage.plane_carrier)


@pytest.mark.parametrize("source", ["calls", "lazy", "bed", "store", "store again"])
@pytest.mark.parametrize("method", ["pack", "ld", "ld_prune", "ld_score", "ld_decay", "ld_pairs"])
def test_calls_without_phase_are_no_haplotypes(tmp_path: Path, source: str, method: str) -> None:
    ds = cohort(
        np.sort(random_calls(1, 20, 30), axis=2), chunks=(8, 30) if source == "lazy" else None
    )
    if source == "bed":
        ds = gb.open_plink(gb.to_plink(ds, tmp_path / "a"))
    for k in range(source.count("store") + source.count("again")):
        ds = gb.open_vcf_zarr(gb.to_vcf_zarr(ds, tmp_path / f"{k}.vcz"))
    call = {
        "ld_score": lambda ds: ds.genobit.ld_score(5, phased=True).compute(),
        "ld_decay": lambda ds: ds.genobit.ld_decay("50kb", phased=True, bins=[0, 1e4, 5e4]),
        "ld_pairs": lambda ds: ds.genobit.ld_pairs(threshold=0.1, phased=True).to_dataframe(),
    }.get(method, lambda ds: getattr(ds.genobit, method)(phased=True).compute())
    with pytest.raises(
        ValueError, match="different alleles and is not phased: pack dosages"
    ) as told:
        call(ds)
    remedy = str(told.value).rpartition(": ")[2]
    call(eval(remedy, {"ds": ds}))


@pytest.mark.parametrize("chunks", CHUNKINGS)
def test_homozygous_and_haploid_calls_need_no_phase(chunks: tuple | None) -> None:
    one = random_calls(1, 200, 60, ploidy=1, missing=0.1)
    for calls in (one, np.repeat(one, 2, axis=2), np.insert(one, 1, -2, axis=2)):
        bits = cohort(calls, chunks=chunks).genobit.pack(phased=True)
        np.testing.assert_array_equal(unpacked(bits), haplotypes(calls))


# Multi-allelic variants


def multiallelic(chunks: tuple | None = None) -> tuple[xr.Dataset, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 5, 150)
    calls = np.stack([rng.integers(-1, max(k, 2), (37, 2)) for k in counts]).astype(np.int8)
    names = np.array([list("ACGT"[:k]) + [""] * (4 - k) for k in counts], object)
    ds = cohort(calls, chunks=chunks, contigs=3, phased=True).drop_vars("variant_allele")
    ds["variant_allele"] = (("variants", "alleles"), names)
    return ds, calls, counts


@pytest.mark.parametrize("chunks", [None, (40, 20)])
def test_pack__multiallelic(chunks: tuple | None) -> None:
    ds, calls, counts = multiallelic(chunks)
    first = int(np.flatnonzero(counts > 2)[0])
    message = (
        rf"{(counts > 2).sum()} of 150 variants have more than two alleles, first at "
        rf"variants={first} \({counts[first]} alleles\).*'drop'.*'split'"
    )
    with pytest.raises(ValueError, match=message):
        ds.genobit.pack()

    dropped = ds.genobit.pack(multiallelic="drop")
    np.testing.assert_array_equal(unpacked(dropped), dosages(calls[counts <= 2]))
    assert dropped.variant_id.values.tolist() == ds.variant_id.values[counts <= 2].tolist()

    split = ds.genobit.pack(multiallelic="split")
    rows = [(i, k) for i in range(150) for k in range(1, max(counts[i], 2))]
    right = np.stack([dosages(calls[i : i + 1], k)[0] for i, k in rows])
    np.testing.assert_array_equal(unpacked(split), right)
    alleles = ds.variant_allele.values
    assert split.variant_allele.values.tolist() == [[alleles[i, 0], alleles[i, k]] for i, k in rows]
    assert split.variant_position.values.tolist() == [int(ds.variant_position[i]) for i, _ in rows]
    np.testing.assert_array_equal(
        unpacked(ds.genobit.pack(multiallelic="split", phased=True)),
        np.stack([haplotypes(calls[i : i + 1], k)[0] for i, k in rows]),
    )


def test_pack__split_still_refuses_an_allele_that_is_not_named() -> None:
    ds, calls, counts = multiallelic()
    i = int(np.flatnonzero(counts == 3)[0])
    calls[i, 3, 0] = 3
    with pytest.raises(
        ValueError, match=r"call_genotype is 3 at .*samples=3: expected alleles 0..2"
    ):
        ds.genobit.pack(multiallelic="split").compute()


def test_pack__drop_names_a_bad_call_by_its_number_before_dropping() -> None:
    ds, calls, counts = multiallelic()
    i = int(np.flatnonzero(counts == 2)[-1])
    assert (counts[:i] > 2).any()
    calls[i, 3, 0] = 7
    with pytest.raises(ValueError, match=f"variants={i}, samples=3"):
        ds.genobit.pack(multiallelic="drop").compute()


def test_pack__drop_of_all_variants_and_policies_without_alleles() -> None:
    ds, _, counts = multiallelic()
    with pytest.raises(ValueError, match=r"all .* variants have more than two alleles"):
        ds.isel(variants=counts > 2).genobit.pack(multiallelic="drop")
    with pytest.raises(KeyError, match="variant_allele"):
        ds.drop_vars("variant_allele").genobit.pack(multiallelic="split")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": "contigs"}, "rows='contigs' is not one of 'variants', 'samples'"),
        ({"multiallelic": "keep"}, "multiallelic='keep' is not one of"),
        ({"missing": "drop"}, "missing='drop' is not one of"),
        ({"rows": "samples", "phased": True}, "rows='variants'"),
    ],
)
def test_pack__refuses_options(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cohort(random_calls(1, 3, 4)).genobit.pack(**options)


def test_pack__of_packed_genotypes_is_refused() -> None:
    with pytest.raises(ValueError, match="packed already"):
        cohort(random_calls(1, 3, 4)).genobit.pack().genobit.pack()


@pytest.mark.parametrize("text", ["objects", "fixed width", "bytes", "Zarr"])
def test_pack__counts_alleles_of_any_kind_of_text(tmp_path: Path, text: str) -> None:
    ds, calls, counts = multiallelic((40, 20))
    if text == "Zarr":
        ds.to_zarr(tmp_path / "x.zarr", consolidated=False)
        ds = xr.open_zarr(tmp_path / "x.zarr", consolidated=False)
    elif text != "objects":
        ds["variant_allele"] = ds.variant_allele.astype("U1" if text == "fixed width" else "S1")
    with pytest.raises(ValueError, match=f"{(counts > 2).sum()} of 150 variants"):
        ds.genobit.pack()
    dropped = ds.genobit.pack(multiallelic="drop")
    np.testing.assert_array_equal(unpacked(dropped), dosages(calls[counts <= 2]))
    split = ds.genobit.pack(multiallelic="split")
    assert split.sizes["variants"] == np.maximum(counts - 1, 1).sum()


def test_pack__counts_alleles_where_the_rest_is_not_a_number() -> None:
    ds, _, counts = multiallelic()
    names = ds.variant_allele.values.copy()
    names[names == ""] = np.nan
    ds["variant_allele"] = (("variants", "alleles"), names)
    with pytest.raises(ValueError, match=f"{(counts > 2).sum()} of 150 variants"):
        ds.genobit.pack()


# Selecting


def packed_pair(chunks: tuple | None = (64, 97)) -> tuple[np.ndarray, xr.Dataset, xr.Dataset]:
    calls = random_calls(11, 150, 97, missing=0.05)
    ds = cohort(calls, chunks=chunks, contigs=2, phased=True)
    return calls, ds.genobit.pack(), ds.genobit.pack(phased=True)


MASK = np.arange(97) % 3 == 0
SELECTIONS = [
    slice(None),
    slice(3, 90, 2),
    slice(None, None, -1),
    slice(-5, None),
    MASK,
    MASK.tolist(),
    xr.DataArray(MASK, dims="samples"),
    [-1, -97, 0, 96],
    [5, 5, 5],
    np.array([64, 63, 1], np.uint16),
    range(10, 20),
    7,
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
@pytest.mark.parametrize("in_memory", [True, False])
def test_isel__of_samples_moves_the_bits(selection: object, in_memory: bool) -> None:
    calls, dosage, haploid = packed_pair()
    if in_memory:
        dosage, haploid = dosage.load(), haploid.load()
    index = selection if isinstance(selection, slice) else np.asarray(selection)
    positions = np.atleast_1d(np.arange(97)[index])
    sub = dosage.genobit.isel(samples=selection)
    np.testing.assert_array_equal(unpacked(sub), dosages(calls[:, positions]))
    assert sub.sample_id.values.tolist() == [f"s{i}" for i in positions]
    sub = haploid.genobit.isel(samples=selection)
    np.testing.assert_array_equal(unpacked(sub), haplotypes(calls[:, positions]))
    assert_padding_is_zero(sub)


def test_isel__twice_and_both_dimensions() -> None:
    calls, _, haploid = packed_pair()
    sub = haploid.genobit.isel(
        samples=slice(None, None, -2), variants=MASK[:150].tolist() + [False] * 53
    )
    sub = sub.genobit.isel(samples=[3, 1], variants=slice(5, 20))
    rows = np.flatnonzero(np.r_[MASK, np.zeros(53, bool)])[5:20]
    expected = haplotypes(calls[rows][:, np.arange(97)[::-2][[3, 1]]])
    np.testing.assert_array_equal(unpacked(sub), expected)
    np.testing.assert_allclose(sub.genobit.ld("D"), linkage_matrix("D", expected), **TOLERANCE)


def test_isel__of_variants_where_they_are_the_bits() -> None:
    calls = random_calls(11, 150, 40, missing=0.05)
    bits = cohort(calls, chunks=(64, 40)).genobit.pack(rows="samples")
    sub = bits.genobit.isel(variants=[149, 3, 3, -2], samples=slice(5, 30))
    np.testing.assert_array_equal(unpacked(sub), dosages(calls[[149, 3, 3, 148], 5:30]).T)
    assert sub.variant_id.values.tolist() == ["rs149", "rs3", "rs3", "rs148"]
    with pytest.raises(ValueError, match=r"\.genobit\.isel\(variants=\.\.\.\)"):
        bits.isel(variants=slice(0, 64)).genobit.isel(samples=[1])


def test_isel__of_genotypes_that_are_not_packed() -> None:
    ds = cohort(random_calls(11, 50, 40), chunks=(20, 40))
    sub = ds.genobit.isel(samples=[3, -1], variants=slice(4, 9))
    xr.testing.assert_identical(sub, ds.isel(samples=[3, -1], variants=slice(4, 9)))


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ([0, 97], r"samples\[1\] = 97 is outside the 97 samples"),
        ([-98], r"samples\[0\] = -98 is outside the 97 samples"),
        (np.zeros(96, bool), r"mask for 'samples' has shape \(96,\), expected \(97,\)"),
        (np.zeros((97, 1), bool), r"mask for 'samples' has shape \(97, 1\)"),
        ([0.5], "takes ids, a slice, whole numbers or a boolean mask"),
        ([[0, 1]], "takes ids, a slice, whole numbers or a boolean mask"),
        ([], "samples= selects none of the 97 samples"),
    ],
)
def test_isel__refuses(selection: object, message: str) -> None:
    _, dosage, _ = packed_pair()
    with pytest.raises(IndexError, match=message):
        dosage.genobit.isel(samples=selection)


BEHIND = {
    "first": lambda ds: ds.isel(samples=slice(0, 50)),
    "last": lambda ds: ds.isel(samples=slice(1, None)),
    "reversed": lambda ds: ds.isel(samples=slice(None, None, -1)),
    "swapped": lambda ds: ds.isel(samples=[0, 2, 1, *range(3, 97)]),
    "repeated": lambda ds: ds.isel(samples=[0] * 97),
    "one": lambda ds: ds.isel(samples=0),
    "sorted": lambda ds: ds.sortby("sample_id"),
    "where": lambda ds: ds.isel(samples=np.flatnonzero(ds.sample_id.values == "s3")),
    "no sample_bit": lambda ds: ds.drop_vars("sample_bit"),
    "fewer words": lambda ds: ds.isel(words=slice(0, 1)),
    "one word": lambda ds: ds.isel(words=0),
    "more words": lambda ds: ds.isel(words=[0, 0, 1, 1, 1]),
    "swapped words": lambda ds: ds.isel(words=[1, 0, *range(2, ds.sizes["words"])]),
}
USES = {
    "ld": lambda bits: bits.genobit.ld(),
    "ld_pairs": lambda bits: bits.genobit.ld_pairs(threshold=0.5),
    "allele_frequency": lambda bits: bits.genobit.allele_frequency(),
    "isel samples": lambda bits: bits.genobit.isel(samples=[0]),
    "isel variants": lambda bits: bits.genobit.isel(variants=[0]),
}


@pytest.mark.parametrize("change", BEHIND)
@pytest.mark.parametrize("use", USES)
def test_plain_selections_that_leave_the_planes_behind_are_refused(change: str, use: str) -> None:
    for bits in packed_pair()[1:]:
        # As a Dataset comes back from a file: nothing stops the selection, the next use does.
        changed = BEHIND[change](bits.drop_indexes(["sample_bit", "word"]))
        with pytest.raises(ValueError, match=r"genobit\.isel\(samples=\.\.\.\)|pack the genotypes"):
            USES[use](changed)


@pytest.mark.parametrize("change", [name for name in BEHIND if name != "no sample_bit"])
def test_plain_selections_are_refused_at_once(change: str) -> None:
    for bits in packed_pair()[1:]:
        with pytest.raises(ValueError, match=r"genobit\.isel\(samples=\.\.\.\)"):
            BEHIND[change](bits)
    everything = packed_pair()[1].isel(samples=slice(None))
    assert everything.sizes["samples"] == packed_pair()[1].sizes["samples"]


def test_plain_selection_of_variants_is_fine() -> None:
    calls, dosage, _ = packed_pair()
    pick = [100, 3, 60]
    found = dosage.isel(variants=pick).genobit.ld("r")
    np.testing.assert_allclose(found, linkage_matrix("r", dosages(calls[pick])), **TOLERANCE)


# Linkage disequilibrium


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("phased", [True, False])
def test_ld__equals_the_reference(missing: float, phased: bool) -> None:
    calls = random_calls(1, 40, 70, missing=missing)
    values = haplotypes(calls) if phased else dosages(calls)
    for statistic in ("r", "r2", "D", "dprime") if phased else ("r", "r2"):
        found = cohort(calls, chunks=(16, 70), phased=True).genobit.ld(statistic, phased=phased)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, linkage_matrix(statistic, values), **TOLERANCE)
        np.testing.assert_array_equal(found, found.T.values)


def everything(bits: xr.Dataset) -> list[bytes]:
    """All that a packed Dataset gives, as bits."""
    contigs = bits.isel(variants=slice(20, 140))
    found = [
        bits.genobit.ld("r2").values,
        bits.genobit.ld("r", phased=False).values,
        bits.genobit.ld("r2", window=17).values,
        bits.genobit.ld("r", window="9kb").values,
        bits.genobit.ld("r2", other=contigs).values,
        bits.genobit.allele_frequency().values,
    ]
    if bits.attrs["genobit_layout"] == "haplotype":
        found += [bits.genobit.ld("dprime").values, bits.genobit.ld("D", window="3cM").values]
    table = bits.genobit.ld_pairs(threshold=0.2, window=40).to_dataframe()
    table = table.sort_values(["variant_0", "variant_1"])
    found += [
        table[c].to_numpy() for c in ("variant_0", "variant_1", "variant_position_1", "r", "r2")
    ]
    return [array.tobytes() for array in found]


@pytest.fixture(scope="module")
def expected_bits() -> dict[tuple[bool, float], list[bytes]]:
    found = {}
    for phased in (True, False):
        for missing in (0.0, 0.1):
            ds = cohort(random_calls(7, 300, 97, missing=missing), contigs=3, phased=True)
            with dask.config.set(scheduler="synchronous"), gb.set_options(kernel="scalar"):
                found[phased, missing] = everything(ds.genobit.pack(phased=phased))
    return found


@pytest.mark.parametrize("missing", [pytest.param(0.0, marks=pytest.mark.slow), 0.1])
@pytest.mark.parametrize("phased", [True, False])
@pytest.mark.parametrize("chunks", CHUNKINGS, ids=str)
def test_same_bits__whatever_the_chunks(
    expected_bits: dict, chunks: tuple | None, phased: bool, missing: float
) -> None:
    ds = cohort(random_calls(7, 300, 97, missing=missing), contigs=3, chunks=chunks, phased=True)
    for rows in (64, 128, 2048):
        with gb.set_options(chunk_rows=rows):
            assert everything(ds.genobit.pack(phased=phased)) == expected_bits[phased, missing]


@pytest.mark.parametrize("kernel", ["matrix", "table", "popcount", "scalar"])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_same_bits__whatever_the_kernel_and_the_threads(
    expected_bits: dict, kernel: str, workers: int
) -> None:
    with (
        dask.config.set(scheduler="threads", num_workers=workers),
        gb.set_options(kernel=kernel, chunk_rows=64),
    ):
        for (phased, missing), expected in expected_bits.items():
            ds = cohort(
                random_calls(7, 300, 97, missing=missing), contigs=3, chunks=(50, 97), phased=True
            )
            assert everything(ds.genobit.pack(phased=phased)) == expected


@pytest.mark.distributed
@pytest.mark.slow
def test_same_bits__with_processes(expected_bits: dict) -> None:
    # Every result starts a pool of processes, hence only the case with the longest way.
    ds = cohort(random_calls(7, 300, 97, missing=0.1), contigs=3, chunks=(50, 97), phased=True)
    with gb.set_options(chunk_rows=64), dask.config.set(scheduler="processes", num_workers=2):
        assert everything(ds.genobit.pack(phased=True)) == expected_bits[True, 0.1]


@pytest.mark.distributed
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the cluster's own, at start and at the end
def test_same_bits__on_a_cluster(expected_bits: dict) -> None:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client, gb.set_options(chunk_rows=64):
        for key, kernel in [
            ((True, 0.1), "auto"),
            ((False, 0.0), "auto"),
            ((False, 0.0), "matrix"),
        ]:
            client.run(gb.set_options, kernel=kernel)
            ds = cohort(
                random_calls(7, 300, 97, missing=key[1]), contigs=3, chunks=(50, 97), phased=True
            )
            assert everything(ds.genobit.pack(phased=key[0])) == expected_bits[key]


def test_same_bits__from_eight_threads_at_once(expected_bits: dict) -> None:
    ds = cohort(random_calls(7, 300, 97, missing=0.1), contigs=3, chunks=(50, 97), phased=True)

    def run(_: int) -> list[bytes]:
        with dask.config.set(scheduler="synchronous"):
            return everything(ds.genobit.pack(phased=True))

    with gb.set_options(chunk_rows=64), ThreadPoolExecutor(8) as pool:
        assert all(found == expected_bits[True, 0.1] for found in pool.map(run, range(8)))


@pytest.mark.parametrize("phased", [True, False])
def test_zarr_round_trip(expected_bits: dict, tmp_path: Path, phased: bool) -> None:
    ds = cohort(random_calls(7, 300, 97, missing=0.1), contigs=3, chunks=(50, 97), phased=True)
    with gb.set_options(chunk_rows=64):
        packed = ds.genobit.pack(phased=phased)
        packed.to_zarr(tmp_path / "cohort.gb", consolidated=False)
        for chunks in ({}, None):
            again = xr.open_zarr(tmp_path / "cohort.gb", consolidated=False, chunks=chunks)
            assert again.attrs == packed.attrs
            assert everything(again) == expected_bits[phased, 0.1]
        sub = again.genobit.isel(samples=[5, 90, 3], variants=slice(64, 200))
        sub.to_zarr(tmp_path / "sub.gb", consolidated=False)
        reopened = xr.open_zarr(tmp_path / "sub.gb", consolidated=False)
        np.testing.assert_array_equal(
            unpacked(reopened),
            unpacked(packed.genobit.isel(samples=[5, 90, 3], variants=slice(64, 200))),
        )
        with pytest.raises(ValueError, match=r"\.genobit\.isel"):
            again.isel(samples=slice(0, 90)).genobit.ld()


def test_zarr_round_trip__of_a_selection_of_a_lazy_store(tmp_path: Path) -> None:
    ds = cohort(random_calls(7, 300, 97, missing=0.1), contigs=3, chunks=(50, 97))
    with gb.set_options(chunk_rows=64):
        ds.genobit.pack().to_zarr(tmp_path / "cohort.gb", consolidated=False)
    lazy = xr.open_zarr(tmp_path / "cohort.gb", consolidated=False)
    sub = lazy.genobit.isel(samples=slice(3, 60))
    sub.to_zarr(tmp_path / "sub.gb", consolidated=False)
    reopened = xr.open_zarr(tmp_path / "sub.gb", consolidated=False)
    np.testing.assert_array_equal(unpacked(reopened), unpacked(sub))


def test_zarr_round_trip__of_rows_samples(tmp_path: Path) -> None:
    calls = random_calls(7, 300, 97, missing=0.1)
    bits = cohort(calls, chunks=(64, 97)).genobit.pack(rows="samples")
    bits.to_zarr(tmp_path / "cohort.gb", consolidated=False)
    again = xr.open_zarr(tmp_path / "cohort.gb", consolidated=False)
    np.testing.assert_array_equal(unpacked(again), dosages(calls).T)
    np.testing.assert_array_equal(
        unpacked(again.genobit.isel(variants=[7, 270])), dosages(calls[[7, 270]]).T
    )
    for use in (lambda b: b.genobit.ld(), lambda b: b.genobit.allele_frequency()):
        with pytest.raises(ValueError, match=r"rows='samples'.*rows='variants'"):
            use(again)


def test_ld__carries_labels_and_attributes() -> None:
    ds = cohort(random_calls(1, 20, 30), contigs=2, chunks=(8, 30), phased=True)
    r2 = ds.genobit.ld("r2")
    assert r2.dims == ("variants_0", "variants_1")
    assert r2.name == "r2"
    assert r2.attrs["statistic"] == "r2"
    assert r2.attrs["source"] == "dosages"
    for side in "01":
        of_contig = ds.contig_id.values[ds.variant_contig.values].tolist()
        assert r2[f"variant_contig_{side}"].values.tolist() == of_contig
        for name in ("variant_position", "variant_id"):
            assert r2[f"{name}_{side}"].values.tolist() == ds[name].values.tolist()
            assert r2[f"{name}_{side}"].dims == (f"variants_{side}",)
    assert ds.genobit.ld("dprime", phased=True).attrs["source"] == "haplotypes"
    band = ds.genobit.ld("r2", window=3)
    assert band.dims == ("variants", "offsets")
    assert band.offsets.values.tolist() == [1, 2, 3]
    assert band.variant_id.values.tolist() == ds.variant_id.values.tolist()
    assert band.attrs["window"] == "3 variants"
    xr.testing.assert_identical(band, ds.genobit.ld(window=band.attrs["window"]))


def test_ld__of_two_sets() -> None:
    calls = random_calls(1, 90, 70, missing=0.05)
    bits = cohort(calls, chunks=(16, 70), phased=True).genobit.pack(phased=True)
    a, b = bits.isel(variants=slice(0, 33)), bits.isel(variants=slice(20, 90, 3))
    found = a.genobit.ld("dprime", other=b)
    right = linkage_matrix("dprime", haplotypes(calls[:33]), haplotypes(calls[20:90:3]))
    np.testing.assert_allclose(found, right, **TOLERANCE)
    assert found.variant_id_1.values.tolist() == b.variant_id.values.tolist()
    square = bits.genobit.ld("dprime").values
    np.testing.assert_array_equal(found, square[:33, 20:90:3])
    # Packed against not packed, and haplotypes read as dosages.
    other = cohort(calls, chunks=(16, 70), phased=True).isel(variants=slice(20, 90, 3))
    np.testing.assert_array_equal(a.genobit.ld("dprime", other=other), found)
    found = a.genobit.ld("r2", phased=False, other=b)
    np.testing.assert_array_equal(found, bits.genobit.ld("r2", phased=False)[:33, 20:90:3])


def test_ld__of_a_dataset_against_itself_as_other_is_the_square() -> None:
    bits = cohort(random_calls(1, 200, 70, missing=0.05), chunks=(64, 70)).genobit.pack()
    with gb.set_options(chunk_rows=64):
        square, rectangle = dask.compute(bits.genobit.ld().data, bits.genobit.ld(other=bits).data)
    assert square.tobytes() == rectangle.tobytes()


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda ds: ds.genobit.ld("r3"), "statistic 'r3' is not one of r, r2, D, dprime"),
        (lambda ds: ds.genobit.ld("D"), "statistic 'D' needs haplotypes.*phased=True"),
        (lambda ds: ds.genobit.pack().genobit.ld("dprime"), "needs haplotypes"),
        (lambda ds: ds.genobit.pack().genobit.ld("r2", phased=True), "planes hold dosages"),
        (lambda ds: ds.genobit.ld(window="5miles"), "window='5miles' is neither"),
        (lambda ds: ds.genobit.ld(window=0), "window=0 is neither"),
        (lambda ds: ds.genobit.ld(window=-3), "window=-3 is neither"),
        (lambda ds: ds.genobit.ld(window="-3kb"), "window='-3kb' is neither"),
        (lambda ds: ds.genobit.ld(window="nan kb"), "is neither"),
        (lambda ds: ds.genobit.ld(window=True), "window=True is neither"),
        (lambda ds: ds.genobit.ld(window=3, other=ds), "window= and other= do not go together"),
        (lambda ds: ds.genobit.ld_pairs(threshold=1.1), r"threshold=1.1 is outside \[0, 1\]"),
        (
            lambda ds: ds.genobit.ld_pairs(threshold=float("nan")),
            r"threshold=nan is outside \[0, 1\]",
        ),
        (
            lambda ds: ds.genobit.ld(other=ds.isel(samples=slice(0, 30))),
            r"other= has dosages of 30 samples, .* of 40 samples: .*\.genobit\.isel\(samples=",
        ),
        (
            lambda ds: ds.genobit.ld(other=ds.isel(samples=slice(None, None, -1))),
            r"sample_id\[0\] is 's0' here and 's39' in other=",
        ),
    ],
)
def test_ld__refuses(use: Callable, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        use(cohort(random_calls(1, 20, 40)))


@pytest.mark.parametrize(
    ("variable", "window"),
    [("variant_position", "1kb"), ("variant_genetic_position", "1cM")],
)
def test_window__needs_its_variable(variable: str, window: str) -> None:
    ds = cohort(random_calls(1, 20, 40)).drop_vars(variable)
    with pytest.raises(KeyError, match=variable):
        ds.genobit.ld(window=window)


@pytest.mark.parametrize("window", [1, 7, 500, "1bp", "700bp", "3kb", "1Mb", "2.5cM", "0.001cM"])
@pytest.mark.parametrize("contigs", [1, 4])
def test_band_and_pairs__equal_the_matrix(window: int | str, contigs: int) -> None:
    calls = random_calls(1, 150, 60, missing=0.1)
    ds = cohort(calls, contigs=contigs, chunks=(64, 60), phased=True)
    size, unit = (window, "") if isinstance(window, int) else (window[:-2], window[-2:])
    scale = {"": 1, "bp": 1, "kb": 1e3, "Mb": 1e6, "cM": 1}[unit]
    variable = {"": None, "cM": "variant_genetic_position"}.get(unit, "variant_position")
    coordinate = None if variable is None else ds[variable].values
    inside = set(window_pairs(150, ds.variant_contig.values, coordinate, float(size) * scale))
    with gb.set_options(chunk_rows=64):
        bits = ds.genobit.pack(phased=True)
        square = bits.genobit.ld("r2").values
        np.testing.assert_array_equal(bits.genobit.ld("r2", window=window), banded(square, inside))
        table = bits.genobit.ld_pairs(threshold=0.25, window=window).to_dataframe()
    found = list(zip(table.variant_0, table.variant_1, strict=True))
    assert sorted(found) == sorted((i, j) for i, j in inside if square[i, j] >= 0.25)
    i, j = table.variant_0.to_numpy(), table.variant_1.to_numpy()
    np.testing.assert_array_equal(table.r2, square[i, j])
    np.testing.assert_array_equal(table.r, bits.genobit.ld("r").values[i, j])
    np.testing.assert_array_equal(table.variant_position_0, ds.variant_position.values[i])
    np.testing.assert_array_equal(table.variant_position_1, ds.variant_position.values[j])
    assert table.variant_id_0.tolist() == ds.variant_id.values[i].tolist()
    assert table.variant_id_1.tolist() == ds.variant_id.values[j].tolist()
    assert (
        table.variant_contig.tolist() == ds.contig_id.values[ds.variant_contig.values[i]].tolist()
    )
    assert (ds.variant_contig.values[i] == ds.variant_contig.values[j]).all()


def test_pairs__without_a_window_are_those_of_a_contig() -> None:
    ds = cohort(random_calls(1, 150, 60), contigs=2, chunks=(64, 60))
    with gb.set_options(chunk_rows=64):
        square = ds.genobit.ld("r2").values
        table = ds.genobit.ld_pairs(threshold=0).to_dataframe()
    contig = ds.variant_contig.values
    wanted = np.triu((square >= 0) & (contig[:, None] == contig), 1)
    np.testing.assert_array_equal(
        table[["variant_0", "variant_1"]].sort_values(["variant_0", "variant_1"]),
        np.argwhere(wanted),
    )


def test_pairs__without_labels_and_without_any_pair() -> None:
    ds = cohort(random_calls(1, 30, 60))[["call_genotype"]]
    table = ds.genobit.ld_pairs(threshold=0.1).to_dataframe()
    assert table.columns.tolist() == ["variant_0", "variant_1", "r", "r2"]
    assert len(table) > 0
    mono = ds.assign(call_genotype=0 * ds.call_genotype)
    assert len(mono.genobit.ld_pairs(threshold=0).to_dataframe()) == 0


def test_pairs__at_the_threshold() -> None:
    calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
    ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    assert len(ds.genobit.ld_pairs(threshold=0.75).to_dataframe()) == 1
    assert len(ds.genobit.ld_pairs(threshold=0.7500001).to_dataframe()) == 0
    same = ds.isel(variants=[0, 0])
    assert len(same.genobit.ld_pairs(threshold=1).to_dataframe()) == 1


def test_pairs__stream_to_parquet(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 300, 60), contigs=3, chunks=(64, 60))
    with gb.set_options(chunk_rows=64):
        pairs = ds.genobit.ld_pairs(threshold=0.3, window=50)
        pairs.to_parquet(tmp_path / "pairs")
        table = pairs.to_dataframe()
    assert len(list((tmp_path / "pairs").glob("*.parquet"))) > 3
    again = pd.read_parquet(tmp_path / "pairs")
    assert again.columns.tolist() == table.columns.tolist()
    key = ["variant_0", "variant_1"]
    pd.testing.assert_frame_equal(
        again.sort_values(key).reset_index(drop=True),
        table.sort_values(key).reset_index(drop=True),
        check_dtype=False,
    )
    assert again.dtypes["r2"] == np.float32
    assert table.dtypes["variant_0"] == again.dtypes["variant_0"] == np.int64


def test_pairs__name_their_columns_without_computing() -> None:
    with raise_if_dask_computes():
        pairs = cohort(random_calls(1, 50, 60), contigs=2).genobit.ld_pairs(threshold=0.3)
        columns = pairs.columns
        assert repr(pairs).endswith(f"{', '.join(columns)}>")
    assert pairs.to_dataframe().columns.tolist() == columns


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint32", "float64"])
def test_window__refuses_positions_that_decrease(dtype: str) -> None:
    ds = cohort(random_calls(1, 20, 40), contigs=2)
    position = ds.variant_position.values.astype(dtype)
    position[[14, 15]] = position[[15, 14]]
    assert position[14] > position[15]
    ds["variant_position"] = ("variants", position)
    for use in (
        lambda: ds.genobit.ld(window="3kb"),
        lambda: ds.genobit.ld_pairs(threshold=0.5, window="3kb"),
    ):
        with pytest.raises(ValueError, match=r"variant_position decreases .*variants=15.*sort"):
            use()
    assert ds.genobit.ld(window=3).shape == (20, 3)


@pytest.mark.parametrize(("bad", "index"), [(np.nan, 0), (np.nan, 13), (np.nan, 19), (np.inf, 19)])
def test_window__names_a_position_that_is_no_number(bad: float, index: int) -> None:
    ds = cohort(random_calls(1, 20, 40), contigs=2)
    position = ds.variant_genetic_position.values.copy()
    position[index] = bad
    ds["variant_genetic_position"] = ("variants", position)
    with pytest.raises(ValueError, match=rf"variant_genetic_position.*variants={index}:"):
        ds.genobit.ld(window="1cM")


def test_window__refuses_a_contig_in_pieces() -> None:
    ds = cohort(random_calls(1, 20, 40), contigs=2).isel(variants=[*range(5, 20), *range(5)])
    with pytest.raises(ValueError, match=r"contig chr1 starts again at variants=15"):
        ds.genobit.ld(window=3)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "uint64", "int64"])
def test_window__is_right_for_every_type_of_position(dtype: str) -> None:
    ds = cohort(random_calls(1, 40, 30))
    right = ds.genobit.ld(window="3kb").values
    high = {"int32": 2**31 - 1, "uint32": 2**32 - 1}.get(dtype, 2**40)
    position = ds.variant_position.values
    ds["variant_position"] = ("variants", (position + (high - position[-1])).astype(dtype))
    np.testing.assert_array_equal(ds.genobit.ld(window="3kb"), right)


@pytest.mark.filterwarnings("error")
def test_monomorphic_variants_are_not_a_number_and_silent() -> None:
    calls = random_calls(1, 30, 40, missing=0.1)
    calls[:5], calls[5:10], calls[10:12] = 0, 1, -1
    bits = cohort(calls, chunks=(8, 40), phased=True).genobit.pack(phased=True)
    for statistic in ("r", "r2", "dprime"):
        assert np.isnan(bits.genobit.ld(statistic).values[:12]).all()
    assert np.isnan(bits.genobit.ld("r2", phased=False).values[:12]).all()
    assert (bits.genobit.ld_pairs(threshold=0).to_dataframe().variant_0 >= 12).all()
    assert np.isnan(bits.genobit.allele_frequency()[10:12]).all()


def test_one_variant_of_one_sample() -> None:
    ds = cohort(random_calls(1, 1, 1))
    assert np.isnan(ds.genobit.ld("r2")).all()
    assert ds.genobit.ld("r2", window=5).shape == (1, 0)
    assert len(ds.genobit.ld_pairs(threshold=0).to_dataframe()) == 0


def test_no_variants__as_after_a_filter_that_none_passed() -> None:
    none = cohort(random_calls(1, 30, 40), chunks=(8, 40)).genobit.pack().isel(variants=slice(0, 0))
    assert none.genobit.ld().compute().shape == (0, 0)
    assert none.genobit.ld(window=4).compute().shape == (0, 0)
    assert none.genobit.allele_frequency().compute().shape == (0,)
    for window in (None, 3, "1kb"):
        assert len(none.genobit.ld_pairs(threshold=0.2, window=window).to_dataframe()) == 0


# Computing at once


def test_compute__gives_the_same_in_memory() -> None:
    bits = cohort(random_calls(1, 90, 40), chunks=(64, 40)).genobit.pack()
    for options in ({}, {"window": 5}, {"other": bits.isel(variants=slice(0, 7))}):
        at_once = bits.genobit.ld("r", compute=True, **options)
        assert isinstance(at_once.data, np.ndarray)
        xr.testing.assert_identical(at_once, bits.genobit.ld("r", **options).compute())


def test_compute__refuses_what_is_past_the_limit_and_says_how_large_it_is() -> None:
    bits = cohort(random_calls(1, 100, 40), chunks=(64, 40)).genobit.pack()
    with gb.set_options(eager_limit=100 * 100 * 4 - 1), raise_if_dask_computes():
        what = (
            r"r2 of 100 x 100 pairs takes 40,000 bytes, more than eager_limit \(39,999 bytes\): "
            r".*, use window= or ld_pairs\(\), .*eager_limit="
        )
        with pytest.raises(MemoryError, match=what):
            bits.genobit.ld(compute=True)
        with pytest.raises(MemoryError, match=r"select variants, or raise"):
            bits.genobit.ld(other=bits, compute=True)
        assert bits.genobit.ld().shape == (100, 100)
    with gb.set_options(eager_limit=100 * 100 * 4):
        bits.genobit.ld(compute=True)
    with gb.set_options(eager_limit=100 * 3 * 4):
        bits.genobit.ld(window=3, compute=True)
        with pytest.raises(MemoryError, match=r"1\.6 KiB, .* \(1\.2 KiB\): .*a window= smaller"):
            bits.genobit.ld(window=4, compute=True)


def test_compute__keeps_lazy_labels_on_both_sides(tmp_path: Path) -> None:
    cohort(random_calls(1, 30, 20)).to_zarr(tmp_path / "cohort.zarr", zarr_format=2)
    ds = xr.open_zarr(tmp_path / "cohort.zarr")
    r2, grm = ds.genobit.ld(compute=True), ds.genobit.grm(compute=True)
    for result, label in ((r2, "variant_id"), (grm, "sample_id")):
        for side in ("_0", "_1"):
            assert result[label + side].values.tolist() == ds[label].values.tolist()


# Laziness


def test_nothing_computes_before_it_is_asked_to(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 200, 60, missing=0.1), contigs=2, chunks=(64, 25), phased=True)
    g = np.random.default_rng(2).integers(-1, 3, (150, 83))
    plink = gb.open_plink(write_fileset(tmp_path, g))
    with raise_if_dask_computes(), gb.set_options(chunk_rows=64):
        for source in (ds, plink):
            bits = source.genobit.pack()
            source.genobit.pack(rows="samples")
            bits.genobit.isel(samples=[3, 1], variants=slice(1, 100))
            results = [
                bits.genobit.allele_frequency(),
                bits.genobit.ld(),
                bits.genobit.ld(window=5),
                bits.genobit.ld(other=bits.isel(variants=slice(0, 20))),
                source.genobit.ld(),
            ]
            bits.genobit.ld_pairs(threshold=0.2)
        haploid = ds.genobit.pack(phased=True)
        results += [haploid.genobit.ld("dprime"), haploid.genobit.ld("r2", phased=False)]
    assert all(dask.is_dask_collection(result.data) for result in results)


def test_one_value_needs_one_tile() -> None:
    ds = cohort(random_calls(1, 640, 30), chunks=(64, 30))
    with gb.set_options(chunk_rows=64):
        r2 = ds.genobit.pack().genobit.ld()
    corner = r2[0, -1].data
    (optimised,) = dask.optimize(corner)
    tiles = [key for key in dict(optimised.dask) if "square" in str(key)]
    assert len(tiles) <= 2
