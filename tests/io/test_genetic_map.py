"""Genetic maps of several formats."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from genobit.io.genetic_map import read_genetic_map

MAPS = {
    "plink.map": "2 rs1 0.5 1000\n2 rs2 1.5 2001000\n",
    "plink.bim": "2 rs1 0.5 1000 A C\n2 rs2 1.5 2001000 G T\n",
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
    if name not in {"plink.map", "plink.bim"}:
        pd.testing.assert_frame_equal(
            read_genetic_map(path.with_suffix(".gz")), expected, check_dtype=False
        )


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
