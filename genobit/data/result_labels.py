"""Labels of results: copied from a Dataset, in memory, and with contigs by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.data import model
from genobit.data.contigs import known_contigs
from genobit.data.labels import as_objects
from genobit.data.text import is_unread

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping


def along(ds: xr.Dataset, dim: str) -> dict[Hashable, xr.Variable]:
    """Return the labels along one dimension, as results carry them."""
    left_out = {*ds.data_vars, *model.BIT.values()}
    return of_result(
        ds, [k for k, x in ds.variables.items() if x.dims == (dim,) and k not in left_out]
    )


def beside(
    variables: Mapping[Hashable, xr.Variable], chunks: Mapping[Hashable, Any] | None = None
) -> dict[Hashable, xr.Variable]:
    """Return labels for a lazy result: text as objects, and along one dimension in memory.

    Lazy labels with chunks of their own would break xarray's contract of chunks, and dask would
    compute a square together with them, and then copy it. Those along several dimensions get the
    ``chunks`` of the result, and one chunk elsewhere. Counts of `mask_calls` stay lazy: to read
    them takes a pass over the calls.
    """
    # dask takes longer to import than a call on numbers in memory.
    from genobit.engine.schedule.computing import compute

    lazy = {
        name: variable
        for name, variable in variables.items()
        if variable.chunks is not None and variable.ndim < 2 and variable.dims != (model.RULES,)
    }
    read = dict(zip(lazy, compute(*(v.data for v in lazy.values())), strict=True)) if lazy else {}
    return {
        name: as_objects(
            variable.copy(deep=False, data=read[name])
            if name in read
            else variable
            if variable.chunks is None
            else variable.chunk({dim: (chunks or {}).get(dim, -1) for dim in variable.dims}),
            str(name),
        )
        for name, variable in variables.items()
    }


def of_result(ds: xr.Dataset, names: Iterable[Hashable]) -> dict[Hashable, xr.Variable]:
    """Return labels as results carry them: as `beside` does, and contigs by name."""
    found = {name: ds.variables[name] for name in names}
    contig = found.get(model.VARIANT_CONTIG)
    if contig is not None and model.CONTIG_ID in ds.variables:
        names = known_contigs(ds).of_variants()
        # A fast-path Variable: xarray would make Arrow texts and objects again, in three times as
        # long as all else.
        named = xr.Variable(contig.dims, names, contig.attrs, fastpath=True)
        found[model.VARIANT_CONTIG] = named
    return beside(found)


def of_pairs(
    rows: tuple[str, xr.Dataset], columns: tuple[str, xr.Dataset]
) -> tuple[tuple[str, ...], dict[Hashable, Any]]:
    """Return the dimensions and coordinates of a matrix of pairs.

    Each side is the name of its dimension and a Dataset with the labels along it.
    """
    first = along(rows[1], rows[0])
    # Lazy labels are read once.
    same = rows[0] == columns[0] and rows[1] is columns[1]
    sides = (rows[0], first), (columns[0], first if same else along(columns[1], columns[0]))
    coords: dict[Hashable, Any] = {
        f"{name}_{side}": _along(f"{dim}_{side}", x)
        for side, (dim, found) in enumerate(sides)
        for name, x in found.items()
    }
    return tuple(f"{dim}_{side}" for side, (dim, _) in enumerate(sides)), coords


def _along(dim: str, label: xr.Variable) -> xr.Variable:
    """Return a label with another name of its dimension; unread text stays unread."""
    if is_unread(label):
        return xr.Variable(dim, label, label.attrs)
    # Use a fast-path Variable: from objects in a tuple, pandas makes Arrow texts and xarray makes
    # objects again, at 0.2 us each.
    return xr.Variable(dim, label.data, label.attrs, fastpath=True)
