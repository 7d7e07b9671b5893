"""Every argument in every type: the same values give the same result, or are refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import traitlets
import xarray as xr

from genobit.data import aligning
from genobit.data.columns import values as plain
from tests.data.labelled_arguments import CASES, NAME_OF, Case, given, labelled, mask
from tests.helpers.cohorts import cohort, random_calls

NULLABLE = {"b": "boolean", "i": "Int64", "f": "Float64", "O": "string"}
ARROW = {"b": pa.bool_(), "i": pa.int64(), "f": pa.float64(), "O": pa.string()}
REFUSED = (TypeError, ValueError, IndexError, KeyError, traitlets.TraitError)


def nullable(values: np.ndarray) -> pd.Series:
    return pd.Series(values, dtype=NULLABLE[values.dtype.kind])


def arrow(values: np.ndarray) -> pd.Series:
    return pd.Series(values, dtype=pd.ArrowDtype(ARROW[values.dtype.kind]))


def shuffled(values: pd.Series, ids: np.ndarray) -> pd.Series:
    return values.set_axis(ids).sample(frac=1, random_state=4)


FORMS: dict[str, Callable[[np.ndarray, str, np.ndarray], Any]] = {
    "list": lambda v, *_: v.tolist(),
    "tuple": lambda v, *_: tuple(v.tolist()),
    "array": lambda v, *_: v,
    "objects": lambda v, *_: v.astype(object),
    "masked array without a mask": lambda v, *_: np.ma.masked_array(v),
    "Series": lambda v, *_: pd.Series(v),
    "Series in another order": lambda v, _, ids: shuffled(pd.Series(v), ids),
    "nullable Series in another order": lambda v, _, ids: shuffled(nullable(v), ids),
    "Arrow Series in another order": lambda v, _, ids: shuffled(arrow(v), ids),
    "pandas array": lambda v, *_: nullable(v).array,
    "Arrow array": lambda v, *_: pa.array(v.tolist()),
    "DataArray without labels": lambda v, dim, _: xr.DataArray(v, dims=dim),
    "DataArray in another order": lambda v, dim, ids: labelled(v[::-1], dim, ids[::-1]),
    "DataArray of a pandas array": lambda v, dim, ids: labelled(nullable(v).array, dim, ids),
    "DataArray of chunks": lambda v, dim, _: xr.DataArray(da.from_array(v, 5), dims=dim),
}
MASKS = [name for name, case in CASES.items() if case.values is mask]


def outcome(case: Case, values: Any) -> Any:
    """Return the result as an array, or the error as text."""
    if not case.plain and isinstance(values, pd.Series | xr.DataArray):
        values = values.rename("y")
    try:
        return np.asarray(case.run(values))
    except REFUSED as error:
        # A Series in another order has its missing value at another index.
        return re.sub(r"\[\d+\]", "[]", f"{type(error).__name__}: {error}")


WAYS = [
    (name, form)
    for name, case in CASES.items()
    for form in FORMS
    if case.plain or "Series" in form or "DataArray" in form
]


@pytest.mark.parametrize(("name", "form"), WAYS)
def test_one_result__for_every_type(name: str, form: str) -> None:
    case = CASES[name]
    values, ids = given(case)
    way = FORMS[form](values, case.dim, ids)
    right = outcome(case, labelled(values, case.dim, ids))
    assert isinstance(right, np.ndarray)
    np.testing.assert_array_equal(outcome(case, way), right)


@pytest.mark.parametrize("name", CASES)
def test_a_masked_value__is_a_missing_one(name: str) -> None:
    case = CASES[name]
    values, ids = given(case)
    hidden = np.arange(values.size) == min(range(values.size), key=values.__getitem__)
    objects = np.where(hidden, None, values.astype(object))
    ways = {
        "array": np.ma.masked_array(values, hidden),
        "objects": objects,
        "list": objects.tolist(),
        "DataArray": labelled(np.ma.masked_array(values, hidden), case.dim, ids),
        "nullable Series": shuffled(nullable(values).mask(hidden), ids),
        "Arrow Series": shuffled(arrow(values).mask(hidden), ids),
    }
    if name in MASKS:
        # xarray turns it into numbers, which are no mask.
        del ways["DataArray"]
    if not case.plain:
        ways = {k: v for k, v in ways.items() if isinstance(v, pd.Series | xr.DataArray)}
    found = {form: outcome(case, way) for form, way in ways.items()}
    for result in found.values():
        np.testing.assert_array_equal(result, next(iter(found.values())))
        word = name.split()[1].removesuffix("s")
        assert isinstance(result, np.ndarray) or re.search(rf"\b{word}", result)
    # The value below the mask does not count.
    whole = outcome(case, labelled(values, case.dim, ids))
    assert np.shape(result) != np.shape(whole) or (np.asarray(result) != whole).any()


def odd_values(case: Case, n: int) -> dict[str, Any]:
    odd: dict[str, Any] = {
        "complex": np.arange(n) + 1j,
        "ragged": [[1], *[[1, 2]] * (n - 1)],
        "mixture": ["one", *range(n - 1)],
        "lists": np.array([[k] for k in range(n)] + [None], object)[:n],
        "dictionary": {"a": 1},
    }
    if case.values.__name__ in {"shares", "counts"}:
        odd["text"] = np.array(["0.5", "0.25"] * n)[:n]
        odd["dates"] = np.arange(n).astype("datetime64[D]")
    return odd


@pytest.mark.parametrize("name", CASES)
def test_other_types__are_refused_by_name(name: str) -> None:
    case = CASES[name]
    word = rf"\b{name.split()[1].removesuffix('s')}"
    for kind, values in odd_values(case, given(case)[0].size).items():
        way = values
        if not case.plain:
            if not isinstance(values, np.ndarray):
                continue
            way = pd.Series(values)
        found = outcome(case, way)
        assert isinstance(found, str), kind
        assert re.search(word, found), (kind, found)


@pytest.mark.parametrize("dim", NAME_OF)
def test_labels__are_refused_without_labels_to_match(dim: str) -> None:
    data = xr.Dataset({"x": (dim, np.arange(4))})
    index = [2, 0, 3, 1]
    refused = [
        (pd.Series(index, index), r"index\[0\] = 2"),
        (pd.Series(index, list("abcd")), r"index\[0\] = 'a'"),
        (xr.DataArray(index, {dim: index}, (dim,)), rf"{dim}\[0\] = 2"),
        (labelled(index, dim, list("abcd")), r"\w+\[0\] = 'a'"),
    ]
    for way, first in refused:
        with pytest.raises(ValueError, match=rf"y has labels along '{dim}', first {first}.*assign"):
            aligning.aligned(data, way, dim, "y")
        # Both remedies help.
        assert aligning.aligned(data, way.to_numpy(), dim, "y").tolist() == index
    named = data.assign_coords({dim: [0, 1, 2, 3]})
    assert aligning.aligned(named, refused[2][0], dim, "y").tolist() == [0, 1, 2, 3]
    for way in (pd.Series(index), xr.DataArray(index, {dim: range(4)}, (dim,))):
        assert aligning.aligned(data, way, dim, "y").tolist() == index


def test_labels_of_public_calls__are_refused_too() -> None:
    ds = cohort(random_calls(2, 6, 20)).drop_vars(["variant_id", "sample_id"])
    aln = xr.DataArray(
        [list("AAC"), list("AAG"), list("GAT")], {"taxa": list("abc")}, ("taxa", "sites")
    )
    calls = {
        "phenotype": lambda: ds.genobit.epistasis(pd.Series(np.arange(20) % 2)[::-1]),
        "weights": lambda: aln.genobit.parsimony("(a,b,c);", weights=pd.Series([1, 2, 3])[::-1]),
        "allele_frequency": lambda: ds.genobit.grm(
            allele_frequency=pd.Series(np.full(6, 0.5))[::-1]
        ),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"{name} has labels along"):
            call()


LARGE = 2**53 + 1


def test_large_integers__keep_their_digits_or_are_refused() -> None:
    for values in (
        [LARGE, 1],
        pd.Series([LARGE, 1], dtype="Int64"),
        pa.array([LARGE, 1]),
        np.array([LARGE, 1], object),
        np.ma.masked_array([LARGE, 1]),
    ):
        assert plain(values, "x").tolist() == [LARGE, 1]
    assert plain([2**63, 1], "x").tolist() == [2**63, 1]
    for values in (
        [LARGE, None],
        [LARGE, 0.5],
        pd.Series([LARGE, None], dtype="Int64"),
        pa.array([LARGE, None]),
        pd.Series([LARGE, None], dtype=pd.ArrowDtype(pa.int64())),
        np.ma.masked_array([LARGE, 1], [False, True]),
    ):
        with pytest.raises(ValueError, match=rf"x has {LARGE} in row 0, which float64 cannot hold"):
            plain(values, "x")
    for values in ([2**63, -1], [2**64, 1]):
        with pytest.raises(ValueError, match="at most 64 bits"):
            plain(values, "x")


def test_costs__are_read_as_other_arguments() -> None:
    aln = xr.DataArray(
        [list("AC"), list("AG"), list("GT")], {"taxa": list("abc")}, ("taxa", "sites")
    )
    costs = 1.0 - np.eye(4)
    costs[0, 1] = costs[1, 0] = 5

    def length(given: Any) -> float:
        return float(aln.genobit.parsimony("((a,b),c);", costs=given).length)

    right = length(costs)
    order = list("TGCA")
    of_states = pd.DataFrame(costs, list("ACGT"), list("ACGT"))
    for way in (
        costs.tolist(),
        of_states.loc[order, order],
        pd.DataFrame(costs),
        xr.DataArray(costs),
    ):
        assert length(way) == right
    for way in (np.ma.masked_equal(costs, 5), costs + 0j, [[0, 1], [1]], costs.astype(str)):
        with pytest.raises((TypeError, ValueError), match=r"^costs"):
            length(way)
