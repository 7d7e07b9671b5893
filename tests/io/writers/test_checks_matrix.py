"""Every writer with every odd label, type and index: refused by name, or read by other programs."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from tests.helpers.cohorts import cohort
from tests.helpers.programs import PLINK2, plink2, vcztools
from tests.io.formats import FORMATS

CALLS = np.array([[[0, 0], [0, 1], [1, 1]], [[0, 1], [-1, -1], [0, 0]]], np.int8)


def records(name: str, path: Path) -> list[list[str]]:
    """Contig, position, id, REF, ALT and calls of each variant, as another program reads them."""
    if name.startswith("vcf"):
        text = vcztools("view", path) if name == "vcf_zarr" else gzip.decompress(path.read_bytes())
        text = text if isinstance(text, str) else text.decode()
        done = subprocess.run(
            ["bcftools", "view", "-H", "-"], input=text, capture_output=True, text=True, check=True
        )
        assert "W::" not in done.stderr, done.stderr
        rows = done.stdout
    else:
        option = "--bfile" if name == "plink" else "--pfile"
        kept = ("--output-chr", "chrM", "--allow-extra-chr", "--allow-no-samples")
        plink2(
            path.with_suffix(""), option, str(path.with_suffix("")), *kept[2:3], "--export", "vcf"
        )
        lines = path.with_suffix(".vcf").read_text().splitlines(keepends=True)
        rows = "".join(line for line in lines if not line.startswith("#"))
    return [
        [*row.split("\t")[:5], *(call.split(":")[0] for call in row.split("\t")[9:])]
        for row in rows.splitlines()
    ]


EXPECTED = [["1", "7", "x", "A", "C"], ["1", "9", "y", "A", "C"]]
CALLED = [["0/0", "0/1", "1/1"], ["0/1", "./.", "0/0"]]
ALL = set(FORMATS)
VCF = {"vcf", "vcf_zarr"}


def labels(**changes: Any) -> xr.Dataset:
    given = {
        "variant_position": [7, 9],
        "variant_id": ["x", "y"],
        "variant_allele": [["A", "C"], ["A", "C"]],
        "variant_contig": [0, 0],
        "contig_id": ["1"],
        "sample_id": ["s", "t", "u"],
    } | changes
    ds = cohort(CALLS).drop_vars(["variant_genetic_position", *given])
    for name, values in given.items():
        dims: Any = f"{name.partition('_')[0]}s"
        ds[name] = ((dims, "alleles"), values) if name == "variant_allele" else (dims, values)
    return ds


ODD: dict[str, tuple[dict[str, Any], set[str], str]] = {
    # Labels, the writers that refuse them, and what the message says.
    "id with a blank": ({"variant_id": ["x", "a b"]}, ALL, "variant_id is 'a b' at variants=1"),
    "id with a tab": ({"variant_id": ["x", "a\tb"]}, ALL, "variant_id is 'a.*variants=1"),
    "no id": ({"variant_id": ["x", ""]}, set(), ""),
    "two ids": ({"variant_id": ["x", "a;b"]}, set(), ""),
    "sample with a blank": ({"sample_id": ["s", "a b", "u"]}, ALL, "samples=1 has .* white space"),
    "sample with a tab": ({"sample_id": ["s", "a\tb", "u"]}, ALL, "samples=1 has .* white space"),
    "sample without id": ({"sample_id": ["s", "", "u"]}, ALL, "samples=1 has .* white space"),
    "sample twice": ({"sample_id": ["s", "t", "s"]}, ALL, "samples=0 and samples=2"),
    "sample 0": ({"sample_id": ["s", "0", "u"]}, {"plink", "pgen"}, "sample_id is '0'"),
    "sample of a byte order mark": ({"sample_id": ["\ufeffs", "s", "u"]}, set(), ""),
    "contig with a blank": ({"contig_id": ["a b"]}, ALL, "contig_id is 'a b' at contigs=0"),
    "contig with a comma": ({"contig_id": ["a,b"]}, VCF, "contig_id is 'a,b' at contigs=0"),
    "contig of a comment": ({"contig_id": ["#1"]}, ALL, "contig_id is '#1' at contigs=0"),
    "contig of a gene": ({"contig_id": ["HLA-A*01:01"]}, set(), ""),
    "position 0": ({"variant_position": [0, 9]}, VCF, r"is 0 at variants=0.* \+ 1"),
    "position -5": ({"variant_position": [7, -5]}, ALL, "variant_position is -5 at variants=1"),
    "large position": ({"variant_position": [7, 2**31 - 1]}, ALL, "2147483647 at variants=1"),
    "allele with a comma": (
        {"variant_allele": [["A", "G,T"], ["A", "C"]]},
        ALL,
        r"variant_allele\[0\] is \['A', 'G,T'\]",
    ),
    "no reference allele": (
        {"variant_allele": [["", "C"], ["A", "C"]]},
        ALL - {"plink"},
        r"variant_allele\[0\] is \['', 'C'\]",
    ),
    "allele with a blank": ({"variant_allele": [["A", "C"], ["A", "G T"]]}, ALL, "variant_allele"),
    "allele 0": ({"variant_allele": [["A", "0"], ["0", "C"]]}, set(), ""),
    "allele .": ({"variant_allele": [["A", "."], [".", "C"]]}, set(), ""),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("odd", ODD)
def test_odd_labels(tmp_path: Path, name: str, odd: str) -> None:
    changes, refusing, message = ODD[odd]
    ds = labels(**changes)
    write, read = FORMATS[name]
    if name in refusing:
        with pytest.raises((ValueError, TypeError), match=message):
            write(ds, tmp_path / "a")
        assert list(tmp_path.iterdir()) == []
        return
    again = read(write(ds, tmp_path / "a"))
    np.testing.assert_array_equal(again.call_genotype, CALLS)
    for label in ("sample_id", "variant_position", "contig_id"):
        np.testing.assert_array_equal(again[label], ds[label])
    assert again.variant_id.values.tolist() == [x or "." for x in ds.variant_id.values.tolist()]


@PLINK2
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("odd", [odd for odd in ODD if "twice" not in odd])
def test_other_programs_read_odd_labels(tmp_path: Path, name: str, odd: str) -> None:
    changes, refusing, _ = ODD[odd]
    if name in refusing or (odd == "contig with a comma"):
        pytest.skip("refused, or not for VCF, to which plink2 exports")
    ds = labels(**changes)
    contig = "1" if "contig_id" not in changes else changes["contig_id"][0]
    unknown = {"0": ".", "": "."}
    alleles = [[unknown.get(a, a) for a in row] for row in ds.variant_allele.values.tolist()]
    expected = [
        [contig, str(position), one or ".", "N" if ref == "." else ref, alt, *calls]
        for position, one, (ref, alt), calls in zip(
            ds.variant_position.values, ds.variant_id.values.tolist(), alleles, CALLED, strict=True
        )
    ]
    assert records(name, FORMATS[name].write(ds, tmp_path / "a")) == expected


TYPES: dict[str, Callable[[xr.Dataset], xr.Dataset]] = {
    **{
        f"calls of {dtype}": lambda ds, dtype=dtype: ds.assign(
            call_genotype=ds.call_genotype.astype(dtype)
        )
        for dtype in ("i2", ">i4", "i8")
    },
    "unsigned calls": lambda ds: ds.assign(
        call_genotype=ds.call_genotype.where(ds.call_genotype >= 0, 0).astype("u1")
    ),
    "lazy calls of int64": lambda ds: ds.assign(
        call_genotype=ds.call_genotype.astype("i8").chunk(variants=1)
    ),
    "transposed calls": lambda ds: ds.transpose("ploidy", "samples", ...),
    "fixed-width text": lambda ds: ds.assign(
        sample_id=("samples", np.array(["s", "t", "u"], "U9")),
        variant_id=("variants", np.array(["x", "y"], "U3")),
    ),
    "bytes": lambda ds: ds.assign(
        sample_id=("samples", np.array([b"s", b"t", b"u"])),
        variant_allele=(("variants", "alleles"), np.array([[b"A", b"C"]] * 2)),
    ),
    "StringDType": lambda ds: ds.assign(
        variant_id=("variants", np.array(["x", "y"], np.dtypes.StringDType()))
    ),
    "text of pandas": lambda ds: ds.assign(
        sample_id=("samples", pd.array(["s", "t", "u"], "string"))
    ),
    "contigs as text": lambda ds: ds.drop_vars("contig_id").assign(
        variant_contig=("variants", ["1", "1"])
    ),
    "positions of uint32": lambda ds: ds.assign(variant_position=ds.variant_position.astype("u4")),
    "names as index": lambda ds: ds.set_index(samples="sample_id", variants="variant_id"),
    "a MultiIndex": lambda ds: ds.set_index(samples=["sample_id", "sample_place"]),
}


@PLINK2
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", TYPES)
def test_types_and_indices(tmp_path: Path, name: str, kind: str) -> None:
    ds = TYPES[kind](labels().assign(sample_place=("samples", [3, 1, 2])))
    path = FORMATS[name].write(ds, tmp_path / "a")
    called = [[call.replace("./.", "0/0") for call in row] for row in CALLED]
    calls = called if kind == "unsigned calls" else CALLED
    assert records(name, path) == [[*row, *own] for row, own in zip(EXPECTED, calls, strict=True)]
    assert FORMATS[name].read(path).sample_id.values.tolist() == ["s", "t", "u"]
