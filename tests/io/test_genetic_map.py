"""Genetic maps of several formats."""

from __future__ import annotations

import gzip
import logging

import numpy as np
import pandas as pd
import pytest

from genobit.io.genetic_map import read_genetic_map
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import PLINK, plink

MAPS = {
    "plink.map": "2 rs1 0.5 1000\n2 rs2 1.5 2001000\n",
    "plink.bim": "2 rs1 0.5 1000 A C\n2 rs2 1.5 2001000 G T\n",
    "shapeit2.txt": "pposition chr rrate gposition\n1000 2 0.5 0.5\n2001000 2 0 1.5\n",
    "shapeit.txt": "pos\tchr\tcM\n1000\t2\t0.5\n2001000\t2\t1.5\n",
    "hapmap.txt": "Chromosome\tPosition(bp)\tRate(cM/Mb)\tMap(cM)\n"
    "2\t1000\t0.5\t0.5\n2\t2001000\t0\t1.5\n",
}


@pytest.mark.parametrize("name", MAPS)
def test_the_usual_formats_give_the_same_map(tmp_path, name):
    path = tmp_path / name
    path.write_text(MAPS[name])
    expected = pd.DataFrame({"contig": ["2", "2"], "position": [1000, 2001000], "cm": [0.5, 1.5]})
    pd.testing.assert_frame_equal(read_genetic_map(path), expected, check_dtype=False)
    path.with_suffix(".gz").write_bytes(gzip.compress(MAPS[name].encode()))
    pd.testing.assert_frame_equal(
        read_genetic_map(path.with_suffix(".gz")), expected, check_dtype=False
    )


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("zero.bim", "2 rs1 0 1000 A C\n2 rs2 0 2000 A C\n", "all genetic positions of zero.bim"),
        ("oxford.txt", "1 1.2 0\n2000000 1.2 2.4\n", "oxford.txt has no header and 3 columns"),
        (
            "short.map",
            "2 rs1 0.5 1000\n2 rs2 1.5\n",
            "short.map has 3 fields instead of 4",
        ),
        ("long.map", "2 rs1 0.5 1000\n2 rs2 1.5 7 8\n", "row 1 of long.map has more fields"),
        ("falls.txt", "pos cM\n1 2\n2 1\n", "of falls.txt falls to 1 cM"),
        ("odd.txt", "pos cM\n1 2\n2 x\n", r"cM\[1\] of odd.txt is 'x'"),
        ("none.txt", "a b\n1 2\n", "none.txt has no column position"),
    ],
)
def test_files_that_are_no_map__are_refused_by_name(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=words):
        read_genetic_map(tmp_path / name)


CONTIGS = ["1", "01", "1.0", "chr1", "NA", "X", '"1"', "-1", "True", "e1"]
TABLES = [
    "pos chr cM rate\n5 {} 1 x\n7 {} 2.5 3\n",
    "pos\tchr\tcM\n5\t{}\t1e-3\n",
    "pos;chr;cM\n5;{};1\n",
    "pos chr cM\n5 {} NA\n",
    "#pos chr cM\n5 {} inf\n",
    "pos chr cM\n5 {} 1\n5 {}\n",
    "pos\tchr\tcM\n5\t{}\t\n",
    "{} a 1.5 5\n{} b 2 7\n",
    "pos chr cM pos\n5 {} 1 2\n",
    "pos chr rate\n5 {} 1\n1000005 {} 0\n",
]


@pytest.mark.parametrize("contig", CONTIGS)
@pytest.mark.parametrize("text", TABLES)
def test_arrow_and_pandas__read_the_same_map(tmp_path, monkeypatch, contig, text):
    path = tmp_path / "a.txt"
    path.write_text(text.replace("{}", contig))

    def read() -> tuple[object, str]:
        try:
            return read_genetic_map(path).to_numpy().tolist(), ""
        except ValueError as error:
            return None, str(error)

    found = read()
    monkeypatch.setattr("genobit.io.genetic_map.read_plain", lambda *_: None)
    assert found == read()


def test_a_byte_order_mark_and_equal_fields__are_read(tmp_path):
    path = tmp_path / "a.map"
    path.write_bytes(b"\xef\xbb\xbf1 rs1 1 1\n1 rs2 2 3\n")
    assert read_genetic_map(path).to_numpy().tolist() == [["1", 1, 1.0], ["1", 3, 2.0]]


def test_damaged_gzip_and_other_things__are_refused(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(MAPS["hapmap.txt"].encode())[:-9])
    with pytest.raises(ValueError, match=r"a.gz is truncated or damaged"):
        read_genetic_map(path)
    with pytest.raises(TypeError, match="the genetic map is of type int"):
        read_genetic_map(3)


def test_polars__frames_are_maps():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"pos": [1, 3], "cM": [0.0, 2.0]})
    assert read_genetic_map(frame)["cm"].tolist() == [0.0, 2.0]


def test_rates_are_summed_along_each_contig():
    table = pd.DataFrame(
        {
            "contig": ["1", "1", "2", "2"],
            "position": [0, 10**6, 5, 10**6 + 5],
            "rate": [2.0, 9.0, 3.0, 9.0],
        }
    )
    cm = read_genetic_map(table)["cm"].to_numpy()
    assert cm[1] - cm[0] == 2
    assert cm[3] - cm[2] == 3


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"pos": [1]}, "no column cM or rate"),
        ({"cM": [1]}, "no column position"),
        ({"pos": [1, 2], "cM": [1, "x"]}, r"cM\[1\] of the genetic map is 'x'"),
        ({"pos": [1, 2], "cM": [2, 1], "chr": "2"}, "falls to 1 cM at 2:2"),
    ],
)
def test_tables_that_are_no_map_are_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        read_genetic_map(pd.DataFrame(columns))


def on_two_contigs():
    ds = cohort(random_calls(1, 40, 6), contigs=2, chunks=(10, 3))
    return ds.drop_vars("variant_genetic_position", errors="ignore")


def map_of(**of_contigs):
    parts = [pd.DataFrame({"chr": name, **columns}) for name, columns in of_contigs.items()]
    return pd.concat(parts)


@pytest.mark.parametrize("packed", [False, True])
def test_positions__are_interpolated_on_each_contig(packed, caplog):
    ds = on_two_contigs()
    names = [str(name) for name in ds.contig_id.values]
    number, position = ds.variant_contig.values, ds.variant_position.values
    ends = [position[number == k][[0, -1]] for k in range(2)]
    table = map_of(
        **{names[0].removeprefix("chr"): {"pos": ends[0], "cM": [1.0, 5.0]}},
        **{names[1]: {"pos": [ends[1][0] + 500, ends[1][1] - 500], "cM": [2.0, 3.0]}},
    )
    given = ds.genobit.pack() if packed else ds
    with raise_if_dask_computes(), caplog.at_level(logging.INFO, "genobit"):
        found = given.genobit.genetic_map(table)
    cm = found.variant_genetic_position
    assert cm.attrs["units"] == "centimorgan"
    for k, (low, high) in enumerate([(1.0, 5.0), (2.0, 3.0)]):
        here = number == k
        at = table["pos"].to_numpy()[2 * k : 2 * k + 2]
        share = np.clip((position[here] - at[0]) / (at[1] - at[0]), 0, 1)
        np.testing.assert_allclose(cm.values[here], low + share * (high - low), rtol=1e-12)
    here = position[number == 1]
    outside = int(((here < table["pos"].iloc[2]) | (here > table["pos"].iloc[3])).sum())
    assert outside >= 2
    line = f"40 of 40 variants get a genetic position; {outside} of them lie outside the map"
    assert line in found.attrs["joined"]
    assert caplog.records[-1].levelname == "WARNING"
    near = np.abs(cm.values[:, None] - cm.values) <= 0.5
    near &= (number[:, None] == number) & (np.arange(40)[:, None] <= np.arange(40))
    assert found.genobit.ld(window="0.5cM").sizes["offsets"] == near.sum(axis=1).max() - 1


def test_contigs_without_a_map__keep_what_they_have():
    ds = on_two_contigs()
    number = ds.variant_contig.values
    first, second = (
        map_of(**{str(name): {"pos": [0, 10**9], "cM": [0, 1000]}}) for name in ds.contig_id.values
    )
    found = ds.genobit.genetic_map(first)
    assert np.isnan(found.variant_genetic_position.values[number == 1]).all()
    assert f"the map lacks contigs {ds.contig_id.values[1]}" in found.attrs["joined"]
    both = found.genobit.genetic_map(second).variant_genetic_position.values
    np.testing.assert_allclose(both, ds.variant_position.values / 1e6)
    assert np.isnan(found.variant_genetic_position.values[number == 1]).all()


def test_maps_that_do_not_fit__are_refused():
    ds = on_two_contigs()
    with pytest.raises(ValueError, match="does not say its contig, and the Dataset has variants"):
        ds.genobit.genetic_map(pd.DataFrame({"pos": [1, 2], "cM": [0, 1]}))
    with pytest.raises(ValueError, match=r"has none of the contigs of the Dataset .* it has 77"):
        ds.genobit.genetic_map(map_of(**{"77": {"pos": [1, 2], "cM": [0, 1]}}))
    with pytest.raises(KeyError, match="a genetic map needs the variable 'variant_position'"):
        ds.drop_vars("variant_position").genobit.genetic_map(MAPS)


@PLINK
def test_positions__equal_those_of_plink(tmp_path):
    rng = np.random.default_rng(3)
    at = np.sort(rng.choice(np.arange(1, 10**6), 30, replace=False))
    cm = np.sort(rng.uniform(0, 5, 30)).round(6)
    lines = [f"{p} 1.0 {c}" for p, c in zip(at, cm, strict=True)]
    path = tmp_path / "map.txt"
    path.write_text("\n".join(["position COMBINED_rate(cM/Mb) Genetic_Map(cM)", *lines]) + "\n")
    inside = np.sort(rng.choice(np.arange(at[0], at[-1]), 50, replace=False))
    stem = tmp_path / "study"
    stem.with_suffix(".map").write_text("".join(f"1 v{k} 0 {p}\n" for k, p in enumerate(inside)))
    stem.with_suffix(".ped").write_text("f i 0 0 1 -9" + " A C" * 50 + "\n")
    plink(stem, stem, "--cm-map", path, 1, "--make-bed", kind="--file")
    written = stem.with_suffix(".bim").read_text().splitlines()
    theirs = np.array([float(line.split()[2]) for line in written])
    ds = cohort(random_calls(1, 50, 2)).assign(variant_position=("variants", inside))
    ours = ds.genobit.genetic_map(path).variant_genetic_position.values
    np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-6)
