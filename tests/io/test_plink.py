from __future__ import annotations

import os
import pickle
from pathlib import Path

import bed_reader
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.io import _text_tables
from genobit.io._plink_text import read_bim
from genobit.io.kernels.bed import expand_bed_rows
from genobit.io.pgen_files._psam import read_samples
from genobit.io.plink import BedFile, bed_source, open_plink
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.plink_files import MAGIC, dosage, random_dosages, write_fileset
from tests.helpers.programs import PLINK2, plink2
from tests.io.formats import ENDS, FIELDS, PARTS, require_same_if_plain

BED_FILES = [
    "asthma_cc/asthma_cc",
    "bigsnpr_example/example",
    "bigsnpr_example/example-missing",
    "bigsnpr_example/example-missing-sorted",
    "epi3_kg1/epi3_kg1",
    "gametes_2way/gametes_2way_1600x20",
    "gametes_2way/gametes_2way_18800x10",
    "hapmap279/hapmap279",
    "hyper_bc/hyper_bc",
    "kg1_chr22/kg1_chr22_maf01",
    "lct_1kg/lct_1kg",
    "mice_hs/mice_hs",
]


@pytest.fixture
def cohort(tmp_path: Path) -> Path:
    return write_fileset(tmp_path, random_dosages(10, 7))


# Against independent readers


@pytest.mark.parametrize("name", BED_FILES)
def test_calls_equal_bed_reader(shared_data: Path, name: str) -> None:
    ds = open_plink(shared_data / name, chunks=1000)
    shape = {"iid_count": ds.sizes["samples"], "sid_count": ds.sizes["variants"]}
    with bed_reader.open_bed(shared_data / f"{name}.bed", count_A1=True, **shape) as bed:
        expected = bed.read(dtype="int8").T
    np.testing.assert_array_equal(dosage(ds.call_genotype), np.where(expected < 0, -1, expected))


@pytest.mark.parametrize("name", BED_FILES)
def test_labels_equal_the_text(shared_data: Path, name: str) -> None:
    ds = open_plink(shared_data / name)
    bim = (shared_data / f"{name}.bim").read_text().splitlines()
    contig, ids, centimorgan, position, a1, a2 = zip(*(line.split() for line in bim), strict=True)
    assert ds.contig_id.values[ds.variant_contig.values].tolist() == list(contig)
    assert ds.variant_id.values.tolist() == list(ids)
    assert ds.variant_position.values.tolist() == [float(bp) for bp in position]
    assert ds.variant_allele.values.tolist() == [list(pair) for pair in zip(a2, a1, strict=True)]
    if any(float(cm) for cm in centimorgan):
        assert ds.variant_genetic_position.values.tolist() == [float(cm) for cm in centimorgan]
    else:
        assert "variant_genetic_position" not in ds
    fam = (shared_data / f"{name}.fam").read_text().splitlines()
    family, individual, father, mother, sex, _ = zip(*(line.split() for line in fam), strict=True)
    assert ds.sample_family_id.values.tolist() == list(family)
    assert ds.sample_id.values.tolist() == list(individual)
    assert ds.sample_father_id.values.tolist() == list(father)
    assert ds.sample_mother_id.values.tolist() == list(mother)
    assert ds.sample_sex.values.tolist() == [int(code) for code in sex]


@pytest.mark.parametrize(
    ("folder", "name"),
    [("bigsnpr_example", "example-missing-sorted"), ("kg1_chr22", "kg1_chr22_maf01")],
)
def test_counted_allele_has_the_frequency_that_plink_gives_a1(
    shared_data: Path, folder: str, name: str
) -> None:
    ds = open_plink(shared_data / folder / name)
    frequencies = pd.read_csv(shared_data / folder / "ref/basic.frq.gz", sep=r"\s+")
    missing = pd.read_csv(shared_data / folder / "ref/basic.lmiss.gz", sep=r"\s+")
    g = dosage(ds.call_genotype)
    called = g >= 0
    np.testing.assert_array_equal(ds.variant_allele[:, 1], frequencies["A1"])
    np.testing.assert_array_equal(2 * called.sum(axis=1), frequencies["NCHROBS"])
    # plink prints four significant digits
    frequency = np.where(called, g, 0).sum(axis=1) / (2 * called.sum(axis=1))
    np.testing.assert_allclose(frequency, frequencies["MAF"], rtol=6e-4)
    np.testing.assert_array_equal((~called).sum(axis=1), missing["N_MISS"])


def test_repeated_variant_ids_are_accepted(shared_data: Path) -> None:
    ds = open_plink(shared_data / "hapmap279/hapmap279")
    assert (ds.variant_id == "---").sum() > 50


def test_phenotypes(shared_data: Path) -> None:
    quantitative = open_plink(shared_data / "hyper_bc/hyper_bc").sample_phenotype
    assert quantitative[0] == 109.6
    cases = open_plink(shared_data / "asthma_cc/asthma_cc").sample_phenotype
    assert {value: int((cases == value).sum()) for value in (1.0, 2.0)} == {1.0: 1238, 2.0: 340}
    assert open_plink(shared_data / "hapmap279/hapmap279").sample_phenotype.isnull().all()


# Tails, chunks, laziness


@given(
    n_samples=st.integers(1, 9),
    n_variants=st.integers(1, 9),
    chunks=st.integers(1, 10),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_tail_of_a_byte(
    tmp_path_factory: pytest.TempPathFactory,
    n_samples: int,
    n_variants: int,
    chunks: int,
    seed: int,
) -> None:
    expected = random_dosages(n_variants, n_samples, seed)
    path = write_fileset(tmp_path_factory.mktemp("bed"), expected)
    calls = open_plink(path, chunks=chunks).call_genotype
    assert calls.dtype == np.int8
    np.testing.assert_array_equal(dosage(calls), expected)
    assert calls.chunksizes["samples"] == (n_samples,)
    assert max(calls.chunksizes["variants"]) <= chunks


def test_code_order_and_phase_of_heterozygotes() -> None:
    calls = expand_bed_rows(np.array([[0b11_10_01_00]], dtype=np.uint8), 4)
    assert calls.tolist() == [[[1, 1], [-1, -1], [0, 1], [0, 0]]]


def test_empty_filesets(tmp_path: Path) -> None:
    assert open_plink(write_fileset(tmp_path, np.empty((0, 5), int))).call_genotype.shape == (
        0,
        5,
        2,
    )
    assert open_plink(write_fileset(tmp_path, np.empty((3, 0), int))).call_genotype.values.size == 0


def test_automatic_chunks_are_whole_words_of_bounded_size(tmp_path: Path) -> None:
    path = tmp_path / "sparse.bed"
    n_variants, n_samples = 1000, 200_000
    with path.open("wb") as file:
        file.write(MAGIC)
        file.truncate(3 + n_variants * n_samples // 4)
    bed = BedFile(str(path), n_variants, n_samples)
    assert bed.call_array().chunks[0][:-1] == (128,) * 7
    assert bed.raw_array().chunks[0] == bed.call_array().chunks[0]


def test_prefix_and_path_name_the_same_file(cohort: Path) -> None:
    xr.testing.assert_identical(open_plink(cohort), open_plink(cohort.with_suffix("")))
    xr.testing.assert_identical(open_plink(cohort), open_plink(str(cohort)))


def test_prefix_with_a_dot(tmp_path: Path) -> None:
    write_fileset(tmp_path, random_dosages(2, 2), name="cohort.v1")
    assert open_plink(tmp_path / "cohort.v1").sizes["variants"] == 2


# The file behind a Dataset


def test_raw_rows_are_the_bytes_of_the_file(cohort: Path) -> None:
    bed = pickle.loads(pickle.dumps(bed_source(open_plink(cohort).call_genotype)))
    assert isinstance(bed, BedFile)
    stored = np.frombuffer(cohort.read_bytes()[3:], dtype=np.uint8).reshape(10, 2)
    np.testing.assert_array_equal(bed.read_raw(2, 5), stored[2:5])
    np.testing.assert_array_equal(bed.raw_array(3), stored)
    assert bed.raw_array(3).chunks == ((3, 3, 3, 1), (2,))
    with pytest.raises(IndexError, match="5:11 are not within the 10"):
        bed.read_raw(5, 11)


def test_bed_source_of_untouched_genotypes(cohort: Path) -> None:
    ds = open_plink(cohort, chunks=4)
    assert bed_source(ds.call_genotype) == BedFile(str(cohort), 10, 7)
    untouched = [
        ds.call_genotype.isel(variants=slice(None)),
        ds.copy().call_genotype,
        ds.assign_coords(variant_id=ds.variant_id).call_genotype,
        ds.chunk({"variants": 4}).call_genotype,
        open_plink(cohort, chunks=4).call_genotype,
    ]
    with raise_if_dask_computes():
        assert all(bed_source(calls) for calls in untouched)


def test_bed_source_of_anything_else(cohort: Path) -> None:
    calls = open_plink(cohort, chunks=4).call_genotype
    assigned = calls.copy()
    assigned[0, 0, 0] = 1
    touched = {
        "sliced": calls.isel(variants=slice(0, 9)),
        "reversed": calls.isel(variants=slice(None, None, -1)),
        "picked": calls.isel(samples=[0, 1, 2, 3, 4, 5, 6]).isel(samples=slice(0, 6)),
        "transposed": calls.transpose("samples", "variants", "ploidy"),
        "renamed": calls.rename(variants="samples", samples="variants"),
        "computed with": calls * 1,
        "masked": calls.where(calls > 0, -1),
        "rechunked": calls.chunk({"variants": 5}),
        "in memory": calls.compute(),
        "assigned to": assigned,
        "replaced": calls.copy(data=da.zeros(calls.shape, dtype=np.int8)),
        "without attributes": calls.drop_attrs(),
    }
    assert {kind: bed_source(array) for kind, array in touched.items()} == dict.fromkeys(touched)


def test_bed_source_of_a_file_that_changed(cohort: Path) -> None:
    calls = open_plink(cohort).call_genotype
    os.utime(cohort, ns=(1, 1))
    assert bed_source(calls) is None
    cohort.unlink()
    assert bed_source(calls) is None


def test_reading_a_file_that_was_cut_meanwhile(cohort: Path) -> None:
    ds = open_plink(cohort)
    cohort.write_bytes(cohort.read_bytes()[:-1])
    with pytest.raises(OSError, match=r"changed while in use: variants 0:10"):
        ds.call_genotype.compute()


# Labels


def test_sample_ids_get_the_family_where_they_repeat(cohort: Path) -> None:
    fam = cohort.with_suffix(".fam")
    fam.write_text("".join(f"F{s} child 0 0 1 -9\n" for s in range(7)))
    assert open_plink(cohort).sample_id.values.tolist() == [f"F{s}_child" for s in range(7)]


def test_contigs_are_in_order_of_appearance(cohort: Path) -> None:
    lines = [
        f"{c} v{i} 0.5 {i} A G"
        for i, c in enumerate(["X", "10", "2", "X", "MT", "2", "chrUn_1", "X", "X", "X"])
    ]
    cohort.with_suffix(".bim").write_text("\n".join(lines))
    ds = open_plink(cohort)
    assert ds.contig_id.values.tolist() == ["X", "10", "2", "MT", "chrUn_1"]
    assert ds.variant_contig.values.tolist() == [0, 1, 2, 0, 3, 2, 4, 0, 0, 0]
    assert ds.variant_genetic_position.attrs["units"] == "centimorgan"


def test_positions_as_r_writes_them(cohort: Path) -> None:
    bp = ["99999", "1e+05", "100001", "2e+05", "0", "5", "1", "1", "249250621", "3.1e+06"]
    cohort.with_suffix(".bim").write_text("".join(f"1 v 0 {value} A G\n" for value in bp))
    expected = [99999, 100000, 100001, 200000, 0, 5, 1, 1, 249250621, 3100000]
    assert open_plink(cohort).variant_position.values.tolist() == expected


@given(st.data())
def test_plain_columns_are_what_any_others_are(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "plain.bim"
    part, end = data.draw(PARTS), data.draw(ENDS)
    odd = data.draw(st.integers(0, 3))
    lines = [["1", f"v{k}", "0", str(k), "A", "G"] for k in range(data.draw(st.integers(1, 4)))]
    for _ in range(odd):
        line = data.draw(st.sampled_from(lines))
        line[data.draw(st.integers(0, 5))] = data.draw(FIELDS)
    text = end.join(part.join(line) for line in lines)
    path.write_bytes((text + data.draw(st.sampled_from(["", end]))).encode())
    require_same_if_plain(path, read_bim)


@pytest.mark.parametrize("part", ["\t", " "])
def test_lines_as_programs_write_them_are_plain(tmp_path: Path, part: str) -> None:
    lines = [("1", "exm1", "0.5", "10", "A", "G"), ("X", "v:1", "1e-3", "-2", "ACGT", "0")]
    path = tmp_path / "plain.bim"
    path.write_text("".join(part.join(line) + "\n" for line in lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_text_tables.Table, "read", None)
        plain = read_bim(path)
    assert plain["contig_id"].tolist() == ["1", "X"]
    assert np.asarray(plain["id"]).tolist() == ["exm1", "v:1"]
    assert plain["centimorgan"].tolist() == [0.5, 1e-3]
    assert plain["position"].tolist() == [10, -2]
    assert plain["alleles"].tolist() == [["G", "A"], ["0", "ACGT"]]
    # As whatever is read, they may be written to.
    ids = plain.pop("id")
    assert all(values.flags.writeable for values in [np.array(ids), *plain.values()])


def test_ids_that_look_missing_stay_text(cohort: Path) -> None:
    fam = "".join(
        f"NA {s} nan None 1 -9\n" for s in ["NA", "", "1e5", "'", '"x', "007", "#a", "-9"] if s
    )
    cohort.with_suffix(".fam").write_text(fam)
    ds = open_plink(cohort)
    assert ds.sample_id.values.tolist() == ["NA", "1e5", "'", '"x', "007", "#a", "-9"]
    assert ds.sample_father_id[0] == "nan"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("1 2 0 -9 1 2 NA", [1, 2, np.nan, np.nan, 1, 2, np.nan]),
        ("0 0.5 -9 1 2 3 -1", [0, 0.5, np.nan, 1, 2, 3, -1]),
        ("-9 -9 -9.0 nan NaN NA 0", [np.nan] * 7),
        ("1 2 . . 1 2 na", [1, 2, np.nan, np.nan, 1, 2, np.nan]),
        (". . . . . . .", [np.nan] * 7),
        ("Han Tai . NONE none NA -9", ["Han", "Tai", "", "", "none", "", ""]),
        ("case control . case case 0 2", ["case", "control", "", "case", "case", "0", "2"]),
        ("1.5 1_5 2 2 3 3 3", ["1.5", "1_5", "2", "2", "3", "3", "3"]),
    ],
)
def test_missing_phenotypes_and_categories(
    cohort: Path, column: str, expected: list[float] | list[str]
) -> None:
    fam = "".join(f"F S{i} 0 0 0 {value}\n" for i, value in enumerate(column.split()))
    cohort.with_suffix(".fam").write_text(fam)
    ds = open_plink(cohort)
    np.testing.assert_array_equal(ds.sample_phenotype, expected)
    psam = cohort.with_suffix(".psam")
    psam.write_text(fam)
    again, attrs = read_samples(psam)["sample_phenotype"][1:]
    np.testing.assert_array_equal(again, expected)
    assert (
        ("note" in attrs)
        == ("note" in ds.sample_phenotype.attrs)
        == any(isinstance(value, str) and value[:1].isdigit() for value in expected)
    )


def test_numbers_among_categories__are_explained(cohort: Path) -> None:
    values = ["1.5", "2", "3.25", "4", "two", "6", "."]
    cohort.with_suffix(".fam").write_text(
        "".join(f"F S{i} 0 0 0 {value}\n" for i, value in enumerate(values))
    )
    ds = open_plink(cohort)
    words = r"a trait takes real numbers; the .fam has text .* 'two' at samples=4 and '1.5' at s"
    with pytest.raises(TypeError, match=words) as raised:
        ds.genobit.epistasis("phenotype", order=1, statistic="linear", progress=False)
    remedy = str(raised.value).partition("a trait: ")[2]
    mended = eval(remedy, {"ds": ds, "pd": pd})
    right = [1.5, 2, 3.25, 4, np.nan, 6, np.nan]
    np.testing.assert_array_equal(mended.sample_phenotype, right)


@PLINK2
def test_sexes_and_categories__equal_plink2(cohort: Path) -> None:
    rows = zip("1M2Ff0m", ["Han", "Tai", "NONE", "none", "a-1", "Han", "x"], strict=True)
    cohort.with_suffix(".fam").write_text(
        "".join(f"F S{i} 0 0 {sex} {group}\n" for i, (sex, group) in enumerate(rows))
    )
    ds = open_plink(cohort)
    plink2(cohort.with_name("b"), "--bfile", str(cohort.with_suffix("")), "--make-just-psam")
    theirs = read_samples(cohort.with_name("b.psam"))
    for name in ("sample_sex", "sample_phenotype"):
        np.testing.assert_array_equal(ds[name], theirs[name][1])
    assert ds.sample_sex.values.tolist() == [1, 1, 2, 2, 2, 0, 1]
    with pytest.raises(TypeError, match=r"leave them out, ds.drop_vars\('sample_phenotype'\)"):
        gb.to_plink(ds, cohort.with_name("c"))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("statistic", ["mutual_information", "f"])
def test_phenotypes_of_0_and_1__are_explained(cohort: Path, packed: bool, statistic: str) -> None:
    def opened(column: str) -> xr.Dataset:
        values = enumerate(column.split())
        fam = "".join(f"F S{i} 0 0 0 {value}\n" for i, value in values)
        cohort.with_suffix(".fam").write_text(fam)
        ds = open_plink(cohort)
        return ds.genobit.pack() if packed else ds

    ds = opened("0 1 0 1 1 0 1")
    asked = {"statistic": statistic, "progress": False}
    with pytest.raises(ValueError, match=r"codes phenotypes as 0 and 1, .* reads 0 as missing"):
        ds.genobit.epistasis("sample_phenotype", **asked)
    # As the message says.
    mended = ds.assign(sample_phenotype=ds.sample_phenotype.fillna(0))
    assert mended.genobit.epistasis("sample_phenotype", **asked).attrs["samples"] == 7
    ds = opened("0 1 -9 1 1 0 1")
    with pytest.raises(
        ValueError, match=r"read it with pd.read_csv\('cohort.fam', .*set -9 to NaN"
    ):
        ds.genobit.epistasis("sample_phenotype", **asked)
    for column in ("0 1 2 1 1 0 1", "1 1 1 1 1 1 1", "0 0 0 0 0 0 0", "0 1 0.5 1 1 0 1"):
        assert opened(column).sample_phenotype.attrs == {}


def test_zarr_round_trip(cohort: Path, tmp_path: Path) -> None:
    ds = open_plink(cohort)
    ds.to_zarr(tmp_path / "cohort.zarr", zarr_format=2)
    again = xr.open_zarr(tmp_path / "cohort.zarr")
    assert again.call_genotype.attrs["counted_allele"] == ds.call_genotype.attrs["counted_allele"]
    np.testing.assert_array_equal(again.call_genotype, ds.call_genotype)
    assert bed_source(again.call_genotype) is None


# Bad input


def corrupt(path: Path, how: str) -> None:
    data = path.read_bytes()
    path.write_bytes(
        {
            "magic": b"BM\x01" + data[3:],
            "short": data[:2],
            "empty": b"",
            "sample-major": data[:2] + b"\x00" + data[3:],
            "third": data[:2] + b"\x07" + data[3:],
            "truncated": data[:-1],
            "long": data + b"\n",
        }[how]
    )


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("magic", "begins with 42 4d instead of 6c 1b"),
        ("short", "not a PLINK 1 .bed file"),
        ("empty", "begins with nothing"),
        ("sample-major", r"sample-major.*--make-bed"),
        ("third", "has 7 as its third byte"),
        ("truncated", r"truncated: 10 variants .* 7 samples .* take 23 bytes, the file has 22"),
        ("long", "too long: .* take 23 bytes, the file has 24"),
    ],
)
def test_bad_bed(cohort: Path, how: str, message: str) -> None:
    corrupt(cohort, how)
    with pytest.raises(ValueError, match=message):
        open_plink(cohort)


BIM_LINE = "1 rs1 0 100 A G\n"
FAM_LINES = [f"F S{s} 0 0 1 -9\n" for s in range(7)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 rs1 100 A G\n", "it has 5 fields where 6 are expected .*bp, A1, A2"),
        ("1 rs1 0 100 A G C\n", "it has 7 fields"),
        ("1 rs1 0 100 A G C T A\n", "it has 9 fields"),
        ("\n", "it is empty"),
        ("1 rs1 0 1.5 A G\n", "bp is '1.5', not a whole number"),
        ("1 rs1 0 12O A G\n", "bp is '12O', not a whole number"),
        ("1 rs1 0 nan A G\n", "bp is 'nan', not a whole number"),
        ("1 rs1 0 99999999999999999999 A G\n", "bp is '99999999999999999999'"),
        ("1 rs1 0 5_0 A G\n", "bp is '5_0', not a whole number"),
        ("1 rs1 1_0 100 A G\n", "cM is '1_0', not a number"),
        ("1 rs1 x 100 A G\n", "cM is 'x', not a number"),
        ("1 rs\xe9 0 100 A G\n", "it is not UTF-8"),
    ],
)
@pytest.mark.parametrize("before", [0, 2])
def test_malformed_bim(cohort: Path, line: str, message: str, before: int) -> None:
    text = BIM_LINE * before + line + BIM_LINE * (9 - before)
    cohort.with_suffix(".bim").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=rf"cohort\.bim, line {before + 1}: {message}"):
        open_plink(cohort)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["F S 0 0 1\n"], r"cohort\.fam, line 7: it has 5 fields .*phenotype"),
        (["F S3 0 0 1 1\n"], r"line 7: sample F S3 \(samples index 6\) is already on line 4"),
        (
            [f"F S{k} 0 0 1 1\n" for k in (6, 7, 8)],
            r"truncated: 10 variants \(.bim\) of 9 samples \(.fam\)",
        ),
    ],
)
def test_malformed_fam(cohort: Path, lines: list[str], message: str) -> None:
    cohort.with_suffix(".fam").write_text("".join([*FAM_LINES[:6], *lines]))
    with pytest.raises(ValueError, match=message):
        open_plink(cohort)
