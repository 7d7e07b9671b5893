"""Layouts of packed Datasets, and marks by which a selection that leaves planes behind is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data.checks import first_true
from genobit.data.model import (
    BIT,
    NOT_CONSOLIDATED,
    VARIANTS,
    WORD,
    WORDS,
    check_alleles,
)
from genobit.engine.bits.layout import CALLED, PREFIX, Layout

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray


def layout_of(ds: xr.Dataset) -> Layout | None:
    """Return the layout of a packed Dataset, checked against its planes; None if it is not packed.

    Raises ValueError if planes are missing or have another shape or dtype. Also raises ValueError
    if samples (or variants) were selected along the packed axis without the planes.
    """
    layout = Layout.from_attributes(ds.attrs)
    if layout is None:
        return None
    if layout.rows == VARIANTS:
        ploidy = 2 if layout.kind == "dosage" else layout.ploidy
        check_alleles("the packed Dataset", layout.bits // layout.ploidy, ploidy)
    for plane in layout.planes:
        _check_plane(ds, PREFIX + plane, layout)
    if PREFIX + CALLED in ds:
        _check_plane(ds, PREFIX + CALLED, layout)
    _check_marks(ds, layout)
    return layout


def _check_plane(ds: xr.Dataset, name: str, layout: Layout) -> None:
    if name not in ds:
        msg = f"the packed Dataset lacks the plane {name!r}: pack the genotypes again"
        if not ds.variables:
            msg = f"the packed Dataset has no variables. {NOT_CONSOLIDATED}"
        raise ValueError(msg)
    plane = ds[name]
    expected = (layout.rows, WORDS)
    if plane.dims != expected or plane.dtype != np.uint64:
        remedy = "pack the genotypes again"
        if (
            set(plane.dims) == set(expected)
            and plane.dtype.kind == "u"
            and plane.dtype.itemsize == 8
        ):
            remedy = f"ds.assign({name}=ds.{name}.transpose{expected}.astype('uint64'))"
        msg = f"{name} is {plane.dtype} {plane.dims}, expected uint64 {expected}: {remedy}"
        raise ValueError(msg)
    if plane.sizes[WORDS] != layout.words:
        raise ValueError(
            f"{name} has {plane.sizes[WORDS]} words a row, but {layout.bits} bits take "
            f"{layout.words}: do not select along 'words'; pick samples with "
            ".genobit.isel(samples=...)"
        )


def _check_marks(ds: xr.Dataset, layout: Layout) -> None:
    remedy = (
        f"select {layout.along} of packed genotypes with .genobit.isel({layout.along}=...), "
        "which moves the bits too"
    )
    for name, (dim, expected) in _marks(layout).items():
        if name not in ds.coords:
            raise ValueError(f"the packed Dataset lacks the coordinate {name!r}; {remedy}")
        marks = np.asarray(ds[name].values)
        if marks.shape != expected.shape:
            raise ValueError(
                f"the planes hold {expected.size} {dim}, the Dataset now has {marks.size}: a plain "
                f"isel or sel along {dim!r} leaves the planes behind; {remedy}"
            )
        if (k := first_true(marks != expected)) >= 0:
            raise ValueError(
                f"{name}[{k}] is {marks[k]}, expected {expected[k]}: the Dataset was reordered "
                f"along {dim!r} and the planes were not; {remedy}"
            )


class PlanesIndex(xr.Index):
    """Index of a coordinate that marks bits or words; it refuses selections.

    xarray asks a coordinate's index before it selects along the dimension. A plain
    ``isel(samples=...)`` of packed genotypes therefore raises instead of leaving the planes behind.
    A Dataset read from a file has no such index; `layout_of` then compares the marks.
    """

    def __init__(self, dim: Hashable, size: int, along: str) -> None:
        self._dim = dim
        self._size = size
        self._along = along

    @classmethod
    def from_variables(
        cls,
        variables: Mapping[Any, xr.Variable],
        *,
        options: Mapping[str, Any],
    ) -> PlanesIndex:
        """Index the coordinate that marks bits or words; ``along`` is the dimension of the bits."""
        (variable,) = variables.values()
        return cls(variable.dims[0], variable.size, options["along"])

    def create_variables(
        self, variables: Mapping[Any, xr.Variable] | None = None
    ) -> dict[Hashable, xr.Variable]:
        """Return the coordinate unchanged."""
        return dict(variables or {})

    def isel(self, indexers: Mapping[Any, Any]) -> PlanesIndex:
        """Raise ValueError for any selection but that of everything."""
        if all(isinstance(chosen, slice) and chosen == slice(None) for chosen in indexers.values()):
            return self
        raise ValueError(
            f"a plain selection along {self._dim!r} would leave the bit planes behind: select "
            f"{self._along} of packed genotypes with .genobit.isel({self._along}=...), which moves "
            "the bits too"
        )

    @classmethod
    def concat(
        cls,
        indexes: Sequence[PlanesIndex],
        dim: Hashable,
        positions: Any = None,  # noqa: ARG003 - xarray's signature
    ) -> PlanesIndex:
        """Raise ValueError: the bits of two Datasets do not add up to planes."""
        raise ValueError(
            f"packed genotypes cannot be joined along {dim!r}, the dimension of "
            f"{indexes[0]._along}' bits: join the calls with xr.concat, and pack the result"
        )

    def equals(
        self,
        other: xr.Index,
        *,
        exclude: frozenset[Hashable] | None = None,  # noqa: ARG002 - xarray's signature
    ) -> bool:
        """Return whether the other index marks as many bits along the same dimension."""
        return isinstance(other, PlanesIndex) and (self._dim, self._size) == (
            other._dim,
            other._size,
        )


def mark_bits(ds: xr.Dataset, layout: Layout) -> xr.Dataset:
    """Add the coordinates that mark bits and words, each guarded by a `PlanesIndex`."""
    for name, (dim, marks) in _marks(layout).items():
        ds = ds.drop_vars(name, errors="ignore").assign_coords({name: (dim, marks)})
        ds = ds.set_xindex(name, PlanesIndex, along=layout.along)
    return ds


def _marks(layout: Layout) -> dict[str, tuple[str, NDArray[np.int64]]]:
    """Return the coordinates that reveal a selection along the bits or words."""
    first = layout.ploidy * np.arange(layout.bits // layout.ploidy)
    return {BIT[layout.along]: (layout.along, first), WORD: (WORDS, np.arange(layout.words))}
