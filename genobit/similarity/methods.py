"""``DataArray.genobit.similarity``: similarity of binary rows, with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import model, result_labels
from genobit.data.analysis import ArrayMethods
from genobit.data.other_set import BITS, dimension_of, require_same, require_side
from genobit.data.other_set import labels as labels_of
from genobit.data.size_limit import compute_within_limit

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import DTypeLike

RANK = "rank"


class SimilarityMethods(ArrayMethods):
    """Methods of ``DataArray.genobit`` that compare binary rows."""

    def similarity(
        self,
        statistic: str = "tanimoto",
        *,
        dim: Hashable | None = None,
        other: xr.DataArray | str | Sequence[str] | None = None,
        top: int | None = None,
        missing: str = "pairwise",
        dtype: DTypeLike = "float64",
        compute: bool = False,
    ) -> xr.DataArray | xr.Dataset:
        """Compute similarities of all pairs of binary rows, or the nearest neighbours of each row.

        Parameters
        ----------
        statistic
            "tanimoto" or its synonym "jaccard": number of positions set in both rows, divided by
            the number set in at least one row. "hamming": share of positions that agree.
        dim
            Dimension of the bits; the other dimension has the rows. By default the dimension named
            bit(s) or feature(s).
        other
            DataArray of other rows that have the same bits, or the names of some of these rows.
            They become the columns of the result.
        top
            Return this many nearest neighbours of each row instead of the matrix. A row is not its
            own neighbour. With ``other``, neighbours are rows of ``other``. Neighbours are found
            tile by tile, without the full matrix.
        missing
            Rule for the missing values NaN and -1. "pairwise" uses the positions with a value in
            both rows of a pair. "refuse" raises an error.
        dtype
            "float64", or "float32" for large results.
        compute
            Compute at once. Results larger than ``get_options().eager_limit`` bytes are refused.

        Returns
        -------
            DataArray (rows_0, rows_1) with the labels of the rows on both sides, lazy unless
            ``compute``. The dimensions are named after the dimension of the rows.

            With ``top``, a Dataset of ``neighbours`` (int64 row numbers) and ``similarity``, both
            (rows, rank). The most similar row is first, and the lower row number wins ties. If a
            row has fewer than ``top`` neighbours, the remaining entries are -1 and NaN.

            The Tanimoto similarity of two rows without set bits is 0, as in RDKit, even on the
            diagonal. If no position has a value in both rows of a pair, the pair is NaN. The two
            rows of such a pair are never neighbours of each other.

        Raises
        ------
        ValueError
            If the number of dimensions is not 2, or if ``other`` has different bits. For an invalid
            ``statistic``, ``dim``, ``top``, ``missing`` or ``dtype``. For values other than 0, 1
            and missing, and for missing values with "refuse", when the result is computed.
        TypeError
            For values that are neither numbers nor booleans, or if ``other`` is not a DataArray.
        MemoryError
            With ``compute``, if the result is larger than the limit.

        Notes
        -----
        The distance of two rows is 1 - similarity. Without missing values, the number of positions
        that differ is ``(1 - hamming) * attrs["bits"]``. Each value is the quotient of two exact
        integer counts, so results are identical to a plain loop over pairs. Formulas and
        references: `genobit.similarity.measures`.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> bits = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]], bool)
        >>> prints = xr.DataArray(bits, dims=("molecule", "bit"))
        >>> prints.genobit.similarity("tanimoto").values.round(3)
        array([[1.   , 0.667, 0.   ],
               [0.667, 1.   , 0.25 ],
               [0.   , 0.25 , 1.   ]])
        >>> prints.genobit.similarity(top=1).neighbours.values.ravel()
        array([1, 0, 1])
        """
        from genobit.similarity import measures as similarity
        from genobit.similarity.schedule import planes_of

        if statistic in self._da.dims and statistic not in similarity.LONG_NAMES:
            msg = (
                f"statistic={statistic!r} is a dimension of the values: for bits along it say "
                f"dim={statistic!r}"
            )
            raise ValueError(msg)
        similarity.check(statistic, missing, dtype, top)
        side = _side_of(self._da, dim)
        right = None if other is None else _other_side(side, other)
        names = str(side.dims[0]), str(side.dims[1])
        bits = side.shape[1]
        planes = planes_of(side.chunk().data, names, missing)
        others = None if right is None else planes_of(right.chunk().data, names, missing)
        attributes = {
            "long_name": similarity.LONG_NAMES[statistic],
            "statistic": statistic,
            "missing": similarity.MISSING[missing],
            "bits": bits,
        }
        if top is not None:
            found = similarity.neighbours(planes, others, bits, statistic, dtype, top)
            nearest = _nearest(side, found, top, attributes)
            return (
                compute_within_limit(nearest, "a smaller top= or fewer rows")
                if compute
                else nearest
            )
        sides = [labels_of(x) for x in (side, side if right is None else right)]
        dims, coords = result_labels.of_pairs((names[0], sides[0]), (names[0], sides[1]))
        values = similarity.matrix(planes, others, bits, statistic, dtype)
        matrix = model.labelled(values, coords, dims, "similarity", attributes)
        return (
            compute_within_limit(matrix, "top=, to_zarr(), dtype='float32' or fewer rows")
            if compute
            else matrix
        )


def _nearest(
    side: xr.DataArray, found: list[Any], top: int, attributes: dict[str, Any]
) -> xr.Dataset:
    row = str(side.dims[0])
    values, numbers = found
    coords = {**result_labels.along(labels_of(side), row), RANK: (RANK, np.arange(1, top + 1))}
    return xr.Dataset(
        {
            "neighbours": ((row, RANK), numbers, {"long_name": "numbers of the nearest rows"}),
            "similarity": ((row, RANK), values, attributes),
        },
        coords,
        attributes,
    )


def _side_of(da: xr.DataArray, dim: Hashable | None) -> xr.DataArray:
    """Return the values as (rows, bits)."""
    if da.ndim != 2:
        msg = (
            f"similarity takes 2 dimensions, rows and bits, not {da.ndim} {da.dims}: select or "
            "stack the others"
        )
        raise ValueError(msg)
    if da.dtype.kind not in "biuf":
        text = da.dtype.kind in "OSUT"
        how = "compare them, such as da == 'A'" if text else "convert them, with .astype(bool)"
        msg = f"values are of dtype {da.dtype}, but similarity needs booleans or 0 and 1: {how}"
        raise TypeError(msg)
    bits = dimension_of(da, dim, BITS, "bits")
    (rows,) = (name for name in da.dims if name != bits)
    for name in (rows, bits):
        if not da.sizes[name]:
            msg = f"the array is empty along {name!r}: no rows or no bits to compare"
            raise ValueError(msg)
    return da.transpose(rows, bits)


def _other_side(side: xr.DataArray, other: object) -> xr.DataArray:
    rows, bits = side.dims
    right = _side_of(require_side(side, other, "rows", "bits"), bits)
    require_same(side, right)
    return right.rename({right.dims[0]: rows})
