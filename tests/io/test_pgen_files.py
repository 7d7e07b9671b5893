"""The tables beside a .pgen in every form, and files with faults."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import numcodecs
import numpy as np
import pgenlib
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.io._text_tables import Table
from genobit.io.pgen_files._header import PROVISIONAL, read_header
from genobit.io.pgen_files._pvar import read_variants
from tests.io.formats import ENDS, FIELDS, PARTS, require_same_if_plain
from tests.io.pgen_files import dosage

# Tables


def tables(path: Path, pvar: str = "", psam: str = "") -> Path:
    if pvar:
        path.with_suffix(".pvar").write_text(pvar)
    if psam:
        path.with_suffix(".psam").write_text(psam)
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Two variants of three samples."""
    calls = np.array([[[0, 1], [1, 1], [-1, -1]], [[0, 0], [0, 1], [0, 1]]], np.int8)
    ds = xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "variant_allele": (("variants", "alleles"), [["A", "C"], ["G", "T"]]),
            "variant_position": ("variants", [10, 20]),
            "variant_contig": ("variants", ["1", "1"]),
            "sample_id": ("samples", ["a", "b", "c"]),
        }
    )
    return gb.to_pgen(ds, tmp_path / "small")


@pytest.mark.parametrize(
    "pvar",
    [
        "#CHROM POS ID REF ALT\n1 10 x A C\n1 20 y G .",
        "##a=b\n#CHROM\tPOS\tID\tREF\tALT\n1\t10\tx\tA\tC\r\n1\t20\ty\tG\t.\r\n",
        "1 x 0 10 C A\n1 y 0 20 . G\n",
        "#CHROM POS ID REF ALT QUAL FILTER INFO CM\n1 10 x A C . . P 0\n1 20 y G . 5 PASS C=1 0.25",
    ],
)
def test_variants_in_every_form(small: Path, pvar: str) -> None:
    ds = gb.open_pgen(tables(small, pvar=pvar))
    assert ds.variant_id.values.tolist() == ["x", "y"]
    assert ds.variant_position.values.tolist() == [10, 20]
    none = "." if "#" not in pvar else ""
    assert ds.variant_allele.values.tolist() == [["A", "C"], ["G", none]]
    assert ("variant_genetic_position" in ds) == ("CM" in pvar)
    if "CM" in pvar:
        assert ds.variant_genetic_position.values.tolist() == [0, 0.25]
        assert ds.variant_filter.values.tolist() == [[False], [True]]


@pytest.mark.parametrize("text", [";", ";PASS", "q9;;q8", "q9;."])
@pytest.mark.parametrize("plain", [True, False])
def test_an_empty_name_of_a_filter_is_refused(small: Path, text: str, *, plain: bool) -> None:
    gap = "\t" if plain else " \t"
    lines = ["#CHROM POS ID REF ALT FILTER", "1 10 x A C q9;", f"1 20 y G T {text}"]
    pvar = "\n".join(lines).replace(" ", gap)
    with pytest.raises(ValueError, match=r"small\.pvar, line 3: FILTER is .*, with an empty name"):
        gb.open_pgen(tables(small, pvar=pvar))


IDS = ["rs1", "v:2"]
COLUMNS = {
    "CHROM": ["1", "X"],
    "POS": ["1", "20"],
    "ID": [*IDS, "."],
    "REF": ["A", "G", "ACGTACGTACGT"],
    "ALT": ["C", ".", "C,T", "C,", ","],
    "QUAL": [".", "0.5", "12"],
    "FILTER": [".", "PASS", "q10;s50", "q10;"],
    "INFO": [*IDS, "AC=1;END=5"],
    "CM": ["0", "0.25", "-1"],
}


@given(st.data())
def test_plain_columns_are_what_any_others_are(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "plain.pvar"
    part, end = data.draw(PARTS), data.draw(ENDS)
    names = data.draw(st.permutations(list(COLUMNS)))
    lines = [
        [data.draw(st.sampled_from(COLUMNS[name])) for name in names]
        for _ in range(data.draw(st.integers(1, 4)))
    ]
    for _ in range(data.draw(st.integers(0, 2))):
        line = data.draw(st.sampled_from(lines))
        line[data.draw(st.integers(0, len(names) - 1))] = data.draw(FIELDS)
    text = "#" + "\n".join([part.join(names), end.join(map(part.join, lines))])
    path.write_bytes((text + data.draw(st.sampled_from(["", end]))).encode())
    require_same_if_plain(path, read_variants)


def test_text_as_programs_write_it_is_plain(small: Path) -> None:
    pvar = '##a=b c 0x\n#CHROM\tPOS\tID\tREF\tALT\tINFO\n1\t9\tx\tA\tC,G\tE="1\n1\t9\ty\tG\t.\t.\n'
    path = tables(small, pvar=pvar).with_suffix(".pvar")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "read", None)
        found = read_variants(path)
    assert found["alleles"].tolist() == [["A", "C", "G"], ["G", "", ""]]


@pytest.mark.parametrize("info", [b"caf\xe9", b""])
def test_columns_that_are_not_read_are_checked(small: Path, info: bytes) -> None:
    lines = b"#CHROM\tPOS\tID\tREF\tALT\tINFO\n1\t9\tx\tA\tC\t.\n1\t9\ty\tG\tT\t" + info + b"\n"
    small.with_suffix(".pvar").write_bytes(lines)
    with pytest.raises(ValueError, match=r"small.pvar, line 3: it (is not UTF-8|has 5 fields)"):
        gb.open_pgen(small)


def test_a_compressed_table_that_inflates_past_the_limit(small: Path) -> None:
    small.with_suffix(".pvar").unlink()
    text = b"#CHROM POS ID REF ALT\n" + b"1 1 x A C\n" * 10**6
    small.with_suffix(".pvar.zst").write_bytes(numcodecs.Zstd().encode(text))
    assert small.with_suffix(".pvar.zst").stat().st_size < 10**4
    with (
        gb.set_options(eager_limit=2**24),
        pytest.raises(ValueError, match=r"the decompressed text of .*small.pvar.zst"),
    ):
        gb.open_pgen(small)


def test_samples_with_ids_alone(small: Path) -> None:
    ds = gb.open_pgen(tables(small, psam="#IID\nx\ny\nz\n"))
    assert ds.sample_id.values.tolist() == ["x", "y", "z"]
    assert [name for name in ds if str(name).startswith("sample_")] == ["sample_id"]


def test_samples_with_families_and_phenotypes(small: Path) -> None:
    head = "##note\n#FID IID PAT MAT SEX PHENO1 BMI town"
    rows = ["F1 a 0 0 M 1 20.5 Bath", "F2 a 0 0 f 2 -9 NONE", "F3 a x y NA -9 nan Ayr"]
    ds = gb.open_pgen(tables(small, psam="\n".join([head, *rows])))
    assert ds.sample_id.values.tolist() == ["F1_a", "F2_a", "F3_a"]
    assert ds.sample_family_id.values.tolist() == ["F1", "F2", "F3"]
    assert ds.sample_mother_id.values.tolist() == ["0", "0", "y"]
    assert ds.sample_sex.values.tolist() == [1, 2, 0]
    np.testing.assert_array_equal(ds.sample_phenotype, [1, 2, np.nan])
    np.testing.assert_array_equal(ds.sample_BMI, [20.5, np.nan, np.nan])
    assert ds.sample_town.values.tolist() == ["Bath", "", "Ayr"]


def test_missing_codes__have_any_case(small: Path) -> None:
    psam = "#IID trait town\na na none\nb 1.5 na\nc NaN NONE\n"
    ds = gb.open_pgen(tables(small, psam=psam))
    np.testing.assert_array_equal(ds.sample_trait, [np.nan, 1.5, np.nan])
    assert ds.sample_town.values.tolist() == ["none", "", ""]


def test_numbers_with_underscores__are_categories(small: Path) -> None:
    ds = gb.open_pgen(tables(small, psam="#IID plate\na 1_1\nb 11\nc 1_2\n"))
    assert ds.sample_plate.values.tolist() == ["1_1", "11", "1_2"]


def test_a_psam_without_header_is_a_fam(small: Path) -> None:
    ds = gb.open_pgen(tables(small, psam="F a 0 0 1 2\nF b 0 0 2 1\nF c 0 0 0 -9\n"))
    assert ds.sample_id.values.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(ds.sample_phenotype, [2, 1, np.nan])


def test_phenotypes_of_0_and_1_are_explained(small: Path) -> None:
    ds = gb.open_pgen(tables(small, psam="#IID case\na 0\nb 1\nc 0\n"))
    np.testing.assert_array_equal(ds.sample_case, [np.nan, 1, np.nan])
    remedy = r"the .psam codes phenotypes as 0 and 1, .*ds.assign\(sample_case=ds.sample_case.fill"
    with pytest.raises(ValueError, match=remedy):
        ds.genobit.epistasis("sample_case", progress=False)


@pytest.mark.parametrize(
    ("pvar", "psam", "message"),
    [
        ("#CHROM POS ID REF ALT\n1 10 x A C\n1 20 y G", "", r"pvar, line 3: it has 4 fields"),
        ("#CHROM POS ID REF ALT\n1 10 x A C\n1 20 y G T T", "", r"line 3: it has 6 fields"),
        ("#CHROM POS ID REF ALT\n1 10 x A C\n\n1 20 y G T", "", r"line 3: it is empty"),
        ("#CHROM POS ID REF ALT\n1 1e1 x A C\n1 2.5 y G T", "", r"line 3: POS is '2.5'"),
        ("#CHROM POS ID REF ALT\n1 1 x A C\n1 5_0 y G T", "", r"line 3: POS is '5_0'"),
        ("#CHROM POS ID REF ALT CM\n1 1 x A C 1_0\n1 2 y G T 0", "", r"line 2: CM is '1_0'"),
        ("#CHROM POS ID REF ALT QUAL\n1 1 x A C .\n1 2 y G T 4_0", "", r"line 3: QUAL is '4_0'"),
        ("#CHROM POS ID REF ALT CM\n1 1 x A C a\n1 2 y G T 0", "", r"line 2: CM is 'a'"),
        ("#CHROM POS ID REF ALT QUAL\n1 1 x A C .\n1 2 y G T q", "", r"line 3: QUAL is 'q'"),
        ("#CHROM POS ID REF\n1 1 x A\n1 2 y G", "", r"line 1: the header has no column 'ALT'"),
        ("#CHROM POS ID REF ALT POS\n1 1 x A C 1", "", r"line 1: .* column 'POS' twice"),
        ("#CHROM POS ID REF ALT\n1 1 x A C,\n1 2 y G T", "", r"line 2: ALT is 'C,'"),
        ("#CHROM POS ID REF ALT\n1 10 x A C\n", "", r"has 2 variants, and the .pvar .* lists 1"),
        ("#CHROM POS ID REF ALT\n", "", r"has 2 variants, and the .pvar .* lists 0"),
        ("#CHROM POS ID REF ALT\n1 1 x A C" + 128 * ",C" + "\n1 2 y G T", "", "130 alleles"),
        ("", "#IID\na\nb\n", r"has 3 samples, and the .psam .* lists 2"),
        ("", "#IID SEX\na 1\nb\nc 2\n", r"psam, line 3: it has 1 fields"),
        ("", "#IID\na\nb\na\n", r"psam, line 4: sample 0 a .* is already on line 2"),
        ("", "#FID SEX\na 1\nb 1\nc 2\n", r"line 1: the header has no column 'IID'"),
        ("", "#SEX IID\n1 a\n1 b\n2 c\n", r"line 1: the header begins with #SEX"),
        ("", "#IID id\na 1\nb 1\nc 2\n", r"line 1: the column 'id' would be .* 'sample_id'"),
    ],
)
def test_tables_with_faults(small: Path, pvar: str, psam: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gb.open_pgen(tables(small, pvar, psam))


# The binary file


def damaged(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return apply


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x[:-1], r"small.pgen is truncated: .* takes \d+ bytes"),
        (lambda x: x + b"\0", r"small.pgen is damaged or too long"),
        (lambda x: x[:14], r"small.pgen is truncated"),
        (lambda x: x[:5], r"small.pgen is truncated: it has 5 bytes"),
        (lambda _: b"", r"is not a PLINK 2 .pgen file: it begins with nothing"),
        (lambda x: b"BCF" + x[3:], r"begins with 42 43 instead of 6c 1b. For VCF or BCF"),
        (lambda x: x[:2] + b"\x01" + x[3:], r"is a PLINK 1 .bed file: .*open_plink"),
        (lambda x: x[:2] + b"\x11" + x[3:], r"storage mode 0x11, which is not read"),
        (lambda x: x[:3] + bytes(4) + x[7:], r"is damaged: its header says 0 variants"),
        (lambda x: x[:3] + struct.pack("<I", 3) + x[7:], r"small.pgen"),
        (lambda x: x[:7] + struct.pack("<I", 4) + x[11:], r"has 4 samples, and the .psam"),
    ],
)
def test_binary_files_with_faults(
    small: Path, change: Callable[[bytes], bytes], message: str
) -> None:
    damaged(change)(small)
    with pytest.raises(ValueError, match=message):
        gb.open_pgen(small)


def test_a_record_that_is_damaged(small: Path) -> None:
    data = small.read_bytes()
    # The types of both records say that they are stored as differences to the one before.
    control = 12 + 8
    small.write_bytes(data[:control] + b"\x22" + data[control + 1 :])
    with pytest.raises(ValueError, match=r"small.pgen is damaged .*--validate"):
        gb.open_pgen(small).call_genotype.compute()


@pytest.mark.parametrize("same_size", [True, False])
def test_a_file_that_is_replaced_while_in_use(small: Path, same_size: bool) -> None:
    ds = gb.open_pgen(small, dosages=True, chunks=1)
    planes = gb.open_pgen(small).genobit.pack()
    other = ds.isel(variants=[1, 0])
    # The phase takes a byte.
    other = other.drop_vars("call_genotype_phased") if same_size else other
    new = gb.to_pgen(other, small.with_name("new"))
    time = small.stat().st_mtime_ns + (1 if same_size else 0)
    assert (new.stat().st_size == small.stat().st_size) is same_size
    new.replace(small)
    os.utime(small, ns=(time, time))
    for name in ("call_genotype", "call_genotype_phased", "call_dosage"):
        with pytest.raises(OSError, match=r"small\.pgen was changed while in use\. Open it again"):
            ds[name].compute()
    with pytest.raises(OSError, match="was changed while in use"):
        planes.compute()


def test_files_that_are_missing(small: Path) -> None:
    for suffix, named in ((".psam", ".psam or .fam"), (".pvar", ".pvar or .pvar.zst or .bim")):
        small.with_suffix(suffix).unlink()
        with pytest.raises(FileNotFoundError, match=f"small{suffix} does not exist.*{named}"):
            gb.open_pgen(small)
    with pytest.raises(FileNotFoundError, match=r"other.pgen does not exist"):
        gb.open_pgen(small.parent / "other")


@pytest.mark.parametrize("suffix", [".pvar", ".psam", ".pvar.zst", ".bim", ".fam"])
def test_a_table_instead_of_the_binary_file(small: Path, suffix: str) -> None:
    with pytest.raises(FileNotFoundError) as error:
        gb.open_pgen(small.with_name(f"small{suffix}"))
    assert str(error.value).endswith(f"Give the .pgen file beside small{suffix}, {small}.")


def test_a_fileset_of_the_other_program(small: Path) -> None:
    bed = gb.to_plink(gb.open_pgen(small), small.with_name("other"))
    with pytest.raises(FileNotFoundError, match=r"For PLINK 1 .*open_plink\(") as error:
        gb.open_pgen(small.with_suffix(".bed"))
    assert f"genobit.open_plink({str(small.with_suffix('.bed'))!r})" in str(error.value)
    for suffix in (".pgen", ".pvar", ".psam"):
        with pytest.raises(FileNotFoundError) as error:
            gb.open_plink(small.with_suffix(suffix))
        assert f"genobit.open_pgen({str(small)!r})" in str(error.value)
    for suffix in (".bim", ".fam"):
        with pytest.raises(FileNotFoundError) as error:
            gb.open_plink(bed.with_suffix(suffix))
        assert str(error.value).endswith(f"Give the .bed file beside other{suffix}, {bed}.")


def test_sizes_of_files_of_several_blocks(tmp_path: Path) -> None:
    variants, path = 2 * 65536 + 100, tmp_path / "a.pgen"
    for allele_limit, phased in ((2, False), (3, True)):
        writer = pgenlib.PgenWriter(
            os.fsencode(path),
            3,
            variant_ct=variants,
            nonref_flags=True,
            allele_ct_limit=allele_limit,
            hardcall_phase_present=phased,
        )
        alleles = np.random.default_rng(1).integers(0, allele_limit, (variants, 6), np.int32)
        writer.append_alleles_batch(alleles, all_phased=phased)
        writer.close()
        assert read_header(str(path)) == (variants, 3, True)
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(ValueError, match="truncated"):
            read_header(str(path))


def test_files_of_fixed_width(small: Path) -> None:
    rows = bytes([0b11_00_10_01, 0b11_01_00_10])
    start = bytes([0x6C, 0x1B, 2]) + struct.pack("<II", 2, 3)
    small.write_bytes(start + b"\x80" + rows)
    ds = gb.open_pgen(small)
    assert dosage(ds.call_genotype.values).tolist() == [[1, 2, 0], [2, 0, 1]]
    assert ds.call_genotype.attrs["counted_allele"] == PROVISIONAL
    small.write_bytes(start + b"\x80" + rows[:1])
    with pytest.raises(ValueError, match="truncated"):
        gb.open_pgen(small)
