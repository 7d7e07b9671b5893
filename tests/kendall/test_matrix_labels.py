"""Rank correlation: labels, laziness, computing at once, explanations, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.kendall.kernels import registry as kernels
from tests.helpers.laziness import raise_if_dask_computes
from tests.kendall.values import measured, random_values

VARIABLES = ("tau", "pvalue", "n")


def test_labels__of_the_variables_stand_on_both_sides() -> None:
    expr = measured(random_values(0, 6, 20)).assign_coords(
        length=("gene", np.arange(6), {"units": "bp"}), batch=("sample", np.arange(20)), run=3
    )
    for form in (expr, expr.transpose("sample", "gene"), expr.chunk({"gene": 2, "sample": 7})):
        result = form.genobit.kendall("tau_c", pvalue=True)
        assert result.tau.dims == ("gene_0", "gene_1")
        assert set(result.coords) == {"gene_0", "gene_1", "length_0", "length_1"}
        assert result.length_1.attrs == {"units": "bp"}
        assert result.tau.sel(gene_0="g2", gene_1="g4").size == 1
        assert tuple(result.data_vars) == VARIABLES
        assert result.n.dtype == np.int32
        assert result.attrs["observations"] == 20
        assert result.attrs["statistic"] == "tau_c"
        assert result.attrs["dimension"] == "sample"
        assert result.attrs["kernel"] == "auto"
        assert result.tau.attrs["long_name"] == "Kendall's tau-c"
        assert result.attrs["missing"].startswith("pairwise complete")
        tau = form.genobit.kendall("tau_c")
        assert isinstance(tau, xr.DataArray)
        assert tau.name == "tau"
        xr.testing.assert_identical(tau.compute(), result.tau.compute())


def test_labels__of_other_variables() -> None:
    expr, values = measured(random_values(0, 6, 20)), random_values(1, 3, 20)
    traits = xr.DataArray(values.T, {"trait": list("xyz")}, ("sample", "trait"))
    result = expr.genobit.kendall(other=traits)
    assert result.dims == ("gene_0", "trait_1")
    assert set(result.coords) == {"gene_0", "trait_1"}
    one = expr.genobit.kendall(other=expr[:1], compute=True)
    assert one.dims == ("gene_0", "gene_1")
    assert one.shape == (6, 1)


def test_labels__of_several_levels_are_carried_apart() -> None:
    expr = measured(random_values(0, 4, 9)).drop_vars("gene")
    expr = expr.assign_coords(family=("gene", list("aabb")), member=("gene", [0, 1, 0, 1]))
    tau = expr.set_index(gene=["family", "member"]).genobit.kendall(compute=True)
    assert set(tau.coords) == {"family_0", "member_0", "family_1", "member_1"}


def test_observations__are_known_by_their_name() -> None:
    values = random_values(0, 4, 9)
    expected = measured(values).genobit.kendall(compute=True).values
    for name in ("samples", "observation", "Cells"):
        expr = xr.DataArray(values, dims=("x", name))
        np.testing.assert_array_equal(expr.genobit.kendall(), expected)
    expr = xr.DataArray(values, dims=("x", "y"))
    np.testing.assert_array_equal(expr.genobit.kendall(dim="y"), expected)
    assert expr.genobit.kendall(dim="x").shape == (9, 9)
    with pytest.raises(ValueError, match="which of 'x', 'y' are the observations"):
        expr.genobit.kendall()
    with pytest.raises(ValueError, match="dim='z' is not a dimension of the values; they have 'x'"):
        expr.genobit.kendall(dim="z")
    with pytest.raises(ValueError, match="which of 'sample', 'cells' are"):
        xr.DataArray(values, dims=("sample", "cells")).genobit.kendall()


def test_nothing_computes_before_it_is_asked_to() -> None:
    expr = measured(random_values(0, 30, 20, missing=0.1), (7, 6))
    with gb.set_options(chunk_rows=10), raise_if_dask_computes():
        for missing in ("pairwise", "dropna", "refuse"):
            for pvalue in (False, True, "exact"):
                result = expr.genobit.kendall(missing=missing, pvalue=pvalue)
        assert isinstance(result.tau.data, da.Array)
        assert result.tau.chunks == ((10, 10, 10), (10, 10, 10))
        names = [expr.genobit.kendall(pvalue=True).tau.data.name for _ in range(2)]
    assert names[0] == names[1]
    assert expr.genobit.kendall("tau_a").data.name != expr.genobit.kendall("tau_b").data.name


def test_tiles__keep_to_their_size() -> None:
    expr = xr.DataArray(da.zeros((20_000, 8), chunks=(5000, 8)), dims=("gene", "sample"))
    for options, item in (({}, 8), ({"dtype": "float32"}, 4), ({"pvalue": True}, 20)):
        result = expr.genobit.kendall(**options)
        tau = result if isinstance(result, xr.DataArray) else result.tau
        rows = tau.chunks[0]
        assert max(rows) - min(rows) < 16
        assert 2**23 < rows[0] ** 2 * item <= 2**25
        assert rows[0] <= gb.get_options().chunk_rows


def test_scores_and_ranks__are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from genobit.kendall.kernels import ranks

    calls = {"scores": 0, "ranks": 0}
    scores, ranked = kernels.scores, ranks.ranked

    def counted(name: str, function: object) -> object:
        def call(*args: object) -> object:
            calls[name] += 1
            return function(*args)

        return call

    monkeypatch.setattr(kernels, "scores", counted("scores", scores))
    monkeypatch.setattr(ranks, "ranked", counted("ranks", ranked))
    with gb.set_options(chunk_rows=5), raise_if_dask_computes(max_computes=1):
        result = (
            measured(random_values(0, 15, 20))
            .genobit.kendall("somers_d_rows", pvalue=True)
            .compute()
        )
    assert calls == {"scores": 6, "ranks": 3}
    assert set(result.data_vars) == set(VARIABLES)


def test_compute__is_in_memory_in_one_pass() -> None:
    expr = measured(random_values(0, 15, 20), (4, 20))
    with gb.set_options(chunk_rows=5):
        for pvalue in (False, True):
            lazy = expr.genobit.kendall(pvalue=pvalue).compute()
            with raise_if_dask_computes(max_computes=1):
                now = expr.genobit.kendall(pvalue=pvalue, compute=True)
            assert now.chunks in (None, {})
            xr.testing.assert_identical(now, lazy)


def test_compute__past_the_limit_is_refused() -> None:
    expr = measured(random_values(0, 15, 20))
    with gb.set_options(eager_limit=15 * 15 * 8), raise_if_dask_computes():
        what = r"the tau, pvalue and n of 15 x 15 pairs take 4\.4 KiB, .*1\.8 KiB.*kendall_pairs"
        with pytest.raises(MemoryError, match=what):
            expr.genobit.kendall(pvalue=True, compute=True)
    with gb.set_options(eager_limit=15 * 15 * 4):
        assert expr.genobit.kendall(dtype="float32", compute=True).dtype == np.float32


def test_zarr__gives_it_back(tmp_path: Path) -> None:
    expr = measured(random_values(0, 15, 20, missing=0.1))
    with gb.set_options(chunk_rows=5):
        result = expr.genobit.kendall(pvalue=True)
        result.to_zarr(tmp_path / "tau.zarr", consolidated=False)
    again = xr.open_zarr(tmp_path / "tau.zarr", consolidated=False)
    for name in (*VARIABLES, "gene_0", "gene_1"):
        np.testing.assert_array_equal(again[name], result[name])
    assert again.tau.chunks == result.tau.chunks
    assert again.tau.attrs == result.tau.attrs


def test_tasks__can_be_sent_elsewhere() -> None:
    expr = measured(random_values(0, 15, 20, missing=0.01), (4, 20))
    with gb.set_options(chunk_rows=5):
        for missing in ("pairwise", "dropna"):
            result = expr.genobit.kendall(pvalue=True, missing=missing)
            again = pickle.loads(pickle.dumps(result))
            xr.testing.assert_identical(again.compute(), result.compute())


@pytest.mark.distributed
@pytest.mark.slow
def test_distributed__gives_the_same_bits() -> None:
    distributed = pytest.importorskip("distributed")
    expr = measured(random_values(0, 15, 20, missing=0.1), (4, 20))
    with gb.set_options(chunk_rows=5):
        expected = expr.genobit.kendall(pvalue=True).compute()
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster),
        ):
            found = expr.genobit.kendall(pvalue=True, compute=True)
    xr.testing.assert_identical(found, expected)


def test_estimate__says_which_kernel_was_chosen_and_why() -> None:
    values = random_values(0, 40, 90, tied=True, missing=0.1)
    with raise_if_dask_computes(max_computes=1):
        found = measured(values, (9, 30)).genobit.estimate.kendall()
    first, *kernels = found.details
    assert found.what == "all pairs of 40 variables, 90 observations"
    assert "ties, missing values, up to " in first
    taken = [line.split()[0] for line in kernels if line.endswith("<- taken")]
    assert taken == [kernels[0].split()[0]]
    assert first.startswith(f"kernel {taken[0]!r}: ")
    named = measured(values).genobit.estimate.kendall(kernel="packed-merge")
    assert named.details[0].startswith("kernel 'packed-merge'")
    untied = measured(random_values(0, 40, 90)).genobit.estimate.kendall()
    assert "no ties, nothing missing, up to 90 levels" in untied.details[0]
    long = measured(random_values(0, 40, 2000))
    trait = measured(np.arange(2000)[None] // 1000)
    both = long.genobit.estimate.kendall(other=trait)
    assert both.what == "all pairs of 40 and 1 variables, 2,000 observations"
    assert both.details[0].startswith("kernel 'packed-merge': ties, nothing missing, up to 2,000")
    assert both.details[1].split()[0] == "packed-merge"


CHOICES = {
    "a statistic": (
        {"statistic": "b"},
        "statistic='b' is not one of 'tau_a', 'tau_b', 'tau_c', 'somers_d_rows'",
    ),
    "a rule": ({"missing": "omit"}, "missing='omit' is not one of 'pairwise', 'dropna', 'refuse'"),
    "a kernel": ({"kernel": "fast"}, "kernel='fast' is not one of 'auto', 'packed-merge', 'signs'"),
    "no dtype": ({"dtype": None}, "dtype=None is not one of 'float64', 'float32'"),
    "a dimension": (
        {"statistic": "sample"},
        "='sample' is a dimension of .* say dim='sample'; statistics are 'tau_a', 'tau_b'",
    ),
    "a dtype": ({"dtype": "float16"}, "dtype='float16' is not one of 'float64', 'float32'"),
    "a test": ({"pvalue": "yes"}, "pvalue='yes' is not one of False, True, 'exact'"),
    "permutations of nothing": ({"permutations": 9}, "permutations=9 go with pvalue='permutation'"),
    "permutations of another test": (
        {"permutations": 9, "pvalue": "exact"},
        "permutations=9 go with pvalue='permutation', not with pvalue='exact'",
    ),
    "no permutations": ({"pvalue": "permutation"}, "needs permutations=, such as 999"),
    "half a permutation": (
        {"pvalue": "permutation", "permutations": 0.5},
        "permutations=0.5 is not a whole number",
    ),
    "a seed before 0": (
        {"pvalue": "permutation", "permutations": 9, "seed": -1},
        "seed=-1 is not a whole number of at least 0",
    ),
}


@pytest.mark.parametrize("kind", CHOICES)
def test_refuses__choices(kind: str) -> None:
    keywords, message = CHOICES[kind]
    with raise_if_dask_computes(), pytest.raises(ValueError, match=message):
        measured(random_values(0, 4, 9)).genobit.kendall(**keywords)


def test_refuses__values_it_cannot_rank() -> None:
    values = random_values(0, 4, 9)
    for dtype in (str, complex, "datetime64[s]", object):
        converted = np.zeros((4, 9)).astype(dtype)
        with pytest.raises(TypeError, match=r"values are of dtype .*\.astype\(float\)"):
            xr.DataArray(converted, dims=("gene", "sample")).genobit.kendall()
    with pytest.raises(ValueError, match=r"takes 2 dimensions, .* not 1"):
        measured(values)[0].genobit.kendall()
    with pytest.raises(ValueError, match="empty along 'gene'"):
        measured(values[:0]).genobit.kendall()
    with pytest.warns(UserWarning, match="Duplicate dimension names"):
        twice = xr.DataArray(values[:, :4], dims=("x", "x"))
    for call in (twice.genobit.kendall, twice.genobit.kendall_pairs, twice.genobit.similarity):
        with pytest.raises(ValueError, match="dimensions 'x', 'x' have one name: build"):
            call(dim="x")


def test_refuses__other_observations() -> None:
    expr = measured(random_values(0, 4, 9))
    with pytest.raises(
        TypeError, match="other= takes a DataArray of variables, or their names, not"
    ):
        expr.genobit.kendall(other=expr.values)
    with pytest.raises(ValueError, match="other= has 8 along 'sample', this DataArray 9"):
        expr.genobit.kendall(other=expr[:, :8])
    with pytest.raises(ValueError, match=r"sample\[0\] is 's0' here and 's8' in other="):
        expr.genobit.kendall(other=expr[:, ::-1])
    with pytest.raises(ValueError, match="and lacks 'sample', the observations"):
        expr.genobit.kendall(other=expr.rename(sample="cell"))
    expr.drop_vars("sample").genobit.kendall(other=expr[:, ::-1])


def test_refuses__missing_values_by_the_first_of_them() -> None:
    values = random_values(0, 8, 9)
    values[3, 4] = values[5, 1] = np.nan
    what = r"the value at gene=3, sample=4 is missing and missing='refuse': use missing='pairwise'"
    with pytest.raises(ValueError, match=what):
        measured(values).genobit.kendall(missing="refuse")
    with gb.set_options(chunk_rows=5):
        lazy = measured(values, (2, 9)).genobit.kendall(missing="refuse")
        with pytest.raises(ValueError, match=what):
            lazy[:4, :4].compute()
    what = "the value at gene=3, sample=4 is missing, and permutations need all values"
    with pytest.raises(ValueError, match=what):
        measured(values).genobit.kendall(pvalue="permutation", permutations=5)
    asked = {"pvalue": "permutation", "permutations": 5, "missing": "dropna"}
    assert measured(values).genobit.kendall(**asked, compute=True).n.max() == 7
    values[0] = np.nan
    with pytest.raises(ValueError, match="missing='dropna' leaves none of the 9 sample"):
        measured(values).genobit.kendall(missing="dropna", compute=True)


def test_refuses__exact_p_of_ties() -> None:
    values = random_values(0, 8, 9)
    values[6, 1] = values[6, 2]
    with pytest.raises(ValueError, match="gene=6 has equal values, and pvalue='exact' needs"):
        measured(values).genobit.kendall(pvalue="exact", compute=True)


@pytest.mark.parametrize("dtype", [np.float32, np.dtype("f4"), "f4"])
def test_dtype__is_given_in_any_way_that_numpy_knows(dtype: object) -> None:
    expr = measured(random_values(0, 6, 20))
    assert expr.genobit.kendall(dtype=dtype).compute().dtype == np.float32
