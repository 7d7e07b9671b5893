"""Frames and AnnData as DataArrays of measurements: values and labels as they were."""

from __future__ import annotations

import decimal
import logging
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import genobit as gb
from genobit.io import measurements as module
from tests.helpers.laziness import raise_if_dask_computes


class AnnData:
    """The part of an AnnData object that is read."""

    def __init__(self, X: Any, layers: dict[str, Any] | None = None) -> None:
        observations, variables = (X if X is not None else layers["counts"]).shape
        self.X, self.layers = X, layers or {}
        self.obs_names = pd.Index([f"c{k}" for k in range(observations)])
        self.var_names = pd.Index([f"g{k}" for k in range(variables)])


def frame(**columns: Any) -> pd.DataFrame:
    values = np.random.default_rng(1).normal(size=(4, 3))
    found = pd.DataFrame(values, ["a", "b", "c", "d"], ["s1", "s2", "s3"])
    return found.assign(**columns)


# Rows and columns


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
def test_frames_of_samples_as_rows__are_transposed(dtype: str) -> None:
    genes = frame().astype(dtype)
    found = gb.measurements(genes.T, rows="samples")
    xr.testing.assert_identical(found, gb.measurements(genes))
    cells = gb.measurements(genes.T, rows="cells", observations="cells")
    assert cells.dims == ("genes", "cells")
    labelled = genes.T.rename_axis("id").reset_index()
    xr.testing.assert_identical(gb.measurements(labelled, rows="samples", labels="id"), found)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (pd.DataFrame(np.ones((3, 31))), True),
        (pd.DataFrame(np.ones((3, 30))), False),
        (frame().rename_axis("Sample"), True),
        (frame().rename_axis("gene"), False),
    ],
)
def test_frames_that_look_transposed__say_so(
    given: pd.DataFrame, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    note = gb.measurements(given).attrs.get("note", "")
    assert ("if the rows are samples, give rows='samples'" in note) is told
    assert (note in caplog.text) is told or not note
    assert "note" not in gb.measurements(given, rows="samples").attrs


# Frames


@given(
    st.data(),
    st.sampled_from(["f8", "f4", "i8", "u1", "?"]),
    st.integers(1, 5),
    st.integers(1, 4),
    st.sampled_from([str, int, float, bytes]),
)
def test_frames__keep_values_and_labels(
    data: st.DataObject, dtype: str, rows: int, columns: int, kind: Any
) -> None:
    values = data.draw(arrays.arrays(dtype, (rows, columns)))
    names = [kind(f"{k}".encode()) if kind is bytes else kind(k + 7) for k in range(rows)]
    given_frame = pd.DataFrame(values, names, [f"s{k}" for k in range(columns)])
    found = gb.measurements(given_frame, rows="probes", observations="patients")
    assert found.dims == ("probes", "patients")
    np.testing.assert_array_equal(found.values, values)
    assert found.dtype == dtype
    right = [n.decode() if kind is bytes else str(n) for n in names]
    assert found.probes.values.tolist() == right
    assert found.patients.values.tolist() == [f"s{k}" for k in range(columns)]
    assert found.attrs == {}


def test_missing_values_of_any_type__are_nan() -> None:
    columns = {
        "floats": [1.5, np.nan],
        "integers": pd.array([2, None], "Int64"),
        "booleans": pd.array([True, None], "boolean"),
        "objects": np.array([3, None], object),
        "whole": [4, 5],
    }
    found = gb.measurements(pd.DataFrame(columns))
    np.testing.assert_array_equal(
        found.values, [[1.5, 2, 1, 3, 4], [np.nan, np.nan, np.nan, np.nan, 5]]
    )
    assert "genes" not in found.coords
    assert found.samples.values.tolist() == list(columns)


def test_large_integers__keep_their_digits_or_are_refused() -> None:
    large = {"a": np.array([2**63, 1], "u8"), "b": np.array([2**63 + 1, 2], "u8")}
    found = gb.measurements(pd.DataFrame(large | {"c": np.array([2**62, 3], "i8")}))
    assert found.values.tolist() == [[2**63, 2**63 + 1, 2**62], [1, 2, 3]]
    refused = {
        "no integer of 64 bits holds both": [-1, 3],
        "column 'b' has 9223372036854775809 in row 0, which float64 cannot hold": [1.5, 2],
    }
    for message, column in refused.items():
        with pytest.raises(ValueError, match=message):
            gb.measurements(pd.DataFrame(large | {"c": column}))
    with pytest.raises(ValueError, match="column 'a' has 9007199254740993 in row 0"):
        gb.measurements(pd.DataFrame({"a": pd.array([2**53 + 1, None], dtype="Int64")}))


ROWS = {"age": [31, 40, 52], "height": [1.7, 1.8, 1.6]}


@pytest.mark.parametrize(
    "odd", [list("xyz"), [1.0, "y", 2.0], list(pd.date_range("2024", periods=3)), [1j, 2.0, 3.0]]
)
def test_rows_that_are_no_numbers__are_named_with_a_remedy(odd: list[Any]) -> None:
    turned = pd.DataFrame(ROWS | {"odd": pd.Series(odd, dtype=object)}).T
    with pytest.raises(TypeError, match="1 of 3 rows are not numbers: 'odd'") as raised:
        gb.measurements(turned)
    remedy = str(raised.value).partition("Leave them out with ")[2]
    found = gb.measurements(eval(remedy, {"frame": turned}))
    assert found.genes.values.tolist() == list(ROWS)
    np.testing.assert_array_equal(found.values, pd.DataFrame(ROWS).T)


def test_booleans_beside_numbers__are_numbers_in_every_form() -> None:
    table = pd.DataFrame({"smoker": [True, False, True], **ROWS})
    exact = table.map(lambda x: decimal.Decimal(str(float(x))))
    for way in (table.T, table.astype(object).T, table.T.convert_dtypes(), exact.T):
        np.testing.assert_array_equal(gb.measurements(way).values, table.T.astype(float))


def test_correlations__are_those_of_scipy() -> None:
    found = gb.measurements(frame()).genobit.kendall()
    right = scipy.stats.kendalltau(*frame().to_numpy()[[0, 2]]).statistic
    assert found.dims == ("genes_0", "genes_1")
    assert float(found.sel(genes_0="a", genes_1="c")) == pytest.approx(right)


def test_a_column__can_have_the_labels() -> None:
    symbols = frame().reset_index(drop=True).assign(symbol=["w", "x", "y", "z"])
    found = gb.measurements(symbols, labels="symbol")
    assert found.genes.values.tolist() == ["w", "x", "y", "z"]
    np.testing.assert_array_equal(found.values, frame().to_numpy())
    with pytest.raises(KeyError, match="no column 'name' for labels="):
        gb.measurements(symbols, labels="name")
    twice = pd.concat([symbols, symbols.symbol], axis=1)
    with pytest.raises(ValueError, match="columns 3 and 4 are both called 'symbol'"):
        gb.measurements(twice, labels="symbol")


@pytest.mark.parametrize(
    "column", [list("abcd"), pd.date_range("2024", periods=4), [1j] * 4, [[1], [2], [3], [4]]]
)
def test_columns_that_are_no_numbers__are_named(column: Any) -> None:
    with pytest.raises(TypeError, match=r"1 of 4 columns are not numbers: 'odd'. .* labels='odd'"):
        gb.measurements(frame(odd=column))


def test_frames_that_fit_neither__are_refused_with_the_remedy() -> None:
    with pytest.raises(TypeError, match="has no column of numbers"):
        gb.measurements(pd.DataFrame(index=["a"]))
    levels = frame().set_index([["u"] * 4, list("abcd")])
    with pytest.raises(ValueError, match="the frame has 2 levels in its index"):
        gb.measurements(levels)
    with pytest.raises(ValueError, match="the frame has 2 levels in its columns"):
        gb.measurements(levels.T)
    with pytest.raises(ValueError, match="both named 'genes': give two names"):
        gb.measurements(frame(), observations="genes")
    with pytest.raises(ValueError, match="layer='counts' needs an AnnData object"):
        gb.measurements(frame(), layer="counts")
    with pytest.raises(TypeError, match="of type ndarray, expected a frame of pandas or polars"):
        gb.measurements(np.eye(3))
    with pytest.raises(TypeError, match=r"not a DataArray: call .genobit.kendall\(dim=...\)"):
        gb.measurements(xr.DataArray(np.eye(3)))


def test_repeated_labels__are_kept_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    twice = frame().rename(index={"d": "b"})
    with caplog.at_level(logging.INFO, "genobit"):
        found = gb.measurements(twice)
    note = "1 of 4 genes repeat a label, first genes=3 ('b')"
    assert found.attrs["note"] == note
    assert caplog.record_tuples == [("genobit", logging.WARNING, note)]
    assert found.genes.values.tolist() == ["a", "b", "c", "b"]
    assert found.genobit.kendall().shape == (4, 4)


def test_polars__frames_are_taken() -> None:
    pl = pytest.importorskip("polars")
    table = pl.DataFrame({"gene": ["x", "y"], "s1": [1, None], "s2": [2.5, 3.5]})
    for given_frame in (table, table.lazy()):
        found = gb.measurements(given_frame, labels="gene")
        np.testing.assert_array_equal(found.values, [[1, 2.5], [np.nan, 3.5]])
        assert found.genes.values.tolist() == ["x", "y"]
    with pytest.raises(TypeError, match="1 of 3 columns are not numbers: 'gene'"):
        gb.measurements(table)


# AnnData


@pytest.mark.parametrize("name", ["X", "counts"])
def test_anndata__is_transposed_with_its_names(name: str) -> None:
    values = np.arange(12.0).reshape(4, 3)
    given_data = AnnData(values if name == "X" else np.ones((4, 3)), {"counts": values})
    found = gb.measurements(given_data, layer=None if name == "X" else name)
    assert found.dims == ("genes", "samples")
    np.testing.assert_array_equal(found.values, values.T)
    assert found.genes.values.tolist() == ["g0", "g1", "g2"]
    assert found.samples.values.tolist() == ["c0", "c1", "c2", "c3"]


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array"])
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_sparse__becomes_dense_by_parts(
    monkeypatch: pytest.MonkeyPatch, form: str, rows: int
) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", rows * 8 * 8)
    dense = np.random.default_rng(3).integers(0, 3, (8, 7)) * 0.5
    dense[:, 2] = 0
    matrix = getattr(scipy.sparse, form)(dense)
    with raise_if_dask_computes():
        found = gb.measurements(AnnData(matrix))
    assert found.chunks == (tuple(min(rows, 7 - k) for k in range(0, 7, rows)), (8,))
    np.testing.assert_array_equal(found.values, dense.T)
    np.testing.assert_array_equal(found[2:6].values, dense.T[2:6])
    again = gb.measurements(AnnData(getattr(scipy.sparse, form)(dense)))
    assert found.data.name == again.data.name
    changed = gb.measurements(AnnData(getattr(scipy.sparse, form)(dense + dense)))
    assert found.data.name != changed.data.name


def test_sparse__entries_that_repeat_are_summed() -> None:
    matrix = scipy.sparse.csc_matrix(
        (np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    found = gb.measurements(AnnData(matrix))
    np.testing.assert_array_equal(found.values, [[0, 3], [4, 0]])
    assert matrix.nnz == 3


def test_sparse__correlations_equal_those_of_the_dense_matrix() -> None:
    dense = np.random.default_rng(4).poisson(0.7, (30, 6)).astype("f4")
    lazy = gb.measurements(AnnData(scipy.sparse.csr_matrix(dense))).genobit.kendall()
    right = gb.measurements(AnnData(dense)).genobit.kendall()
    xr.testing.assert_identical(lazy.compute(), right.compute())


def test_dask__matrices_stay_lazy() -> None:
    dense = np.arange(12.0).reshape(4, 3)
    array = da.from_array(dense, chunks=(2, 3))
    sparse = array.map_blocks(scipy.sparse.csr_matrix, meta=scipy.sparse.csr_matrix((0, 0)))
    for matrix in (array, sparse):
        with raise_if_dask_computes():
            found = gb.measurements(AnnData(matrix))
        np.testing.assert_array_equal(found.values, dense.T)


def test_anndata__without_values_says_what_to_load() -> None:
    with pytest.raises(TypeError, match=r"has no X: load it with adata.to_memory\(\)"):
        gb.measurements(AnnData(None, {"counts": np.eye(2)}))

    class Backed:
        shape = (2, 2)

    with pytest.raises(TypeError, match=r"a matrix of type Backed: load it with adata.to_memory"):
        gb.measurements(AnnData(Backed()))
    with pytest.raises(KeyError, match=r"no layer 'raw' \(layers: 'counts'\)"):
        gb.measurements(AnnData(np.eye(2), {"counts": np.eye(2)}), layer="raw")
    with pytest.raises(ValueError, match="AnnData has var_names"):
        gb.measurements(AnnData(np.eye(2)), labels="gene")


# Real data


def test_leukemia__as_a_frame_equals_its_arrays(shared_data: Path) -> None:
    with np.load(shared_data / "all_leukemia" / "all_leukemia.npz") as stored:
        values, genes, samples = (stored[name] for name in ("values", "genes", "samples"))
    found = gb.measurements(pd.DataFrame(values, genes, samples))
    np.testing.assert_array_equal(found.values, values)
    assert found.genes.values.tolist() == genes.tolist()
    named = found[:20].genobit.kendall()
    right = xr.DataArray(values[:20], dims=("genes", "samples")).genobit.kendall()
    np.testing.assert_array_equal(named.values, right.values)


# Arrays that fit neither


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (xr.DataArray(np.eye(2), dims=("variants", "samples")).genobit.ld, ValueError,
         "this DataArray has 'variants', 'samples': analyses of genotypes take a Dataset with"),
        (lambda: xr.DataArray(np.eye(2), dims=("gene", "cell")).genobit.parsimony("(a,b);"),
         ValueError, "has 'gene', 'cell': rename them .*; for measurements call .genobit.kendall"),
        (xr.DataArray(np.ones((2, 2, 2), int), dims=("variants", "samples", "ploidy"))
         .genobit.kendall, ValueError, "for genotypes call ds.genobit.kendall"),
        (xr.Dataset({"x": (("gene", "cell"), np.eye(2))}).genobit.grm, KeyError,
         r"measurements call ds\['x'\].genobit.kendall\(dim=...\), .* 'gene' or 'cell'"),
        (xr.Dataset({"call_dosage": (("variants", "samples"), np.eye(2))}).genobit.pca,
         KeyError, "call_dosage is not used: give the most likely genotypes as call_genotype"),
    ],
)  # fmt: skip
def test_arrays_that_fit_neither__are_told_what_to_do(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_dosages__are_correlated_as_they_are() -> None:
    dosages = np.array([[0, 1, 2, 1], [0, 1, 1, 2]])
    found = xr.DataArray(dosages, dims=("variants", "samples")).genobit.kendall()
    assert float(found[0, 1]) == pytest.approx(scipy.stats.kendalltau(*dosages).statistic)
