"""Text filesets of PLINK 1 against plink 1.9's own conversion, and the files that are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.io import _text_tables
from tests.helpers.programs import PLINK, plink

KINDS = [("A", "C"), ("1", "2"), ("T", "ACGT"), ("DEL", "INS"), ("G", "T")]
CONTIGS = ("1", "2", "23", "24", "26")


def cohort(
    rng: np.random.Generator, samples: int, variants: int, joined: bool
) -> tuple[list, list]:
    """Six fields of each sample, and alleles (samples, variants, 2); ties and rare alleles too."""
    single = [pair for pair in KINDS if max(map(len, pair)) == 1] if joined else KINDS
    share = rng.choice([0, 0.1, 0.5, 0.9, 1], variants)
    which = (rng.random((samples, variants, 2)) < share[:, None]).astype(int)
    names = np.array([single[k % len(single)] for k in range(variants)], object).reshape(-1, 2)
    alleles = names[np.arange(variants)[None, :, None], which]
    alleles[rng.random((samples, variants)) < 0.15] = "0"
    parents = [
        f"s{rng.integers(0, k)}" if k and rng.random() < 0.4 else "0" for k in range(samples)
    ]
    fam = [[f"F{k % 2}", f"s{k}", dad, "0", str(k % 3), "-9"] for k, dad in enumerate(parents)]
    return fam, alleles.tolist()


def write(
    stem: Path, fam: list[list[str]], alleles: list[Any], style: str, centimorgan: bool
) -> Path:
    joined, transposed = style == "joined", style == "tped"
    variants = len(alleles[0])
    sites = [[CONTIGS[min(k // 5, 4)], f"rs{k}", "0", str(10 * k + 1)] for k in range(variants)]
    pair = "".join if joined else " ".join
    if transposed:
        rows = [
            "\t".join([*site, *(pair(row[k]) for row in alleles)]) for k, site in enumerate(sites)
        ]
        stem.with_suffix(".tfam").write_text("".join(" ".join(row) + "\n" for row in fam))
    else:
        calls = ["  ".join(map(pair, row)) for row in alleles]
        rows = [" ".join(who) + "\t" + row for who, row in zip(fam, calls, strict=True)]
        kept = [site if centimorgan else [*site[:2], site[3]] for site in sites]
        stem.with_suffix(".map").write_text("".join("\t".join(row) + "\n" for row in kept))
    path = stem.with_suffix(".tped" if transposed else ".ped")
    path.write_bytes(("\r\n" if style == "crlf" else "\n").join([*rows, ""]).encode())
    return path


def converted(path: Path) -> Path:
    kind = "--tfile" if path.suffix == ".tped" else "--file"
    plink(path.with_suffix(""), path.with_name("converted"), "--make-bed", kind=kind)
    return path.with_name("converted")


@PLINK
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    seed=st.integers(0, 2**32),
    samples=st.sampled_from([1, 2, 3, 4, 5, 9]),
    variants=st.sampled_from([1, 2, 7, 33]),
    style=st.sampled_from(["ped", "tped", "joined", "crlf"]),
    centimorgan=st.booleans(),
)
def test_text_filesets__equal_what_plink_converts(
    tmp_path: Path, seed: int, samples: int, variants: int, style: str, centimorgan: bool
) -> None:
    rng = np.random.default_rng(seed)
    fam, alleles = cohort(rng, samples, variants, style == "joined")
    path = write(tmp_path / "a", fam, alleles, style, centimorgan)
    ds, right = gb.open_plink(path), gb.open_plink(converted(path))
    for name in right:
        np.testing.assert_array_equal(ds[name].values, right[name].values, err_msg=name)
    assert set(ds) == set(right)
    planes = [x.genobit.pack().compute() for x in (ds, right)]
    for name in ("plane_carrier", "plane_hom_alt", "plane_called"):
        np.testing.assert_array_equal(planes[0][name], planes[1][name])


PED = "F a 0 0 1 1 A G C C\nF b 0 0 1 2 G A T T\n"
MAP = "1 a 0 100\n1 b 0 200\n"


@pytest.mark.parametrize(
    ("ped", "sites", "match"),
    [
        (PED.replace("A G", "A 0"), MAP, r"a\.ped, line 1, field 7: the genotype 'A 0' has one"),
        (PED.replace("T T", "T G"), MAP, r"line 2, field 9: .* 'T G' has a third allele"),
        (PED.replace("C C", "C"), MAP, r"line 1 has 9 fields, expected 10: 6 and 2 genotypes"),
        (PED.replace("T T", "T T T"), MAP, r"line 2 has 11 fields, expected 10"),
        (PED, MAP + "1 c 0 300\n", r"line 1 has 10 fields, expected 12"),
        (PED, MAP.replace("200", "x"), r"a\.map, line 2: bp is 'x', not a whole number"),
        (PED, MAP.replace("b 0", "b y"), r"a\.map, line 2: cM is 'y', not a number"),
        (PED, MAP.replace("b 0 200", "b"), r"a\.map, line 2: it has 2 fields where 4 are expected"),
        (PED.replace("F b", "F a"), MAP, r"already on line 1"),
        ("F a 0 0 1 1 AG CC\nF b 0 0 1 2 GA T\n", MAP, r"line 2, field 8: .* not two characters"),
        ("F a\n", MAP, r"a\.ped, line 1: it has 2 fields where 6 are expected"),
    ],
)
def test_faults__are_named_with_line_and_field(
    tmp_path: Path, ped: str, sites: str, match: str
) -> None:
    path = tmp_path / "a.ped"
    path.write_text(ped)
    path.with_suffix(".map").write_text(sites)
    with pytest.raises(ValueError, match=match):
        gb.open_plink(path)


def test_comments_and_blank_lines__are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.ped"
    path.write_text("# made by hand\n\n" + PED.replace("\n", "\n\n"))
    path.with_suffix(".map").write_text("#x\n" + MAP)
    ds = gb.open_plink(path)
    assert ds.call_genotype.sum("ploidy").values.tolist() == [[1, 1], [0, 2]]
    with gb.set_options(eager_limit=1), pytest.raises(ValueError, match="eager_limit"):
        gb.open_plink(path)


TPED = "1 rs1 0 100 A G\n1 rs2 0.5 200 C C\n2 rs3 1 1 0 0\n"


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"rs2": '"rs2'},
        {"rs2": "rsβ"},
        {"rs2": "0x10"},
        {" 200": " 2e2"},
        {"\n": "\r\n"},
        {"\n1": "\n# 1 rs9\n\n \n\t 1"},
        {" ": "\t \t"},
        {"0 0\n": "0 0"},
    ],
)
def test_every_text_is_read_as_without_arrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str]
) -> None:
    text = TPED
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "a.tped").write_bytes(text.encode())
    (tmp_path / "a.tfam").write_text("F a 0 0 1 1\n")
    found = gb.open_plink(tmp_path / "a.tped").compute()
    assert found.variant_allele.values.tolist() == [["A", "G"], ["C", "0"], ["0", "0"]]
    assert found.variant_position.values.tolist() == [100, 200, 1]
    monkeypatch.setattr(_text_tables, "read_plain", lambda *_: None)
    xr.testing.assert_identical(found, gb.open_plink(tmp_path / "a.tped").compute())


@pytest.mark.parametrize(
    ("old", "match"),
    [
        (b"rs2", r"a\.tped, line 3: it is not UTF-8 text"),
        (b"C C", r"variant_allele of .*a\.tped\[1, 0\] is b'\\xe9', which is not UTF-8 text"),
    ],
)
def test_text_that_is_not_utf8(tmp_path: Path, old: bytes, match: str) -> None:
    new = b"\xe9" if old == b"rs2" else b"\xe9 \xe9"
    (tmp_path / "a.tped").write_bytes(b"#\n" + TPED.encode().replace(old, new))
    (tmp_path / "a.tfam").write_text("F a 0 0 1 1\n")
    with pytest.raises(ValueError, match=match):
        gb.open_plink(tmp_path / "a.tped")
