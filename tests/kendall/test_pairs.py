from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

import genobit as gb
from genobit.data.pairs import parquet
from genobit.engine.schedule import batches
from genobit.kendall import pairs
from genobit.kendall.pairs import SearchParts
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.measurements import expression
from tests.kendall.values import all_pairs

CASES = [
    {"variables": 40, "n": 25},
    {"variables": 40, "n": 60},
    {"variables": 30, "n": 50, "levels": 6},
    {"variables": 30, "n": 45, "missing": 0.1},
    {"variables": 30, "n": 90, "levels": 3, "missing": 0.3},
]


@pytest.mark.parametrize("case", CASES)
# scipy's 0.2 may be 0.19999999999999998, and ours 0.2: limits that no tau is equal to.
@pytest.mark.parametrize(
    ("threshold", "fdr"), [(0.3003, 0.01), (None, 0.05), (0.2003, None), (0.1003, 1.0)]
)
def test_kendall_pairs__are_those_of_scipy(
    case: dict, threshold: float | None, fdr: float | None
) -> None:
    expr = expression(**case)
    wanted = all_pairs(expr)
    tested = int(wanted["tau"].notna().sum())
    keep = wanted["tau"].notna()
    if threshold is not None:
        keep &= wanted["tau"].abs() >= threshold
    if fdr is not None:
        keep &= wanted["qvalue"] <= fdr
    wanted = wanted[keep].reset_index(drop=True)
    with gb.set_options(chunk_rows=7):
        table = expr.genobit.kendall_pairs(threshold, fdr)
    found = table.to_dataframe()
    assert len(found) > 0
    np.testing.assert_array_equal(
        found[["gene_0", "gene_1", "n"]], wanted[["gene_0", "gene_1", "n"]]
    )
    np.testing.assert_allclose(found["tau"], wanted["tau"], rtol=0, atol=1e-14)
    if fdr is not None:
        np.testing.assert_allclose(found["pvalue"], wanted["pvalue"], rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(found["qvalue"], wanted["qvalue"], rtol=1e-9, atol=1e-300)
        assert found.attrs["pairs_tested"] == tested
    else:
        assert "pvalue" not in found
    pd.testing.assert_frame_equal(table.head(3), found.head(3))
    assert found["name_0"].tolist() == [f"g{k}" for k in wanted["gene_0"]]


@pytest.mark.parametrize("case", CASES)
def test_qvalues__are_exactly_those_of_all_pvalues(case: dict) -> None:
    expr = expression(**case)
    full = expr.genobit.kendall("tau_b", pvalue=True)
    i, j = np.triu_indices(len(expr), 1)
    p = full["pvalue"].values[i, j]
    known = ~np.isnan(p)
    q = np.full(p.shape, np.nan)
    q[known] = false_discovery_control(p[known])
    with gb.set_options(chunk_rows=6):
        found = expr.genobit.kendall_pairs(None, 0.05).to_dataframe()
    stand = q <= 0.05
    np.testing.assert_array_equal(found["gene_0"], i[stand])
    np.testing.assert_array_equal(found["gene_1"], j[stand])
    np.testing.assert_array_equal(found["pvalue"], p[stand])
    np.testing.assert_array_equal(found["qvalue"], q[stand])
    np.testing.assert_array_equal(found["tau"], full["tau"].values[i, j][stand])
    np.testing.assert_array_equal(found["n"], full["n"].values[i, j][stand])


@pytest.mark.slow
@settings(max_examples=15)
@given(data=st.data())
def test_kendall_pairs__are_the_same_bits_for_every_chunking_pass_and_kernel(
    data: st.DataObject,
) -> None:
    expr = expression(33, 30, levels=data.draw(st.sampled_from([0, 4])), missing=0.05)
    once = expr.genobit.kendall_pairs(0.2, 0.1, kernel="packed-merge").to_dataframe()
    rows = data.draw(st.integers(1, 40))
    with pytest.MonkeyPatch.context() as patch, gb.set_options(chunk_rows=rows):
        patch.setattr("genobit.kendall.pairs.JOBS", data.draw(st.integers(1, 9)))
        again = expr.genobit.kendall_pairs(
            0.2, 0.1, kernel=data.draw(st.sampled_from(["packed-merge", "signs", "auto"]))
        )
    pd.testing.assert_frame_equal(once, again.to_dataframe(), check_exact=True)


@pytest.mark.parametrize(
    "scheduler",
    ["synchronous", "threads", pytest.param("processes", marks=pytest.mark.slow)],
)
def test_kendall_pairs__run_on_the_scheduler_that_is_active(scheduler: str) -> None:
    expr = expression(24, 20)
    once = expr.genobit.kendall_pairs(0.2, 0.1).to_dataframe()
    with dask.config.set(scheduler=scheduler), gb.set_options(chunk_rows=6):
        again = expr.genobit.kendall_pairs(0.2, 0.1).to_dataframe()
    pd.testing.assert_frame_equal(once, again, check_exact=True)


@pytest.mark.distributed
@pytest.mark.slow
def test_kendall_pairs__run_on_a_cluster() -> None:
    distributed = pytest.importorskip("distributed")
    expr = expression(24, 20)
    once = expr.genobit.kendall_pairs(0.2, 0.1).to_dataframe()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
        gb.set_options(chunk_rows=6),
    ):
        again = expr.genobit.kendall_pairs(0.2, 0.1).to_dataframe()
    pd.testing.assert_frame_equal(once, again, check_exact=True)


def test_in_batches__holds_no_more_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    compute = batches.compute
    monkeypatch.setattr(batches, "compute", lambda *a: sizes.append(len(a)) or compute(*a))
    monkeypatch.setattr("genobit.kendall.pairs.JOBS", 4)
    with gb.set_options(chunk_rows=5):
        expression(25, 12).genobit.kendall_pairs(0.3).to_dataframe()
    assert sizes == [4, 4, 4, 3]


def test_kendall_pairs__read_their_input_once() -> None:
    expr = expression(24, 20)
    reads: list[int] = []

    def read(block: np.ndarray) -> np.ndarray:
        reads.append(len(block))
        return block

    lazy = expr.chunk(gene=6).map_blocks(
        lambda part: part.copy(data=read(part.values)), template=expr.chunk(gene=6)
    )
    with gb.set_options(chunk_rows=6):
        lazy.genobit.kendall_pairs(0.3).to_dataframe()
    assert reads.count(6) == 4


@pytest.mark.parametrize(
    ("folder", "edges", "sum_of_500"),
    [("all_leukemia", 391, 4430.08909863), ("nci60", 496, 8720.58954786)],
)
def test_network__has_as_many_edges_as_in_r(
    folder: str, edges: int, sum_of_500: float, shared_data: Path
) -> None:
    """pcaPP::cor.fk on the 500 most variable genes."""
    stored = np.load(shared_data / folder / f"{folder}.npz")
    rows = np.loadtxt(shared_data / folder / "ref" / "top500var_rows.txt", dtype=int)
    expr = xr.DataArray(
        stored["values"], dims=("gene", "sample"), coords={"gene": stored["genes"].astype(str)}
    ).isel(gene=rows)
    table = expr.genobit.kendall_pairs(0.0, None)
    tau = table.to_dataframe()["tau"]
    assert tau.sum() == pytest.approx(sum_of_500, abs=1e-6)
    lines = (shared_data / folder / "ref" / "kendall_top500_network_R.tsv").read_text().splitlines()
    wanted = dict(line.split("\t") for line in lines if "\t" in line)
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7):
        count = int(wanted[f"edges_abs_gt_{threshold}"])
        # R's tau of exactly 1/2, two pairs of one set and one of the other, falls on either side.
        above, equal = ((tau.abs() > threshold).sum(), (tau.abs() == threshold).sum())
        assert above <= count <= above + equal
        assert equal <= (2 if threshold == 0.5 else 0)
    network = expr.genobit.kendall_pairs(threshold=0.5, fdr=0.01).to_network()
    assert edges == int(wanted["edges_abs_gt_0.5"])
    assert len(network) == (tau.abs() >= 0.5).sum() == edges + (folder == "nci60")
    degree = network.degree(isolated=True).to_numpy()
    for entry in wanted["top10_degree_rows_at_0.5"].split():
        row, count = map(int, entry.split(":"))
        assert 0 <= degree[np.flatnonzero(rows == row)[0]] - count <= (folder == "nci60")


def test_kendall_pairs__of_genotypes_are_those_of_the_matrix() -> None:
    ds = cohort(random_calls(3, 30, 40, missing=0.05))
    full = ds.genobit.kendall("tau_b", pvalue=True)
    i, j = np.triu_indices(30, 1)
    tau = full["tau"].values[i, j]
    with gb.set_options(chunk_rows=8):
        table = ds.genobit.kendall_pairs(0.2, None)
        tested = ds.genobit.kendall_pairs(0.1, 1.0).to_dataframe()
    found = table.to_dataframe()
    stand = np.abs(tau) >= 0.2
    np.testing.assert_array_equal(found["variant_0"], i[stand])
    np.testing.assert_array_equal(found["tau"], tau[stand])
    np.testing.assert_array_equal(found["n"], full["n"].values[i, j][stand])
    np.testing.assert_array_equal(tested["pvalue"], full["pvalue"].values[i, j][np.abs(tau) >= 0.1])


def test_parquet__is_streamed_and_has_the_same_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expr = expression(40, 25)
    wanted = expr.genobit.kendall_pairs(0.3, None)
    monkeypatch.setattr(pairs, "JOBS", 4)
    with gb.set_options(chunk_rows=7):
        path = expr.genobit.kendall_pairs(0.3, None).to_parquet(tmp_path / "pairs")
    assert path == tmp_path / "pairs"
    # 6 chunks have 21 tiles, four to a file.
    assert len(list(path.glob("part-*.parquet"))) == 6
    found = gb.open_pairs(path)
    pd.testing.assert_frame_equal(found.to_dataframe(), wanted.to_dataframe(), check_exact=True)
    assert found.attrs == wanted.attrs


def test_parquet__goes_on_after_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expr = expression(40, 25)
    monkeypatch.setattr(pairs, "JOBS", 2)
    monkeypatch.setattr(parquet, "PASS", 3)
    with gb.set_options(chunk_rows=7):
        table = expr.genobit.kendall_pairs(0.3, None)
        write = SearchParts.write

        def fails(self: SearchParts, numbers: list[int], paths: list[Path]) -> list[int]:
            if numbers[0] == 6:
                raise KeyboardInterrupt
            return write(self, numbers, paths)

        with monkeypatch.context() as patch:
            patch.setattr(SearchParts, "write", fails)
            with pytest.raises(KeyboardInterrupt):
                table.to_parquet(tmp_path)
        with pytest.raises(ValueError, match="is not complete: repeat the call"):
            gb.open_pairs(tmp_path)
        first = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.parquet")}
        assert len(first) == 6
        expr.genobit.kendall_pairs(0.3, None).to_parquet(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in first} == first
    again = gb.open_pairs(tmp_path).to_dataframe()
    pd.testing.assert_frame_equal(again, table.to_dataframe(), check_exact=True)


def test_parquet__of_other_values_or_limits_is_refused(tmp_path: Path) -> None:
    expression(20, 12).genobit.kendall_pairs(0.3, None).to_parquet(tmp_path)
    for key, other in {
        "threshold": expression(20, 12).genobit.kendall_pairs(0.4, None),
        "fdr": expression(20, 12).genobit.kendall_pairs(0.3, 0.5),
        "statistic": expression(20, 12).genobit.kendall_pairs(0.3, None, statistic="tau_a"),
        "values": expression(20, 12, seed=9).genobit.kendall_pairs(0.3, None),
    }.items():
        with pytest.raises(ValueError, match=f"holds another run: its {key} (is|differ)"):
            other.to_parquet(tmp_path)


def test_parquet__holds_limits_of_any_kind_of_number(tmp_path: Path) -> None:
    limit = np.float32(0.25)
    for name, fdr in (("tau", None), ("fdr", limit)):
        path = expression(20, 10).genobit.kendall_pairs(limit, fdr).to_parquet(tmp_path / name)
        about = gb.open_pairs(path).attrs
        assert (about["threshold"], about["fdr"]) == (0.25, None if fdr is None else 0.25)


def test_parquet__that_fails_is_not_complete(tmp_path: Path) -> None:
    expr = expression(10, 10, missing=0.3)
    table = expr.chunk(gene=4).genobit.kendall_pairs(0.3, None, missing="refuse")
    with pytest.raises(ValueError, match="missing='refuse'"):
        table.to_parquet(tmp_path / "pairs")
    assert not list(tmp_path.glob("**/*.parquet"))


def test_all_pairs__that_do_not_fit_are_refused_before_anything_is_computed() -> None:
    expr = expression(100, 10).chunk()
    with (
        gb.set_options(eager_limit=100_000),
        dask.config.set(scheduler=lambda *_, **__: pytest.fail("computed")),
        pytest.raises(MemoryError, match=r"all pairs are asked for, it has 4,950 pairs"),
    ):
        expr.genobit.kendall_pairs(None, None).to_dataframe()


def test_pairs__that_take_too_long_are_refused_before_the_search(tmp_path: Path) -> None:
    expr, path = expression(30, 20), tmp_path / "pairs.parquet"
    ds = cohort(random_calls(0, 30, 20))
    with gb.set_options(longest_search=1e-9):
        for run in (
            lambda: expr.genobit.kendall_pairs().head(),
            lambda: ds.genobit.kendall_pairs().to_dataframe(),
            lambda: expr.genobit.kendall_pairs(fdr=None).to_parquet(path),
        ):
            with pytest.raises(ValueError, match="kendall_pairs of 435 pairs would take about"):
                run()
        with pytest.raises(ValueError, match="kendall_pairs of 435 pairs"):
            expr.chunk(gene=8).genobit.kendall_pairs().to_network()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_seconds_of_pair__are_those_of_the_clock(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = [0.0]
    sizes: list[int] = []

    def product(a: list[np.ndarray], b: list[np.ndarray], _top: int, _left: int) -> None:
        # Each size has a kernel of its own, which is compiled first.
        spent[0] += 0.0 if len(a[0]) in sizes else 100.0
        sizes.append(len(a[0]))
        spent[0] += 1e-4 * len(a[0]) * len(b[0])

    clock = SimpleNamespace(perf_counter=lambda: spent[0])
    monkeypatch.setattr(batches, "time", clock)
    planes = [da.zeros((rows, 3), chunks=(min(rows, 64), 3))]
    assert batches.seconds_of_pair(product, planes) == pytest.approx(1e-4)
    assert sizes == {1: [1, 1], 2: [2, 2], 100: [2, 2, 8, 8, 32, 32]}[rows]


def test_pairs__that_do_not_fit_are_refused_once_they_do_not() -> None:
    with (
        gb.set_options(eager_limit=10_000, chunk_rows=10),
        pytest.raises(
            MemoryError, match=r"after [\d,]+ of [\d,]+ parts: .* \.to_parquet\(folder\)"
        ),
    ):
        expression(100, 10).genobit.kendall_pairs(0.1, None).to_dataframe()


def test_pairs__that_may_stand_for_long_but_do_not_are_looked_for_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expr = expression(200, 30)
    wanted = expr.genobit.kendall_pairs(None, 0.2).to_dataframe()
    monkeypatch.setattr("genobit.kendall.pairs.JOBS", 8)
    limit = 100 * len(wanted)
    with gb.set_options(chunk_rows=10, eager_limit=limit):
        found = expr.genobit.kendall_pairs(None, 0.2, progress=True).to_dataframe()
    assert capsys.readouterr().err.count(" 0/210 ") == 2
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    assert found.attrs == wanted.attrs


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        ({"threshold": 1.5}, ValueError, r"threshold=1.5 is outside \[0, 1\]"),
        ({"threshold": -0.1}, ValueError, r"threshold=-0.1 is outside"),
        ({"threshold": "0.5"}, TypeError, "threshold='0.5' is not a number"),
        ({"threshold": True}, TypeError, "threshold=True is not a number: give the least absolute"),
        ({"fdr": 0}, ValueError, r"fdr=0 is outside \(0, 1\]"),
        ({"fdr": float("nan")}, ValueError, "fdr=nan is not .* largest q-value of a pair"),
        ({"kernel": "fast"}, ValueError, "kernel='fast'"),
        ({"names": "symbol"}, ValueError, r"names='symbol' is not a coordinate along 'gene'"),
        ({"dim": "cell"}, ValueError, "dim='cell'"),
    ],
)
def test_kendall_pairs__refuses_what_makes_no_sense(
    limits: dict, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        expression(10, 10).genobit.kendall_pairs(**limits)


def test_names__are_a_coordinate_or_positions() -> None:
    expr = expression(20, 20).assign_coords(symbol=("gene", ["A", "B"] * 10))
    named = expr.genobit.kendall_pairs(0.3, None, names="symbol")
    assert named.to_network().names[:4].tolist() == ["A", "B", "A (2)", "B (2)"]
    bare = expr.drop_vars(["gene", "symbol"]).genobit.kendall_pairs(0.3, None)
    assert bare.to_network().names[:3].tolist() == ["0", "1", "2"]


def test_progress__is_a_bar_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with gb.set_options(chunk_rows=5):
        expression(20, 12).genobit.kendall_pairs(0.3, progress=True).to_dataframe()
    assert "10/10" in capsys.readouterr().err
    expression(20, 12).genobit.kendall_pairs(0.3).to_dataframe()
    assert not capsys.readouterr().err


@pytest.mark.parametrize("variables", [1, 2])
def test_kendall_pairs__of_few_variables(variables: int) -> None:
    table = (
        expression(12, 12)
        .isel(gene=slice(variables))
        .genobit.kendall_pairs(0.0, 1.0)
        .to_dataframe()
    )
    assert len(table) == variables - 1
    assert table.attrs["pairs_tested"] == variables - 1
