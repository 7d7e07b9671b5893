"""Text of a result goes to Zarr in one pass, or chunk by chunk where memory does not take it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr
import zarr

import genobit as gb
from genobit.io._result_chunks import as_chunks

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = np.array([[f"{'é' * k}{k},a", ""] for k in range(40)], object)


def lazy(values: np.ndarray[Any, Any]) -> xr.Dataset:
    return xr.Dataset({"call_FT": (("variants", "samples"), da.from_array(values, chunks=(8, 2)))})


@pytest.mark.parametrize(("limit", "rows"), [(2**31, 40), (1000, 8)])
def test_text_beyond_memory_is_written_by_chunk(tmp_path: Path, limit: int, rows: int) -> None:
    with gb.set_options(eager_limit=limit):
        path = gb.to_zarr(lazy(TEXTS), tmp_path / "a.zarr")
    assert zarr.open_group(path, mode="r")["call_FT"].chunks == (rows, 2)
    found = xr.open_zarr(path).call_FT
    np.testing.assert_array_equal(found.values.astype(object), TEXTS)


@pytest.mark.parametrize("at", [0, 39])
def test_what_is_no_text_is_never_made_text(at: int) -> None:
    values = TEXTS.copy()
    values[at, 0] = 5
    why = (
        "call_FT.*not all text" if at == 0 else r"call_FT is text .*has 5 in a later one.*\(7, 0\)"
    )
    with gb.set_options(eager_limit=1000), pytest.raises(ValueError, match=why):
        as_chunks(lazy(values)).call_FT.compute()
    assert as_chunks(lazy(values)).call_FT.values[at, 0] == 5


@pytest.mark.parametrize("at", [0, 39])
@pytest.mark.parametrize("nothing", [None, np.nan])
def test_missing_text_is_empty_in_every_chunk(tmp_path: Path, nothing: object, at: int) -> None:
    values = TEXTS.copy()
    values[at, 0] = nothing
    for k, limit in enumerate((2**31, 1000)):
        with gb.set_options(eager_limit=limit):
            path = gb.to_zarr(lazy(values), tmp_path / f"{k}.zarr")
        assert xr.open_zarr(path).call_FT.values[at, 0] == ""
