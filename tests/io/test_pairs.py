"""Tables of pairs opened from Parquet files: whole folders, single files, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes


def test_open_pairs__is_lazy_and_has_what_was_written(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 60, 50), contigs=2, chunks=(16, 50))
    for name, table in {
        "ld": ds.genobit.ld_pairs(threshold=0.1, window=20),
        "king": ds.genobit.grm_pairs(threshold=-0.1),
        "tau": ds.genobit.kendall_pairs(0.1, None),
        "fdr": ds.genobit.kendall_pairs(0.1, 0.9),
    }.items():
        with gb.set_options(chunk_rows=16):
            path = table.to_parquet(tmp_path / name)
        with raise_if_dask_computes():
            again = gb.open_pairs(path)
        assert (again.columns, again.value, again.row) == (table.columns, table.value, table.row)
        assert again.attrs == table.attrs
        right = table.to_dataframe()
        pd.testing.assert_frame_equal(again.to_dataframe(), right, check_dtype=False)
        assert again.to_network().degree().tolist() == table.to_network().degree().tolist()
        for network in (again.to_network(), table.to_network()):
            assert len(network.degree(isolated=True)) == len(table.to_network().names)
        assert again.to_network().names.tolist() == table.to_network().names.tolist()


def test_open_pairs__of_one_file_and_of_other_programs(tmp_path: Path) -> None:
    edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.9, -0.7]})
    edges.to_parquet(tmp_path / "pairs.parquet")
    table = gb.open_pairs(tmp_path / "pairs.parquet")
    assert repr(table) == "<PairTable of tau, not computed: gene_0, gene_1, tau>"
    assert table.to_network().degree().to_dict() == {"0": 2, "1": 1, "2": 1}
    named = edges.assign(name_0=["MYC", "MYC"], name_1=["MAX", "MXD1"])
    named.to_parquet(tmp_path / "named.parquet")
    found = gb.open_pairs(tmp_path / "named.parquet").to_network()
    assert found.degree().to_dict() == {"MYC": 2, "MAX": 1, "MXD1": 1}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1]}, r"has the columns \['x'\]: it is no table of pairs"),
        ({"gene_0": [0], "tau": [0.5]}, "without 'gene_1': it is no table of pairs"),
        ({"gene_0": ["a"], "gene_1": ["b"], "tau": [0.5]}, "gene_0 is of .*, expected numbers"),
        ({"gene_0": [0], "gene_1": [1], "tau": ["a"]}, "tau is of .*, expected numbers"),
    ],
)
def test_open_pairs__refuses_what_is_no_table(columns: dict, message: str, tmp_path: Path) -> None:
    pd.DataFrame(columns).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=message):
        gb.open_pairs(tmp_path / "x.parquet")


def test_open_pairs__refuses_positions_below_0_and_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pd.DataFrame({"gene_0": [0, -3], "gene_1": [1, 2], "tau": [0.5, 0.6]}).to_parquet(path)
    with pytest.raises(ValueError, match=r"x.parquet: gene_0 is -3 in row 1, below 0"):
        gb.open_pairs(path).to_dataframe()
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(ValueError, match="not Parquet, or it is damaged"):
        gb.open_pairs(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="holds no file"):
        gb.open_pairs(tmp_path / "empty")


def test_network__of_a_position_that_needs_too_much_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pd.DataFrame({"gene_0": [0], "gene_1": [2**40], "tau": [0.5]}).to_parquet(path)
    with pytest.raises(ValueError, match=r"the names of 1,099,511,627,777 genes would take"):
        gb.open_pairs(path).to_network()
