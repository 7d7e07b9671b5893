"""Unrelated samples of a table of pairs: of genobit, of Parquet, of plink and of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.programs import PLINK, PLINK2, plink, plink2


@pytest.fixture(scope="module")
def related() -> xr.Dataset:
    """Samples that copy one or two of the samples before them."""
    rng = np.random.default_rng(4)
    calls = random_calls(2, 300, 40)
    for child in range(15, 40):
        for strand in (0, 1):
            calls[:, child, strand] = calls[:, rng.integers(0, child), strand]
    ds = cohort(calls)
    return ds.assign(sample_family_id=("samples", [f"f{k % 3}" for k in range(40)]))


def table(ds: xr.Dataset, folder: Path, form: str, threshold: float) -> Any:
    pairs = ds.genobit.grm_pairs("king", threshold=threshold)
    frame = pairs.to_dataframe()
    short = frame[["sample_id_0", "sample_id_1", "king"]]
    if form == "parquet":
        return gb.open_pairs(pairs.to_parquet(folder / "pairs"))
    if form == "pandas of parquet":
        return pd.read_parquet(pairs.to_parquet(folder / "pairs"))
    if form == "polars":
        return pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    return {
        "pairs": pairs,
        "frame": frame,
        "places": frame[["sample_0", "sample_1", "king"]],
        "any three": short.set_axis(["a", "b", "c"], axis=1),
        "other order": short.sample(frac=1, random_state=1),
        "both ways": pd.concat([short, short.set_axis(short.columns[[1, 0, 2]], axis=1)]),
        "KING": short.set_axis(["ID1", "ID2", "Kinship"], axis=1).assign(N_SNP=1),
        "plink2": short.set_axis(["#IID1", "IID2", "KINSHIP"], axis=1).assign(IBS0=0.5),
        "bytes": short.assign(sample_id_0=frame.sample_id_0.str.encode("utf-8")),
    }[form]


FORMS = (
    *("pairs", "frame", "places", "any three", "other order", "both ways", "KING", "plink2"),
    *("bytes", "parquet", "pandas of parquet", "polars"),
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True])
def test_unrelated__of_a_table_is_that_of_the_genotypes(
    related: xr.Dataset, tmp_path: Path, form: str, packed: bool
) -> None:
    pairs = table(related, tmp_path, form, 0.05)
    ds = related.drop_vars(["sample_id", "sample_family_id"]) if form == "places" else related
    ds = ds.genobit.pack() if packed else ds
    for threshold in (0.0884, 0.2):
        right = ds.genobit.unrelated(threshold)
        found = ds.genobit.unrelated(threshold, pairs=pairs)
        assert 5 < found.sum() < 35
        xr.testing.assert_equal(found, right)
        assert (found.attrs["threshold"], found.attrs["pairs_left_out"]) == (threshold, 0)
    if form != "any three":
        xr.testing.assert_equal(ds.genobit.unrelated(pairs=pairs), ds.genobit.unrelated())


def test_unrelated__of_some_samples_and_a_table_of_all(related: xr.Dataset) -> None:
    pairs = related.genobit.grm_pairs("king", threshold=0.05)
    some = related.isel(samples=[30, 3, 17, 8, 22, 39, 1, 15])
    found = some.genobit.unrelated(pairs=pairs)
    xr.testing.assert_equal(found, some.genobit.unrelated())
    frame = pairs.to_dataframe().query("king > 0.0884")
    ids = some.sample_id.values
    both = frame.sample_id_0.isin(ids) & frame.sample_id_1.isin(ids)
    assert found.attrs["pairs_left_out"] == int((~both).sum()) > 0


def test_unrelated__of_another_value_needs_a_threshold(related: xr.Dataset) -> None:
    pairs = related.genobit.grm_pairs("gcta", threshold=0.1)
    with pytest.raises(ValueError, match="values of 'gcta': give threshold=, above which a pair"):
        related.genobit.unrelated(pairs=pairs)
    grm = related.genobit.grm("gcta").values
    for threshold in (0.2, 3.0):
        keep = related.genobit.unrelated(threshold, pairs=pairs).values
        inside = grm[np.ix_(keep, keep)][~np.eye(keep.sum(), dtype=bool)]
        assert not (inside > threshold).any()
        for k in np.flatnonzero(~keep):
            assert (grm[k, keep] > threshold).any()
    assert keep.all()


def test_unrelated__refuses_a_threshold_below_that_of_the_table(
    related: xr.Dataset, tmp_path: Path
) -> None:
    for form in ("pairs", "frame", "parquet"):
        pairs = table(related, tmp_path, form, 0.2)
        with pytest.raises(ValueError, match=r"0.1 is below 0.2, the least value of pairs=: list"):
            related.genobit.unrelated(0.1, pairs=pairs)
        with pytest.raises(ValueError, match=r"0.0884 is below 0.2"):
            related.genobit.unrelated(pairs=pairs)


def test_unrelated__tells_repeated_ids_apart_by_families(related: xr.Dataset) -> None:
    pairs = related.genobit.grm_pairs("king", threshold=0.05).to_dataframe()
    twice = related.assign(sample_id=("samples", [f"i{k // 3}" for k in range(40)]))
    frame = twice.genobit.grm_pairs("king", threshold=0.05).to_dataframe()
    found = twice.genobit.unrelated(pairs=frame).values
    np.testing.assert_array_equal(found, related.genobit.unrelated(pairs=pairs).values)
    with pytest.raises(ValueError, match="sample_id 'i0' is repeated, so ids do not tell"):
        twice.drop_vars("sample_family_id").genobit.unrelated(pairs=frame)


WRONG = {
    "no ids": (lambda t: t[["sample_0", "king", "ibs0", "degree"]], ValueError, "must be ids"),
    "no value": (
        lambda t: t[["sample_id_0", "sample_id_1", "ibs0", "degree"]],
        ValueError,
        "has no columns of values .*three columns, two ids and a value",
    ),
    "two values": (
        lambda t: t[["sample_id_0", "sample_id_1", "king"]].assign(gcta=1.0),
        ValueError,
        r"has 2 columns of values \('king', 'gcta'\)",
    ),
    "text": (lambda t: t.assign(king=t.king.astype(str)), TypeError, "'king' of pairs= is of"),
    "others": (
        lambda t: t.assign(sample_id_0="x", sample_id_1="y"),
        KeyError,
        "no sample of the Dataset is in 'sample_id_0' or 'sample_id_1' of pairs=",
    ),
    "places": (
        lambda t: t[["sample_0", "sample_1", "king"]],
        ValueError,
        "has positions of samples and no ids, and the Dataset has sample_id: list the pairs of",
    ),
    "list": (lambda t: t.to_numpy().tolist(), TypeError, "pairs= is of type list, expected a Pair"),
}


@pytest.mark.parametrize("case", WRONG)
def test_unrelated__names_what_is_wrong_with_a_table(related: xr.Dataset, case: str) -> None:
    change, error, said = WRONG[case]
    frame = related.genobit.grm_pairs("king", threshold=0.05).to_dataframe()
    with pytest.raises(error, match=said):
        related.genobit.unrelated(0.1, pairs=change(frame))


def test_unrelated__without_ids_in_the_dataset(related: xr.Dataset) -> None:
    frame = related.genobit.grm_pairs("king", threshold=0.05).to_dataframe()
    bare = related.drop_vars(["sample_id", "sample_family_id"])
    with pytest.raises(KeyError, match="pairs= names samples, and the Dataset has no sample_id"):
        bare.genobit.unrelated(pairs=frame)
    found = bare.genobit.unrelated(pairs=bare.genobit.grm_pairs("king", threshold=0.05))
    np.testing.assert_array_equal(found, related.genobit.unrelated())


def test_unrelated__of_a_table_without_pairs_or_values(related: xr.Dataset) -> None:
    frame = related.genobit.grm_pairs("king", threshold=0.05).to_dataframe()
    assert related.genobit.unrelated(pairs=frame.iloc[:0]).all()
    assert related.genobit.unrelated(pairs=frame.assign(king=np.nan)).all()
    own = frame.assign(sample_id_1=frame.sample_id_0)
    assert related.genobit.unrelated(pairs=own).all()


@PLINK2
@PLINK
def test_unrelated__of_tables_that_plink_writes(shared_data: Path, tmp_path: Path) -> None:
    fileset = shared_data / "hapmap279/hapmap279"
    ds = gb.open_plink(f"{fileset}.bed")
    options = ("--autosome", "--make-king-table", "--memory", "2000")
    plink2(tmp_path / "out", "--bfile", fileset, *options)
    kin0 = pd.read_csv(tmp_path / "out.kin0", sep="\t")
    keep = ds.genobit.unrelated(pairs=kin0)
    assert keep.sum() == 207
    xr.testing.assert_equal(keep, ds.genobit.unrelated())
    plink(fileset, tmp_path / "out", "--genome", "--min", "0.2")
    genome = pd.read_csv(tmp_path / "out.genome", sep=r"\s+")
    keep = ds.genobit.unrelated(0.2, pairs=genome)
    ids = set(ds.sample_id.values[keep.values])
    near = genome[genome.PI_HAT > 0.2]
    inside = near.IID1.isin(ids) & near.IID2.isin(ids)
    assert not inside.any()
    # Each sample that is left out is related to one that is kept.
    kept = pd.concat([near.IID1[near.IID2.isin(ids)], near.IID2[near.IID1.isin(ids)]])
    assert set(kept) == set(ds.sample_id.values) - ids


def test_lost_ids_are_told() -> None:
    ds = cohort(random_calls(3, 40, 3)).assign(sample_id=("samples", ["007", "10", "11"]))
    table = pd.DataFrame({"IID1": [7, 10], "IID2": [10, 11], "KINSHIP": [0.4, 0.4]})
    with pytest.warns(UserWarning, match=r"'7' is no sample, but '007' is: read the table with"):
        keep = ds.genobit.unrelated(pairs=table)
    assert keep.attrs["pairs_left_out"] == 1


def test_repeated_columns_are_refused() -> None:
    ds = cohort(random_calls(3, 40, 3))
    rows = [["s0", "s1", 0.4, "s0"]]
    table = pd.DataFrame(rows, columns=["IID1", "IID2", "KINSHIP", "IID1"])
    with pytest.raises(ValueError, match="several columns 'IID1': keep one"):
        ds.genobit.unrelated(pairs=table)
    with pytest.raises(ValueError, match=r"threshold=2 is outside \[0, 0.5\]"):
        ds.genobit.unrelated(2, pairs=table.iloc[:, :3])
