"""Tables joined to samples and variants: by label, in any order, with misses reported."""

from __future__ import annotations

import gzip
import logging
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import either_plink

KINDS = ["U", object, "S", np.dtypes.StringDType(), "pandas", "int"]


def genotypes(samples: int = 5, **settings: Any) -> xr.Dataset:
    return cohort(random_calls(2, 4, samples), **settings)


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"sample_id": ["s4", "s0", "s2", "s1", "s3"], **columns})


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# By label


@given(st.data())
def test_join__equals_a_dictionary_for_every_type_of_label(data: st.DataObject) -> None:
    ours = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True))
    theirs = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=20, unique=True))
    kinds = [data.draw(st.sampled_from(KINDS)) for _ in range(2)]
    ds = genotypes(len(ours)).assign(sample_id=("samples", typed(ours, kinds[0])))
    numbers = np.array(theirs, float) * 1.5
    words = [None if label % 5 == 0 else f"w{label}" for label in theirs]
    table = pd.DataFrame({"IID": typed(theirs, kinds[1]), "x": numbers, "word": words})
    if not set(ours) & set(theirs):
        with pytest.raises(KeyError, match="no sample_id of the Dataset is in 'IID'"):
            ds.genobit.join(table)
        return
    found = ds.genobit.join(table)
    known = dict(zip(theirs, zip(numbers, words, strict=True), strict=True))
    expected = [known.get(label, (np.nan, None)) for label in ours]
    np.testing.assert_array_equal(found.x.values, [number for number, _ in expected])
    # A column of None alone has no type, and becomes NaN.
    seen = [None if pd.isna(word) else word for word in found.word.values]
    assert seen == [word for _, word in expected]
    # Not drop_attrs(): numpy 2.2 crashes where it copies StringDType.
    xr.testing.assert_equal(found.drop_vars(["x", "word"]), ds)
    count = len(set(ours) & set(theirs))
    assert f"{count} of {len(ours)} samples have a row" in found.attrs["joined"]


def typed(labels: list[int], kind: Any) -> Any:
    if kind == "int":
        return np.array(labels)
    texts = [f"{label}" for label in labels]
    return pd.array(texts, "str") if kind == "pandas" else np.array(texts).astype(kind)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0]])
def test_variants__are_joined_by_id_and_by_contig_and_position(order: list[int]) -> None:
    ds = genotypes(contigs=2)
    table = pd.DataFrame(
        {
            "CHR": [["chr1", "chr1", "chr2", "chr2"][k] for k in order],
            "BP": ds.variant_position.values[order],
            "SNP": [f"rs{k}" for k in order],
            "p": [k / 10 for k in order],
        }
    )
    right = [k / 10 if k in order else np.nan for k in range(4)]
    for on in ("variant_id", ("variant_contig", "variant_position")):
        found = ds.genobit.join(table, on=on, columns="p")
        assert found.p.dims == ("variants",)
        np.testing.assert_array_equal(found.p.values, right)


def test_family__gives_one_row_to_all_its_samples() -> None:
    ds = genotypes().assign(sample_family_id=("samples", ["f", "g", "f", "", "h"]))
    table = pd.DataFrame({"FID": ["g", "f"], "region": ["north", "south"]})
    found = ds.genobit.join(table, on="sample_family_id", columns=["region"])
    assert found.region.values.tolist() == ["south", "north", "south", None, None]


JOINED = {"ids": "FAMILY_INDIVIDUAL"}


@pytest.mark.parametrize("joined", [True, False], ids=["FAMILY_INDIVIDUAL", "individual"])
def test_family_and_individual__form_a_key_together(joined: bool) -> None:
    family, own = ["a", "a", "b", "b", "c"], ["1", "2", "1", "2", "1"]
    ids = [f"{x}_{y}" for x, y in zip(family, own, strict=True)] if joined else own
    ds = genotypes().assign(
        sample_family_id=("samples", family),
        sample_id=("samples", np.array(ids, object), JOINED if joined else {}),
    )
    table = pd.DataFrame({"FID": family, "IID": own, "x": range(5)}).iloc[[3, 1, 4, 0]]
    found = ds.genobit.join(table, on=("sample_family_id", "sample_id"))
    np.testing.assert_array_equal(found.x.values, [0, 1, np.nan, 3, 4])


FAMILIES = ["a", "a", "b", "b", "0"]
WITHIN = ["1", "2", "1", "3", "1"]
"""Individual ids, which repeat between families."""
ROWS = [("b", "1", 31.0), ("a", "3", 99.0), ("0", "1", 51.0), ("a", "1", 11.0), ("b", "2", 99.0)]
"""Family, individual and value; other families have the individuals 2 and 3."""
VALUES = [11.0, np.nan, 31.0, np.nan, 51.0]


def table_of_families(form: str, folder: Path) -> Any:
    lines = [f"{family} {own} {x}\n" for family, own, x in ROWS]
    table = pd.DataFrame(ROWS, columns=["FID", "IID", "x"])
    forms = {
        "columns": table,
        "own names": table.rename(columns={"FID": "sample_family_id", "IID": "sample_id"}),
        "index": table.set_index(["FID", "IID"]),
        "index beside columns": table.set_index(["FID", "IID"], drop=False),
        "filtered": pd.concat([table, table])[[True] * 5 + [False] * 5].sort_values("x"),
        "empty family": table.replace({"FID": {"0": None}}),
    }
    if form in forms:
        return forms[form]
    head = {".sample": "ID_1 ID_2 x\n0 0 C\n"}.get(form, "FID IID x\n")
    if form.startswith("plain"):
        form, head = form.removeprefix("plain"), ""
    return write(folder / f"a{form}", head + "".join(lines))


@pytest.mark.parametrize("ids", ["FAMILY_INDIVIDUAL", "individual"])
@pytest.mark.parametrize(
    "form",
    [
        "columns", "own names", "index", "index beside columns", "filtered", "empty family",
        ".tsv", ".pheno", "plain.pheno", ".covar", "plain.covar", ".sample",
    ],
)  # fmt: skip
def test_families__are_part_of_the_key_of_every_table(tmp_path: Path, form: str, ids: str) -> None:
    names = [f"{family}_{own}" for family, own in zip(FAMILIES, WITHIN, strict=True)]
    ds = genotypes().assign(
        sample_family_id=("samples", FAMILIES),
        sample_id=("samples", names, JOINED) if ids == "FAMILY_INDIVIDUAL" else ("samples", WITHIN),
    )
    found = ds.genobit.join(table_of_families(form, tmp_path))
    name = {"plain.pheno": "PHENO1", "plain.covar": "COVAR1"}.get(form, "x")
    np.testing.assert_array_equal(found[name], VALUES)
    assert "by sample_family_id, sample_id: 3 of 5 samples have a row" in found.attrs["joined"]
    # The same individuals in other families are other people.
    one = ds.isel(samples=[0, 2])
    with pytest.raises(KeyError, match=r"no sample_family_id, sample_id of the Dataset is in"):
        one.assign(sample_family_id=("samples", ["q", "q"])).genobit.join(
            table_of_families(form, tmp_path)
        )


@pytest.mark.parametrize("program", ["plink1.9", "plink2"])
@pytest.mark.parametrize("form", [".pheno", "plain.pheno", ".tsv"])
def test_families__equal_plink(tmp_path: Path, form: str, program: str) -> None:
    ds = genotypes().assign(sample_family_id=("samples", FAMILIES), sample_id=("samples", WITHIN))
    bed = gb.to_plink(ds, tmp_path / "a")
    table = table_of_families(form, tmp_path)
    options = ("--pheno", table, "--make-just-fam")
    either_plink(program, bed.with_suffix(""), tmp_path / "b", *options)
    theirs = [line.split()[5] for line in (tmp_path / "b.fam").read_text().splitlines()]
    ours = gb.open_plink(bed).genobit.join(table)["PHENO1" if form == "plain.pheno" else "x"]
    np.testing.assert_array_equal(ours, [np.nan if x == "-9" else float(x) for x in theirs])


def test_families__that_only_one_side_has() -> None:
    table = pd.DataFrame({"FID": ["f", "g"], "IID": ["s1", "s0"], "x": [1.0, 2.0]})
    found = genotypes(2).genobit.join(table)
    assert found.x.values.tolist() == [2, 1]
    words = "; families are not compared, because the Dataset has no sample_family_id"
    assert found.attrs["joined"].endswith(words)
    ds = genotypes(2).assign(sample_family_id=("samples", ["0", "0"]))
    with pytest.raises(KeyError, match=r"'IID' has 2 of the 2 sample_id; did you mean on=\{") as no:
        ds.genobit.join(table)
    on = eval(str(no.value.args[0]).partition("on=")[2].rstrip("?"))
    for alone in (on, "sample_id"):
        assert ds.genobit.join(table, on=alone).x.values.tolist() == [2, 1]
    assert ds.genobit.join(table.drop(columns="FID")).x.values.tolist() == [2, 1]
    within = table.assign(IID=["s1", "s1"])
    with pytest.raises(ValueError, match=r"or tell them apart by 'FID': give the Dataset the fam"):
        genotypes(2).genobit.join(within)


FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "filtered": lambda t: t[t.x > 1],
    "sorted": lambda t: t.sort_values("x", ascending=False),
    "concatenated": lambda t: pd.concat([t[:2], t[2:].reset_index(drop=True)]),
    "every second row": lambda t: t[::2],
    "labelled by its ids too": lambda t: t.set_index(t.columns[0], drop=False),
    "labelled by other words": lambda t: t.set_index(pd.Index(list("vwxyz"))),
    "index": lambda t: t.set_index(t.columns[0]).rename_axis(None),
    "named index": lambda t: t.set_index(t.columns[0]),
    "series": lambda t: t.set_index(t.columns[0]).x,
}


@pytest.mark.parametrize("key", ["sample_id", "Sample_ID", "IID", "iid", "#IID", "lab"])
@pytest.mark.parametrize("form", FRAMES)
def test_the_column_of_the_ids__comes_before_the_index(form: str, key: str) -> None:
    whole = frame(x=[4.0, 0.0, 2.0, 1.0, 3.0]).rename(columns={"sample_id": key})
    table = FRAMES[form](whole)
    kept = set(pd.DataFrame(table)["x"])
    found = genotypes().genobit.join(table, on={"sample_id": "lab"} if key == "lab" else None)
    np.testing.assert_array_equal(found.x, [x if x in kept else np.nan for x in range(5)])


NUMBERS_AS_TEXT = {
    "decimal comma": (["21,5", "22,0", "19,25", "30", "18"], "'21,5' in row 0, which is a number"),
    "thousands": (["998", "1,021.5", "1,200.0", "870", "2"], "'1,021.5' in row 1, which is a num"),
    "points of thousands": (["1.021,5", "2", "3", "4", "5"], "'1.021,5' in row 0, which is a num"),
    "spaces of thousands": (["1", "2", "3", "4", "5 000"], "'5 000' in row 4, which is a number"),
    "one decimal comma": (["1.5", "2.5", "3,5", "4.5", "x"], "'3,5' in row 2, which is a number"),
    "dash": (["1.5", "-", "3.5", "4.5", "5"], "'-' in row 1, which stands for a missing value"),
    "unknown": (["1", "2", "3", "Unknown", "5"], "'Unknown' in row 3, which stands for a missing"),
    "blank": (["1", "2", "3", "4", " "], "' ' in row 4, which stands for a missing value"),
    "dash and comma": (["1", "-", "3,5", "4", "."], "'3,5' in row 2, which is a number"),
    "thin spaces": (
        ["1", "2", "3", "4", "5\u202f000"],
        "'5\\u202f000' in row 4, which is a number",
    ),
}
CLASSES = {
    "words": ["a", "b", "-", "unknown", "c,d"],
    "chromosomes": ["1", "2", "X", "Y", "MT"],
    "codes": ["1", "02", "3", "4", "5"],
    "alleles": ["A,C", "G", "T", "A", "C"],
    "missing alone": ["-", "unknown", "-", "-", "-"],
    "few numbers": ["1,5", "low", "high", "very high", "none"],
    "one number": ["0", "A", ".", "A", "0"],
    "half numbers": ["1", "unknown", "A", "-", "NA"],
}


@pytest.mark.parametrize("form", ["frame", "file"])
@pytest.mark.parametrize("kind", NUMBERS_AS_TEXT)
def test_numbers_that_are_text__are_reported_with_their_place(
    kind: str, form: str, tmp_path: Path
) -> None:
    values, words = NUMBERS_AS_TEXT[kind]
    table: Any = frame(x=values)
    if form == "file":
        table.to_csv(tmp_path / "table.tsv", sep="\t", index=False)
        table = tmp_path / "table.tsv"
    with pytest.raises(ValueError, match=rf"column 'x' has {re.escape(words)}") as no:
        genotypes().genobit.join(table)
    code = re.search(
        r"column, (\..*), or read the file with pd.read_csv\(...(.*?)\)", str(no.value)
    )
    assert code is not None
    if "x" not in values:
        converted = eval(f"pd.Series(values){code[1]}")
        copy = tmp_path / "copy.tsv"
        copy.write_text("x\tk\n" + "".join(f"{value}\t1\n" for value in values), "utf-8")
        read = eval(f"pd.read_csv(copy, sep='\t'{code[2]})").x
        assert converted.notna().sum() >= 3
        np.testing.assert_array_equal(read, converted)
    classes = frame(x=pd.Categorical(values))
    assert sorted(genotypes().genobit.join(classes).x.values) == sorted(values)


@pytest.mark.parametrize("kind", CLASSES)
def test_classes__stay_text(kind: str) -> None:
    found = genotypes().genobit.join(frame(x=CLASSES[kind]))
    assert sorted(found.x.values) == sorted(CLASSES[kind])


# Measurements


def measured(rows: str = "genes", observations: str = "samples") -> xr.DataArray:
    values = np.arange(15.0).reshape(3, 5)
    names = [[f"g{k}" for k in range(3)], [f"s{k}" for k in range(5)]]
    return gb.measurements(pd.DataFrame(values, *names), rows=rows, observations=observations)


@pytest.mark.parametrize("key", ["samples", "IID", "sample", "sample_id"])
@pytest.mark.parametrize("form", FRAMES)
def test_measurements__are_joined_by_their_samples(form: str, key: str) -> None:
    whole = frame(x=[4.0, 0.0, 2.0, 1.0, 3.0]).rename(columns={"sample_id": key})
    table = FRAMES[form](whole)
    kept = set(pd.DataFrame(table)["x"])
    found = measured().genobit.join(table)
    assert found.x.dims == ("samples",)
    np.testing.assert_array_equal(found.x, [x if x in kept else np.nan for x in range(5)])
    xr.testing.assert_identical(found.drop_vars("x").drop_attrs(), measured())
    assert found.attrs["joined"].startswith("the table by samples: ")


def test_measurements__are_joined_by_genes_and_lazily() -> None:
    table = pd.DataFrame({"gene": ["g2", "g0", "g1"], "pathway": ["c", "a", "b"]})
    lazy = measured().chunk()
    found = lazy.genobit.join(table, on={"genes": "gene"})
    assert found.chunks == lazy.chunks
    assert found.pathway.values.tolist() == ["a", "b", "c"]
    names = found.genobit.kendall_pairs(0.5, None, names="pathway").to_dataframe()
    assert {*names.name_0, *names.name_1} == {"a", "b", "c"}


def test_measurements__without_labels_name_the_remedy() -> None:
    bare = xr.DataArray(np.ones((3, 5)), dims=("gene", "sample"))
    with pytest.raises(KeyError, match=r"no labels along 'sample': .*assign_coords\(sample="):
        bare.genobit.join(frame(x=range(5)))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("genes", "has a dimension 'genes' already"),
        ("samples", "has a dimension 'samples' already"),
        ("own", "has the name 'own' already: .*, or rename it first, da.rename"),
        ("age", r"has a coordinate 'age' already: .*, or drop it first, da.drop_vars\('age'\)"),
    ],
)
@pytest.mark.parametrize("labelled", [True, False])
def test_names_that_a_dataarray_has__are_refused(name: str, words: str, labelled: bool) -> None:
    da = measured().rename("own").assign_coords(age=("samples", range(5)))
    da = da if labelled else da.drop_vars("genes")
    table = frame(x=range(5))
    with pytest.raises(ValueError, match=f"the DataArray {words}"):
        da.genobit.join(table, on={"samples": "sample_id"}, columns={"x": name})


def test_errors_of_a_dataarray__do_not_speak_of_a_dataset() -> None:
    wrong: list[Callable[[], Any]] = [
        lambda: measured().genobit.join(frame(x=range(5)), on="sample"),
        lambda: measured().genobit.join(frame(x=range(5)).assign(sample_id=list("vwxyz"))),
        lambda: xr.DataArray(3).genobit.join(frame(x=range(5))),
    ]
    for join in wrong:
        with pytest.raises((KeyError, ValueError), match="the DataArray has") as no:
            join()
        assert "Dataset" not in str(no.value)


def test_alignments__are_joined_by_their_taxa() -> None:
    da = gb.sample_alignment().isel(taxa=slice(4))
    table = pd.DataFrame({"taxa": da.taxa.values[::-1], "habitat": list("dcba")})
    for each in (da, da.T, da.assign_coords(sites=range(da.sizes["sites"]))):
        assert each.genobit.join(table).habitat.values.tolist() == list("abcd")


def test_a_frame_of_plink2__is_read_as_its_file(tmp_path: Path) -> None:
    table = pd.DataFrame({"#FID": "f", "IID": [f"s{k}" for k in range(5)], "x": range(5)})
    table.to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    ds = genotypes().drop_vars("sample_family_id", errors="ignore")
    found = ds.genobit.join(table[table.x < 4])
    assert "#FID" not in found
    assert "FID" not in found
    xr.testing.assert_identical(found.x, ds.genobit.join(tmp_path / "x.tsv").x.where(found.x < 4))


@pytest.mark.parametrize("family", [0, "0"], ids=["number", "text"])
def test_a_table_without_families__is_joined_by_individuals(family: int | str) -> None:
    ds = genotypes().assign(sample_family_id=("samples", [f"f{k}" for k in range(5)]))
    table = pd.DataFrame({"FID": family, "IID": [f"s{k}" for k in range(5)], "x": range(5)})
    found = ds.genobit.join(table)
    assert found.x.values.tolist() == list(range(5))
    assert found.attrs["joined"].startswith("the table by sample_id: 5 of 5")
    for on in (("sample_family_id", "sample_id"), None):
        other = table if on else table.assign(FID="other")
        with pytest.raises(KeyError, match="no sample_family_id, sample_id of the Dataset is in"):
            ds.genobit.join(other, on=on)


def test_an_index_that_has_no_ids__is_named() -> None:
    table = frame(x=range(5)).rename(columns={"sample_id": "lab"})
    words = r"in the index of the table: .* Column 'lab' has 5 of the 5 sample_id; did you mean on="
    with pytest.raises(KeyError, match=words):
        genotypes().genobit.join(table[::-1])
    words = r"the index of the table is '0' in row 0 and in row 2: column 'lab' has 5 of the 5"
    with pytest.raises(ValueError, match=words):
        genotypes().genobit.join(pd.concat([table[:2], table[2:].reset_index(drop=True)]))


def test_packed__gets_coordinates_and_computes_nothing() -> None:
    bits = genotypes(chunks=(2, 5)).genobit.pack()
    with raise_if_dask_computes():
        found = bits.genobit.join(frame(case=[1, 0, 1, 0, 1]))
    assert found.coords["case"].values.tolist() == [0, 0, 1, 1, 1]
    chosen = found.genobit.isel(samples=[4, 0])
    assert chosen.coords["case"].values.tolist() == [1, 0]
    assert "case" in chosen.genobit.grm().coords or "case_0" in chosen.genobit.grm().coords


def test_text_with_missing_values__round_trips_through_zarr(tmp_path: Path) -> None:
    bits = genotypes().genobit.pack().genobit.join(frame(colour=["a", None, "c", "d", "e"]))
    gb.to_zarr(bits, tmp_path / "bits.gb")
    back = xr.open_zarr(tmp_path / "bits.gb")
    assert [w or None for w in back.colour.values] == [None, "d", "c", "e", "a"]
    assert back.attrs["joined"] == bits.attrs["joined"]


# Types of columns


@pytest.mark.parametrize(
    ("column", "whole", "partial"),
    [
        ([1, 2, 3], np.int64, np.float64),
        (np.array([1, 2, 3], "int8"), np.int8, np.float64),
        ([True, False, True], np.bool_, np.float64),
        (np.array([1, 2, 3], "f4"), np.float32, np.float32),
        (pd.array([1, 2, 3], "Int16"), np.int16, np.float64),
        (pd.array([1, None, 3], "Int16"), np.float64, np.float64),
        (pd.array([True, None, True], "boolean"), np.float64, np.float64),
        (pd.Categorical(["a", "b", "a"]), object, object),
        (pd.Categorical([3, 1, 3]), np.int64, np.float64),
        (pd.array([0, 0, 2], pd.SparseDtype(int)), np.int64, np.float64),
        (["a", None, "b"], object, object),
        (np.array([1, None, 2.5], object), np.float64, np.float64),
        (np.array([True, False, True], object), np.bool_, np.float64),
        (np.array([None, None, None], object), np.float64, np.float64),
        (pd.to_datetime(["2024-01-01", "2024-01-02", None]), "M", "M"),
    ],
)
def test_columns__keep_their_type_unless_a_value_is_missing(
    column: Any, whole: Any, partial: Any
) -> None:
    table = pd.DataFrame({"sample_id": ["s0", "s1", "s2"], "x": column})
    for samples, dtype in ((3, whole), (4, partial)):
        found = genotypes(samples).genobit.join(table).x
        if dtype == "M":
            assert found.dtype.kind == "M"
        else:
            assert found.dtype == dtype
        assert pd.isna(found.values[3:]).all()
        right = [None if pd.isna(x) else x for x in column]
        assert [None if pd.isna(x) else x for x in found.values[:3]] == right


@pytest.mark.parametrize(
    "column",
    [[["a"], [1], {}], np.array([1, "a", 2.0], object), pd.date_range("2024", periods=3, tz="UTC")],
)
def test_columns__of_other_types_are_refused_by_name(column: Any) -> None:
    table = pd.DataFrame({"sample_id": ["s0", "s1", "s2"], "odd": column})
    with pytest.raises(TypeError, match=r"column 'odd' holds .* convert it"):
        genotypes(3).genobit.join(table)


def test_large_integers__do_not_lose_digits() -> None:
    table = pd.DataFrame({"sample_id": ["s0", "s1"], "x": [2**60 + 1, 5]})
    assert genotypes(2).genobit.join(table).x.values[0] == 2**60 + 1
    with pytest.raises(
        ValueError, match="column 'x' has 1152921504606846977 in row 0, which float64 cannot hold"
    ):
        genotypes(3).genobit.join(table)


# Files


@pytest.mark.parametrize(
    "text",
    [
        "sample_id\tbmi\tword\ns2\t1.5\ta b\ns0\tNA\t\ns1\t-9\tc\n",
        "sample_id,bmi,word\ns2,1.5,a b\ns0,,NA\ns1,-9,c\n",
        'sample_id;bmi;word\r\ns2;1.5;"a b"\r\ns0;;\r\ns1;-9;c\r\n',
        '  #IID  bmi  word \n s2 1.5 "a b"\n\n  s0   NA NA \ns1 -9 c',
        "\ufeffFID\tIID\tbmi\tword\nf\ts2\t1.5\ta b\nf\ts0\tNA\t\nf\ts1\t-9\tc\n",
    ],
    ids=["tsv", "csv", "semicolons", "spaces", "BOM and FID"],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_files__are_read_by_their_header(tmp_path: Path, text: str, packed: bool) -> None:
    path = tmp_path / "pheno.txt"
    raw = text.encode()
    path.write_bytes(gzip.compress(raw) if packed else raw)
    found = genotypes(3).genobit.join(path)
    np.testing.assert_array_equal(found.bmi.values, [np.nan, -9, 1.5])
    assert found.word.values.tolist() == [None, "c", "a b"]
    assert "-9 is kept as a value in bmi" in found.attrs["joined"]
    assert "FID" not in found


CONVENTIONS = {
    "study.pheno": ("f0 s0 1.5 2\nf1 s1 -9 1\nf2 s2 NA -9\n", {"PHENO1": [1.5, np.nan, np.nan]}),
    "named.phen": ("FID IID bmi\nf0 s0 1.5\nf1 s1 -9\nf2 s2 nan\n", {"bmi": [1.5, np.nan, np.nan]}),
    "study.covar": ("f0 s0 61 -9\nf1 s1 NA 3\nf2 s2 40 1\n", {"COVAR2": [-9, 3, 1]}),
    "plink2.cov": ("#IID age\ns0 61\ns1 -9\ns2 NA\n", {"age": [61, -9, np.nan]}),
    "study.sample": (
        "ID_1 ID_2 missing sex y\n0 0 0 D B\nf0 s0 0.1 1 0\nf1 s1 0 2 1\nf2 s2 0 1 NA\n",
        {"y": [0, 1, np.nan], "missing": [0.1, 0, 0]},
    ),
    "lower.sample": (
        "id_1 id_2 missing y\n0 0 0 C\nf0 s0 0 4\nf1 s1 0 5\nf2 s2 0 6\n",
        {"y": [4, 5, 6]},
    ),
    "new.sample": ("ID sex\n0 D\ns0 1\ns1 2\ns2 1\n", {"sex": [1, 2, 1]}),
    "regenie.txt": ("FID IID Y1\nf0 s0 NA\nf1 s1 -9\nf2 s2 1\n", {"Y1": [np.nan, -9, 1]}),
}


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize("zipped", [False, True])
def test_conventions__follow_the_ending(tmp_path: Path, name: str, zipped: bool) -> None:
    text, expected = CONVENTIONS[name]
    path = write(tmp_path / name, text)
    if zipped:
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress(text.encode()))
    found = genotypes(3).genobit.join(path)
    for column, values in expected.items():
        np.testing.assert_array_equal(found[column].values, values)


def test_conventions__can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "study.txt", CONVENTIONS["study.pheno"][0])
    found = genotypes(3).genobit.join(path, convention="phenotype")
    np.testing.assert_array_equal(found.PHENO2.values, [2, 1, np.nan])
    path = write(tmp_path / "odd.sample", "IID x\ns0 1\ns1 -9\ns2 3\n")
    with pytest.raises(ValueError, match=r"odd.sample is not a .sample file of Oxford"):
        genotypes(3).genobit.join(path)
    kept = genotypes(3).genobit.join(path, convention="table")
    assert kept.x.values.tolist() == [1, -9, 3]
    with pytest.raises(ValueError, match=r"convention='oxfort' is not one of .* mean 'oxford'"):
        genotypes(3).genobit.join(path, convention="oxfort")
    with pytest.raises(ValueError, match="convention='table' is for files: give a path"):
        genotypes(3).genobit.join(frame(x=range(5)), convention="table")


def test_leading_zeros_and_ids_that_mean_missing__are_kept(tmp_path: Path) -> None:
    ids = ["007", "7", "NA", "1e3"]
    ds = genotypes(4).assign(sample_id=("samples", ids))
    path = write(tmp_path / "x.tsv", "IID\tx\n" + "".join(f"{i}\t{k}\n" for k, i in enumerate(ids)))
    assert ds.genobit.join(path).x.values.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.pheno", "f0 s0\n", "a.pheno has 2 columns: give FID, IID and at least one more"),
        ("n.pheno", "eid IID bmi\nf0 s0 0.5\n", "the first line of n.pheno has 'bmi' above a num"),
        ("b.pheno", "f0 s0 1\nf1 s1\n", "row 1 of b.pheno has 2 fields instead of 3"),
        ("c.sample", "ID_1 ID_2 x\n0 0 Q\nf0 s0 1\n", "column 2 has type 'Q'"),
        ("d.sample", "ID_1 ID_2 x\n0 0 C\nf0 s0\n", "row 0 of d.sample has 2 fields"),
        ("e.sample", "ID_1 ID_2 ID_2\n0 0 C\nf0 s0 1\n", "are both called 'ID_2'"),
        (
            "x.txt",
            "IID bmi sex\ns0 1 M\ns1 M\n",
            "row 1 of x.txt has 2 fields instead of 3: write NA",
        ),
        ("x.txt", "IID,bmi\ns0,1\ns1,2,3\n", "row 1 of x.txt has more fields than the 2 names"),
        ("x.txt", "IID,bmi\ns0,1\ns1,2,3,4\n", "x.txt cannot be read as a table"),
        ("x.txt", "IID,bmi\ns0,1,NA\ns1,2\n", "row 0 of x.txt has more fields than the 2 names"),
        ("x.txt", "IID,bmi\ns0,1,,3\ns1,2\n", "a row of x.txt has more fields than the 2 names"),
        pytest.param(
            "x.txt",
            "IID,n\ns0,1\ns1,99999999999999999999\n",
            "x.txt: column 'n' has 9{20} in row 1",
            marks=pytest.mark.skipif(
                pd.__version__ < "3", reason="pandas 2 reads integers of more than 64 bits as text"
            ),
        ),
        ("x.txt", "IID,bmi,bmi\ns0,1,2\n", "columns 1 and 2 of x.txt are both called 'bmi'"),
        ("x.txt", "IID,bmi\ns0,1\ns1,2\ns0,3\n", "'IID' of x.txt is 's0' in row 0 and in row 2"),
        ("x.txt", "IID,bmi\ns0,1\n,2\n", "'IID' of x.txt is empty in row 1"),
        ("x.txt", "IID\ns0\n", "x.txt has no column beside its key"),
        ("x.txt", "PK\0\0", "x.txt is not UTF-8 text: read it with pandas"),
    ],
)
def test_malformed_files__are_refused_with_the_row(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        genotypes(3).genobit.join(write(tmp_path / name, text))


@pytest.mark.parametrize(
    ("name", "data", "error", "words"),
    [
        ("", None, FileNotFoundError, "is a folder: give the path of a file"),
        ("x.tsv", None, FileNotFoundError, "x.tsv does not exist: give the path of a file"),
        ("x.csv", "IID,ort\ns0,Köln\n".encode("latin-1"), ValueError, "latin-1"),
        ("x.gz", gzip.compress(b"IID\tx\n", mtime=0)[:-9], ValueError, "is truncated or damaged"),
        ("x.csv", b"IID,bmi\n", KeyError, "the table none"),
        ("x.csv", b"f1,s0,2.5\nf2,s1,3\n", KeyError, "has no header"),
        ("x.csv", b"", KeyError, r"has no column 'sample_id', nor 'IID' \(columns: none\)"),
    ],
)
def test_files_that_are_no_tables__are_refused(
    tmp_path: Path, name: str, data: bytes | None, error: type[Exception], words: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(error, match=words):
        genotypes(3).genobit.join(tmp_path / name)


@pytest.mark.parametrize("compressed", [False, True])
def test_pipes__are_read(tmp_path: Path, compressed: bool) -> None:
    path, data = tmp_path / "x.csv", b"IID,bmi\ns0,1\ns2,3\n"
    os.mkfifo(path)
    data = gzip.compress(data) if compressed else data
    writing = threading.Thread(target=path.write_bytes, args=(data,))
    writing.start()
    found = genotypes(3).genobit.join(path)
    writing.join()
    assert found.bmi.fillna(-1).values.tolist() == [1, -1, 3]


def test_lines_of_old_macs(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"IID,bmi\rs0,1\rs2,3\r")
    assert genotypes(3).genobit.join(path).bmi.fillna(-1).values.tolist() == [1, -1, 3]


# Frames


class Polars:
    """The part of a polars frame that is read, where polars is not installed."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def get_column(self, name: str) -> pd.Series:
        return pd.Series(self._columns[name])


class Lazy:
    columns = ("sample_id", "x")

    def collect(self) -> Polars:
        return Polars({"sample_id": ["s1", "s0"], "x": [None, 4]})


class Arrow:
    columns = ("sample_id", "x")

    def to_pandas(self) -> pd.DataFrame:
        return pd.DataFrame({"sample_id": ["s1", "s0"], "x": [np.nan, 4]})


def test_frames_of_other_libraries__are_taken_by_what_they_can() -> None:
    ds = genotypes(2)
    for table in (Lazy(), Lazy().collect(), Arrow()):
        np.testing.assert_array_equal(ds.genobit.join(table).x.values, [4, np.nan])
    with pytest.raises(TypeError, match="the table is of type dict, expected a path"):
        ds.genobit.join({"sample_id": ["s0"]})


def test_polars__frames_join() -> None:
    pl = pytest.importorskip("polars")
    table = pl.DataFrame({"IID": ["s1", "s0"], "x": [None, 4], "word": ["b", None]})
    for given_table in (table, table.lazy()):
        found = genotypes(2).genobit.join(given_table)
        np.testing.assert_array_equal(found.x.values, [4, np.nan])
        assert found.word.values.tolist() == [None, "b"]


def test_index__is_a_column_too() -> None:
    ds, values = genotypes(2), pd.Series([1.0, 2.0], ["s1", "s0"], name="bmi")
    tables = [
        values,
        values.to_frame(),
        values.rename_axis("IID").to_frame(),
        values.rename_axis("anything").reset_index().rename(columns={"anything": "sample_id"}),
        values.to_frame()
        .set_index(pd.MultiIndex.from_arrays([["f", "g"], ["s1", "s0"]]))
        .rename_axis(["FID", "IID"]),
    ]
    for table in tables:
        assert ds.genobit.join(table).bmi.values.tolist() == [2, 1]
    named = values.rename_axis("id")
    assert ds.genobit.join(named, on={"sample_id": "id"}).bmi.values.tolist() == [2, 1]
    shuffled = pd.DataFrame({"sample_id": ["s0", "s1"], "bmi": [2.0, 1.0]}, index=[8, 3])
    assert ds.genobit.join(shuffled).bmi.values.tolist() == [2, 1]
    with pytest.raises(ValueError, match="Series without a name"):
        ds.genobit.join(pd.Series([1.0], ["s0"]))


def test_xarray__tables_join() -> None:
    ds, other = genotypes(3), genotypes(5).isel(samples=[4, 2, 0, 1])
    other = other.assign(x=("samples", [4, 2, 0, 1]))
    assert ds.genobit.join(other, columns="x").x.values.tolist() == [0, 1, 2]
    array = other.set_coords("sample_id").x
    assert ds.genobit.join(array).x.values.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="DataArray without a name"):
        ds.genobit.join(array.rename(None))
    with pytest.raises(KeyError, match="no variable 'sample_id' along one dimension"):
        ds.genobit.join(array.drop_vars("sample_id"))


def test_the_table__is_not_changed() -> None:
    table = frame(x=range(5)).set_index("sample_id")
    before = table.copy()
    genotypes().genobit.join(table)
    pd.testing.assert_frame_equal(table, before)


# Reports and refusals


def test_report__counts_both_sides_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    table = frame(x=range(5)).iloc[:4].replace("s4", "t9")
    with caplog.at_level(logging.INFO, "genobit"):
        found = genotypes().genobit.join(table)
    assert found.attrs["joined"] == (
        "the table by sample_id: 3 of 5 samples have a row (x); 2 without, first samples=3 ('s3')"
        "; 1 of 4 rows match none of the samples, first row 0 ('t9')"
    )
    assert caplog.record_tuples == [("genobit", logging.WARNING, found.attrs["joined"])]
    caplog.clear()
    again = found.genobit.join(frame(y=range(5)))
    assert again.attrs["joined"].splitlines() == [
        found.attrs["joined"],
        "the table by sample_id: 5 of 5 samples have a row (y)",
    ]
    assert [record.levelno for record in caplog.records] == []


def test_names__can_be_chosen_and_changed() -> None:
    table = frame(a=range(5), b=range(5), sample_sex=range(5))
    ds = genotypes().assign(sample_sex=("samples", np.zeros(5, "i1")))
    with pytest.raises(ValueError, match=r"a variable 'sample_sex' already: rename the column, co"):
        ds.genobit.join(table)
    assert {"b"} == set(ds.genobit.join(table, columns="b").variables) - set(ds.variables)
    found = ds.genobit.join(table, columns={"sample_sex": "reported_sex"})
    assert found.reported_sex.values.tolist() == [1, 3, 2, 4, 0]
    with pytest.raises(KeyError, match="no column 'c': columns= takes some of 'sample_id', 'a', "):
        ds.genobit.join(table, columns=["c"])
    with pytest.raises(ValueError, match="a dimension 'samples' already"):
        ds.genobit.join(table, columns={"a": "samples"})


def test_refuse__names_the_first_sample_without_a_row() -> None:
    table = frame(x=range(5)).iloc[:3]
    with pytest.raises(ValueError, match=r"no row for 2 of 5 samples, first for sample_id\[1\] = "):
        genotypes().genobit.join(table, missing="refuse")
    genotypes().genobit.join(frame(x=range(5)), missing="refuse")
    with pytest.raises(ValueError, match="missing='drop' is not one of"):
        genotypes().genobit.join(table, missing="drop")


def test_no_match__names_the_column_that_was_meant() -> None:
    table = frame(IID=range(5)).rename(columns={"sample_id": "name"})
    with pytest.raises(KeyError, match="Column 'name' has 5 of the 5 sample_id; did you mean on="):
        genotypes().genobit.join(table)
    with pytest.raises(KeyError, match=r"has no column 'sample_id', nor 'IID' .*column 'name'"):
        genotypes().genobit.join(table.drop(columns="IID"))
    with pytest.raises(KeyError, match="no column 'nome'"):
        genotypes().genobit.join(table, on={"sample_id": "nome"})
    ds = genotypes().assign(sample_id=("samples", [f"f_{k}" for k in range(5)], JOINED))
    with pytest.raises(KeyError, match="give a table with the columns FID and IID, which"):
        ds.genobit.join(table, columns="name")
    table = table.assign(IID=range(5), FID="f", name=range(5))
    found = ds.assign(sample_family_id=("samples", ["f"] * 5)).genobit.join(table)
    assert found.name.values.tolist() == [0, 1, 2, 3, 4]


def test_on__takes_variables_along_one_dimension() -> None:
    with pytest.raises(KeyError, match="no variable 'sample' along one dimension"):
        genotypes().genobit.join(frame(x=range(5)), on="sample")
    with pytest.raises(ValueError, match="one dimension at a time"):
        genotypes().genobit.join(frame(x=range(5)), on=("sample_id", "variant_id"))
    with pytest.raises(ValueError, match="names no variable"):
        genotypes().genobit.join(frame(x=range(5)), on=())


# Real tables


@pytest.mark.parametrize(
    ("data", "table", "columns"),
    [("hapmap279", "samples.tsv", 5), ("mice_hs", "pheno.tsv", 37), ("asthma_cc", "pheno.tsv", 6)],
)
def test_real_tables__equal_pandas(shared_data: Path, data: str, table: str, columns: int) -> None:
    ds = gb.open_plink(shared_data / data / f"{data}.bed").isel(samples=slice(None, None, -3))
    path = shared_data / data / table
    found = ds.genobit.join(path)
    right = pd.read_csv(path, sep="\t", dtype={"IID": str}).set_index("IID").loc[ds.sample_id]
    assert len(right.columns) == columns
    for name in right.columns:
        ours, theirs = found[name].values, right[name].to_numpy()
        assert (pd.isna(ours) == pd.isna(theirs)).all()
        assert (ours[~pd.isna(ours)] == theirs[~pd.isna(theirs)]).all()


def test_a_byte_order_mark_in_the_first_id__is_part_of_it(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 3, 2)).assign(sample_id=("samples", ["\ufeffa", "a"]))
    (tmp_path / "t.txt").write_text("IID\tbmi\n\ufeffa\t1\na\t2\n")
    joined = ds.genobit.join(tmp_path / "t.txt")
    assert joined.bmi.values.tolist() == [1, 2]
