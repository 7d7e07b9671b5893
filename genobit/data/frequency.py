"""Frequency of the counted allele: its copies divided by the alleles called, or given values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.data import aligning, model
from genobit.data.checks import first_true
from genobit.engine.schedule.tiles import ordered, whole_rows

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import ArrayLike, NDArray

    from genobit.engine.bits.layout import Layout

DIVISORS = {
    False: "variants of two alleles",
    True: "variants of one or two alleles, as plink",
}
"""Variants counted in the divisor, by ``count_monomorphic``."""


def allele_frequency(planes: dict[str, da.Array], layout: Layout) -> da.Array:
    """Return the frequency of the counted allele in each row: float64 (variants,), lazy.

    planes: name to uint64 (variants, words). The frequency is NaN where nothing is called.
    """
    arrays = whole_rows(ordered(planes, layout))
    return da.blockwise(
        _frequency,
        "v",
        *[x for array in arrays for x in (array, "vw")],
        concatenate=True,
        dtype=np.float64,
        meta=np.empty(0),
        layout=layout,
    )


def given_frequency(
    ds: xr.Dataset,
    allele_frequency: str | ArrayLike | xr.DataArray,
    *,
    missing: bool = False,
) -> NDArray[np.float64]:
    """Return frequencies (variants,) given by a user; raise ValueError for one outside [0, 1].

    Missing ones are NaN if ``missing``, and raise otherwise.
    """
    frequency = aligning.aligned_numbers(ds, allele_frequency, model.VARIANTS, "allele_frequency")
    right = (frequency >= 0) & (frequency <= 1)
    if (k := first_true(~(right | np.isnan(frequency) if missing else right))) >= 0:
        raise ValueError(
            f"allele_frequency is {frequency[k]} at variants={k}: expected a number in [0, 1], the "
            "frequency of the counted allele; give 0 to leave a variant out"
        )
    return frequency


def _frequency(*blocks: NDArray[np.uint64], layout: Layout) -> NDArray[Any]:
    from genobit.engine.bits.words import count_rows

    counts = [count_rows(np.ascontiguousarray(block)) for block in blocks]
    values = len(layout.planes)
    called = counts[values] if len(counts) > values else np.full(counts[0].shape, layout.bits)
    with np.errstate(invalid="ignore"):
        return sum(counts[:values]) / (called * values)
