"""Sample ids of BGEN files, and the files that are refused."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import genobit as gb
from genobit.io.bgen_files import _source
from tests.helpers.bgen_files import N_SAMPLES, random_variants, write
from tests.helpers.plink_files import dosage

bgen = pytest.importorskip("bgen")

# Samples


def without_ids(path: Path) -> Path:
    return write(path, random_variants(8, 0), samples=[])


def sample_file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


IDS = [f"x{k}" for k in range(N_SAMPLES)]


def test_sample_file(tmp_path: Path) -> None:
    path = without_ids(tmp_path / "a.bgen")
    with pytest.raises(ValueError, match=r"holds no sample ids, and a\.sample is not beside it"):
        gb.open_bgen(path)
    sexes = "01M2Ff0m"
    rows = "".join(f"f{k // 2} {name} 0 {sexes[k % 8]}\n" for k, name in enumerate(IDS))
    sample_file(tmp_path / "a.sample", "ID_1 ID_2 missing sex\n0 0 0 D\n" + rows)
    ds = gb.open_bgen(path)
    assert ds.sample_id.values.tolist() == IDS
    assert ds.sample_family_id.values.tolist() == [f"f{k // 2}" for k in range(N_SAMPLES)]
    assert ds.sample_sex.values.tolist() == [
        [0, 1, 1, 2, 2, 2, 0, 1][k % 8] for k in range(N_SAMPLES)
    ]
    one = sample_file(tmp_path / "b.sample", "ID\n0\n" + "\n".join(IDS) + "\n\n")
    named = gb.open_bgen(path, sample=one)
    assert named.sample_id.values.tolist() == IDS
    assert not {"sample_family_id", "sample_sex"} & set(named)
    same = "".join(f"{name} {name} 0\n" for name in IDS)
    other = sample_file(tmp_path / "c.sample", "ID_1 ID_2 missing\n0 0 0\n" + same)
    assert "sample_family_id" not in gb.open_bgen(path, sample=other)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("ID\n0\n" + "\n".join(IDS[1:]), r"names 36 samples, a\.bgen has 37"),
        (
            "ID\n0\n" + "\n".join([*IDS[1:], "x3"]),
            r"line 39: sample 0 x3 .* already on line 5\. Sample ids",
        ),
        ("\n".join(IDS), r"not a \.sample file"),
        ("", r"not a \.sample file"),
        ("ID_1 ID_2\n0 0\na b\na b c\n", r"line 4 has 3 fields, line 1 has 2"),
    ],
)
def test_sample_files_that_do_not_fit(tmp_path: Path, text: str, match: str) -> None:
    path = without_ids(tmp_path / "a.bgen")
    with pytest.raises(ValueError, match=match):
        gb.open_bgen(path, sample=sample_file(tmp_path / "b.sample", text))
    with pytest.raises(FileNotFoundError, match=r"c\.sample does not exist"):
        gb.open_bgen(path, sample=tmp_path / "c.sample")


def test_sample_ids_that_repeat(tmp_path: Path) -> None:
    names = [*IDS[:-1], "x3"]
    path = write(tmp_path / "a.bgen", random_variants(8, 0), samples=names)
    with pytest.raises(ValueError, match="samples=3 and samples=36 have the same id 'x3'"):
        gb.open_bgen(path)


# What is refused


def multiallelic(path: Path) -> Path:
    values = np.tile([1.0, 0, 0], (4, 1))
    with bgen.BgenWriter(str(path), 4, samples=list("abcd")) as file:
        for k in range(200):
            if k % 3 == 1:
                six = np.tile([0, 0, 1.0, 0, 0, 0], (4, 1))
                file.add_variant("", f"rs{k}", "1", k, ["A", "C", "T"], six)
            else:
                file.add_variant("", f"rs{k}", "1", k, ["A", "C"], np.roll(values, k // 3, axis=1))
    return path


def test_variants_of_more_alleles__are_refused_or_dropped(tmp_path: Path) -> None:
    path = multiallelic(tmp_path / "a.bgen")
    with pytest.raises(ValueError, match=r"67 of 200 variants .* first variant 1 \(rs1\) with 3"):
        gb.open_bgen(path)
    ds = gb.open_bgen(path, multiallelic="drop", chunks=50)
    kept = [k for k in range(200) if k % 3 != 1]
    assert ds.variant_position.values.tolist() == kept
    expected = [[k // 3 % 3] * 4 for k in kept]
    assert dosage(ds.call_genotype).tolist() == expected


@pytest.mark.parametrize("bits", [8, 16, 24])
@pytest.mark.parametrize("compression", [0, 1, 2])
@pytest.mark.parametrize("ploidy", [1, 2, 3, 63])
def test_variants_of_more_copies__are_named_or_dropped(
    tmp_path: Path, bits: int, compression: int, ploidy: int
) -> None:
    path, names = tmp_path / "a.bgen", sample_file(tmp_path / "a.sample", "ID\n0\na\nb\n")
    encode = [bytes, zlib.compress, numcodecs.Zstd().encode][compression]
    whole = b""
    for copies in (2, ploidy, 2):
        one = block(bytes(2 * copies * bits // 8), (copies, copies), bits=bits)
        size = struct.pack("<I", len(one)) if compression else b""
        whole += labelled(size + encode(one))
    path.write_bytes(header(3, compression) + whole)
    ds = gb.open_bgen(path, sample=names)
    if ploidy > 2:
        with pytest.raises(ValueError, match=rf"variants=1 \(rs1\) .* of ploidy {ploidy}"):
            ds.call_genotype.compute()
    kept = gb.open_bgen(path, sample=names, multiallelic="drop")
    assert kept.sizes["variants"] == 3 - (ploidy > 2)
    assert (kept.call_dosage.values[[0, -1]] == 2).all()


def header(variants: int, compression: int, samples: int = 2) -> bytes:
    flags = compression | 2 << 2
    return struct.pack("<4I4sI", 20, 20, variants, samples, b"bgen", flags)


def labelled(stored: bytes) -> bytes:
    """A variant whose genotypes are stored as these bytes."""
    labels = b"\x00\x00\x03\x00rs1\x01\x001" + struct.pack("<IH", 5, 2)
    labels += b"\x01\x00\x00\x00A\x01\x00\x00\x00G"
    return labels + struct.pack("<I", len(stored)) + stored


def raw(block: bytes, samples: int = 2) -> bytes:
    """An uncompressed file of one variant whose genotypes are these bytes."""
    return header(1, 0, samples) + labelled(block)


def block(values: bytes, ploidy: tuple[int, int] = (2, 2), phased: int = 0, bits: int = 8) -> bytes:
    head = struct.pack("<IHBB", 2, 2, min(ploidy), max(ploidy))
    return head + bytes(ploidy) + bytes([phased, bits]) + values


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (block(bytes([255, 0, 200, 100])), "samples=1 do not add up to 1"),
        (
            block(bytes(6), (3, 3)),
            r"\(rs1\) .* ploidy 3.*multiallelic='drop'",
        ),
        (
            block(bytes(6), (3, 3), phased=1),
            r"\(rs1\) .* ploidy 3.*multiallelic='drop'",
        ),
        (block(bytes(4), bits=40), r"variants=0 \(rs1\) cannot be read"),
        (block(bytes(3)), r"variants=0 \(rs1\) cannot be read"),
    ],
)
def test_damaged_genotypes__are_refused_when_they_are_read(
    tmp_path: Path, content: bytes, match: str
) -> None:
    path, names = tmp_path / "a.bgen", sample_file(tmp_path / "a.sample", "ID\n0\na\nb\n")
    path.write_bytes(raw(block(bytes([255, 0, 0, 255]))))
    assert dosage(gb.open_bgen(path, sample=names).call_genotype).tolist() == [[0, 1]]
    path.write_bytes(raw(content))
    ds = gb.open_bgen(path)
    for name in ("call_genotype", "call_dosage"):
        with pytest.raises(ValueError, match=match) as caught:
            ds[name].compute()
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("bits", "phased", "haploid", "layout"),
    [(8, 0, 0, 2), (16, 1, 0, 2), (12, 0, 0, 2), (8, 0, 0.3, 2), (16, 0, 0, 1)],
)
def test_damaged_zlib_blocks__never_give_other_dosages(
    tmp_path: Path, bits: int, phased: float, haploid: float, layout: int
) -> None:
    variants = random_variants(bits, phased, haploid=haploid)
    path = write(tmp_path / "a.bgen", variants, bits, layout=layout)
    whole, right = path.read_bytes(), gb.open_bgen(path).call_dosage[-1].values
    refused = 0
    for back in range(1, 49):
        damaged = bytearray(whole)
        damaged[-back] ^= 1 << back % 8
        path.write_bytes(damaged)
        try:
            found = gb.open_bgen(path).call_dosage[-1].values
        except ValueError as error:
            assert "variants=149 (rs149) cannot be read" in str(error)  # noqa: PT017 - some are read
            refused += 1
        else:
            np.testing.assert_array_equal(found, right)
    assert refused > 40


def test_damaged_zstd_blocks__are_refused_if_they_have_a_checksum(tmp_path: Path) -> None:
    path, names = tmp_path / "a.bgen", sample_file(tmp_path / "a.sample", "ID\n0\na\nb\n")
    stored = block(bytes([255, 0, 0, 255]))
    frame = numcodecs.Zstd(checksum=True).encode(stored)
    content = raw(struct.pack("<I", len(stored)) + frame)
    content = content[:20] + struct.pack("<I", 2 << 2 | 2) + content[24:]
    path.write_bytes(content)
    assert dosage(gb.open_bgen(path, sample=names).call_genotype).tolist() == [[0, 1]]
    # The last number, before the checksum of four bytes.
    path.write_bytes(content[:-5] + bytes([content[-5] ^ 1]) + content[-4:])
    with pytest.raises(ValueError, match=r"variants=0 \(rs1\) cannot be read"):
        gb.open_bgen(path).call_dosage.compute()


def test_files_that_are_no_bgen(tmp_path: Path) -> None:
    path = write(tmp_path / "a.bgen", random_variants(8, 0))
    whole = path.read_bytes()
    for content, match in (
        (b"", "is not a BGEN file: bytes 16 to 19 are not there"),
        (b"\x6c\x1b\x01" + bytes(40) + b"x", "is not a BGEN file: bytes 16 to 19 are 00 00 00 00"),
        (b"\x6c\x1b\x10" + bytes(40) + b"x", "is not a BGEN file: .* for a .pgen open_pgen"),
        (whole[:4] + bytes(4) + whole[8:], "truncated or damaged: its header takes 0 bytes"),
        (b"##fileformat=VCFv4.3\n" * 3, "is not a BGEN file: bytes 16 to 19 are 76 34 2e 33"),
        (whole[:-1], "truncated or damaged: variant 149 of 150 ends at byte"),
        (whole + b"\x00", "1 bytes follow the last of its 150 variants"),
        (
            whole[:8] + b"\x97" + whole[9:],
            "truncated or damaged: the file ends in variant 150 of 151",
        ),
        (whole[:12] + bytes(4) + whole[16:], "has no samples"),
        (whole[:20] + b"\x0d" + whole[21:], "layout 3 and compression 1"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=match) as caught:
            gb.open_bgen(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"ref": "unknown"}, "ref='unknown'"),
        ({"multiallelic": "split"}, "multiallelic='split'"),
        ({"hard_call_threshold": 0.5}, "hard_call_threshold is 0.5, expected at least 0"),
        ({"hard_call_threshold": float("nan")}, "hard_call_threshold is nan"),
    ],
)
def test_arguments(tmp_path: Path, options: dict[str, Any], match: str) -> None:
    path = write(tmp_path / "a.bgen", random_variants(8, 0))
    with pytest.raises(ValueError, match=match):
        gb.open_bgen(path, **options)
    with pytest.raises(TypeError, match=r"hard_call_threshold='0\.1' is not a number"):
        gb.open_bgen(path, hard_call_threshold="0.1")


@pytest.mark.parametrize("group", [1, 40, 2**20])
@pytest.mark.parametrize("first", ["damaged", "no sum"])
def test_the_first_variant_with_a_fault_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, first: str
) -> None:
    monkeypatch.setattr(_source, "_GROUP_BYTES", group)
    fine, wrong = block(bytes(4)), block(bytes([255, 255, 0, 0]))
    faults = {"damaged": zlib.compress(fine)[:-1] + b"\0", "no sum": zlib.compress(wrong)}
    stored = [zlib.compress(fine)] * 5 + [faults.pop(first), *faults.values()]
    size = struct.pack("<I", len(fine))
    path = tmp_path / "a.bgen"
    path.write_bytes(header(7, 1) + b"".join(labelled(size + each) for each in stored))
    ds = gb.open_bgen(path, sample=sample_file(tmp_path / "a.sample", "ID\n0\na\nb\n"))
    what = {"damaged": "compressed data are damaged", "no sum": "do not add up to 1: 1, 1, -1"}
    for calls in (ds.call_genotype, ds.call_dosage):
        with pytest.raises(ValueError, match=rf"variants=5 \(rs1\) .*{what[first]}"):
            calls.compute()
