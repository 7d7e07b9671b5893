"""Unpack bit planes to lazy calls, which writers store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import xarray as xr

from genobit.data import model, packed
from genobit.engine.bits.layout import PREFIX, Layout, unpack_bits
from genobit.engine.schedule.tiles import as_rows, joined, ordered

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unpacked(ds: xr.Dataset) -> xr.Dataset:
    """Return planes as lazy calls: a heterozygous dosage is (0, 1), haplotypes are phased.

    Planes do not tell a missing allele from the end of a haploid call: both are -1.
    """
    ds, layout, planes = packed.by_variants(ds, phased=None)
    arrays = [plane.rechunk({1: -1}) for plane in ordered(planes, layout)]
    ploidy = 2 if layout.kind == "dosage" else layout.ploidy
    calls = da.blockwise(
        _calls_of,
        "vsh",
        *[x for array in arrays for x in (array, "vw")],
        new_axes={"s": layout.bits // layout.ploidy, "h": ploidy},
        dtype=np.int8,
        meta=np.empty((0, 0, 0), np.int8),
        layout=layout,
    )
    dims = (model.VARIANTS, model.SAMPLES, model.PLOIDY)
    attributes = {model.COUNTED_ALLELE: ds.attrs[model.COUNTED_ALLELE]}
    variables = {model.CALL_GENOTYPE: xr.Variable(dims, calls, attributes)}
    if layout.kind == "haplotype":
        phased = da.ones(calls.shape[:2], dtype=bool, chunks=calls.chunks[:2])
        variables[model.CALL_GENOTYPE_PHASED] = xr.Variable(dims[:2], phased)
    marks = [model.WORD, *model.BIT.values(), *(PREFIX + name for name in planes)]
    return ds.drop_vars([name for name in marks if name in ds.variables]).assign(variables)


def _calls_of(*blocks: Any, layout: Layout) -> NDArray[np.int8]:
    rows = as_rows([joined(block) for block in blocks], layout)
    called = unpack_bits(rows.call_mask(), layout.bits)
    found = [unpack_bits(plane, layout.bits) for plane in rows.planes]
    if layout.kind == "dosage":
        carrier, hom_alt = found
        found, called = [np.stack([hom_alt, carrier], axis=2)], called[:, :, None]
    calls = np.where(called, found[0], 255).view(np.int8)
    ploidy = 2 if layout.kind == "dosage" else layout.ploidy
    return calls.reshape(calls.shape[0], -1, ploidy)
