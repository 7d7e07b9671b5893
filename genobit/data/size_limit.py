"""Compute results at once, unless they would exceed the user's memory limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import xarray as xr

from genobit.engine.options import get_options, more_than

if TYPE_CHECKING:
    from collections.abc import Hashable

Result = TypeVar("Result", xr.DataArray, xr.Dataset)


def compute_within_limit(result: Result, remedy: str) -> Result:
    """Return the result in memory, including its lazy coordinates.

    ``result`` is lazy: (rows, columns), (matrices, rows, columns), or a Dataset of such arrays.
    ``remedy`` continues "take what you need of the lazy result, " in the error. Raises MemoryError
    if the result and its lazy coordinates exceed ``get_options().eager_limit``.
    """
    from genobit.engine.schedule.tiles import in_memory

    limit = get_options().eager_limit
    matrices: list[xr.DataArray] = _matrices(result)
    lazy: list[Hashable] = [
        name for name, coordinate in result.coords.items() if coordinate.chunks is not None
    ]
    # An array may be on both sides of a square; count and compute it once.
    arrays = {x.data.name: x.data for x in (*matrices, *(result.coords[name] for name in lazy))}
    size = sum(array.nbytes for array in arrays.values())
    if size > limit:
        takes = "and its coordinates take" if lazy else "takes" if len(matrices) == 1 else "take"
        *first, last = [str(matrix.name) for matrix in matrices]
        what = f"{', '.join(first)} and {last}" if first else last
        raise MemoryError(
            f"the {what} of {_shape(matrices[0])} {takes} {more_than(size, limit)}: leave out "
            f"compute=True and take what you need of the lazy result, {remedy}, or raise "
            "gb.set_options(eager_limit=...)"
        )
    found = in_memory(*(x.data for x in matrices), *(result.coords[name].data for name in lazy))
    values, others = found[: len(matrices)], found[len(matrices) :]
    # Not deep: xarray copies labels one by one, at 1.2 us each.
    coords = {
        name: result.coords[name].copy(deep=False, data=x)
        for name, x in zip(lazy, others, strict=True)
    }
    if isinstance(result, xr.DataArray):
        return result.copy(deep=False, data=values[0]).assign_coords(coords)
    whole = {m.name: m.copy(deep=False, data=x) for m, x in zip(matrices, values, strict=True)}
    return result.assign(whole).assign_coords(coords)


def _matrices(result: xr.DataArray | xr.Dataset) -> list[xr.DataArray]:
    if isinstance(result, xr.DataArray):
        return [result]
    return list(result.data_vars.values())


def _shape(result: xr.DataArray) -> str:
    *matrices, rows, columns = result.shape
    if matrices:
        return f"{matrices[0]:,} matrices of {rows:,} x {columns:,}"
    return f"{rows:,} x {columns:,} pairs"
