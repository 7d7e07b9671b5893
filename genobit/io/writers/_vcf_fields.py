"""Types of the variables of a VCF Zarr store, as programs that print VCF read them."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import xarray as xr

from genobit.data import labels, model
from genobit.engine.schedule.packing import EXPECTED_CALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_FIXED = {
    model.VARIANT_ALLELE,
    model.VARIANT_CONTIG,
    model.VARIANT_ID,
    model.VARIANT_POSITION,
    "variant_filter",
    "variant_length",
    "variant_quality",
}
"""Variables of the fixed columns of a VCF."""
_NAME = re.compile(r"[A-Za-z_][0-9A-Za-z_.]*")
_LAST_DIMS = ("alleles", "alt_alleles", "genotypes")
_BREAKS = {"INFO": re.compile(r"[\s;]"), "FORMAT": re.compile(r"[\s:]")}
"""What ends a text in a VCF."""
_MISSING_TEXT = "."
_MISSING = {
    2: (0x7C01, 0x7C02),
    4: (0x7F800001, 0x7F800002),
    8: (0x7FF0000000000001, 0x7FF0000000000002),
}
"""Bits of a missing float, and of one that fills a row; any other NaN is the text "nan"."""

_OF_GT = {model.CALL_GENOTYPE, model.CALL_GENOTYPE_PHASED}
"""Variables that the field GT has."""


def typed(name: str, variable: xr.Variable) -> xr.Variable:
    """Return a variable with text as objects, and types that VCF has if it becomes a field.

    Raises TypeError for another type, and ValueError for a name, dimensions, text or numbers that a
    VCF cannot hold.
    """
    first = [dim for dim in (model.VARIANTS, model.SAMPLES) if dim in variable.dims]
    variable = variable.transpose(*first, ...)
    if not variable.dims:
        raise ValueError(
            f"{name} has no dimension, which vcztools cannot read: leave it out, "
            f"ds.drop_vars({name!r})"
        )
    if not isinstance(variable.dtype, np.dtype):
        variable = labels.as_objects(variable, name)
    if variable.dtype.kind in "OSUT":
        variable = xr.Variable(variable.dims, labels.text(variable.values, name), variable.attrs)
    column = _column(name, variable)
    if column:
        _require_field(name, variable, column)
        return _as_field(name, variable, column)
    return xr.Variable(variable.dims, variable.data, variable.attrs)


def _column(name: str, variable: xr.Variable) -> str:
    """Return the column of a VCF that has the values of a variable, INFO or FORMAT, or ""."""
    if name.endswith(("_fill", "_mask")) or name in _FIXED:
        return ""
    calls = {model.VARIANTS, model.SAMPLES} <= {*variable.dims}
    if name.startswith("call_") and calls and name not in _OF_GT:
        return "FORMAT"
    return "INFO" if name.startswith("variant_") and variable.dims[0] == model.VARIANTS else ""


def _require_field(name: str, variable: xr.Variable, column: str) -> None:
    key = name.partition("_")[2]
    along = (model.VARIANTS, model.SAMPLES)[: 1 + (column == "FORMAT")]
    more = variable.dims[len(along) :]
    description = str(variable.attrs.get("description", ""))
    own = f"{column}_{key}_dim"
    remedy = f"or leave it out, ds.drop_vars({name!r})"
    if not _NAME.fullmatch(key):
        msg = f"the name {name!r} has characters that a field of VCF has not: rename it, {remedy}"
    elif variable.dims[: len(along)] != along or len(more) > 1:
        msg = f"{name} has dimensions {variable.dims}, VCF takes {along} and one more: "
        msg += f"rename them, {remedy}"
    elif more and more[0] not in {*_LAST_DIMS, own}:
        msg = f"{name} has the dimension {more[0]!r}, VCF Zarr takes {own!r} or one of "
        msg += f"{_LAST_DIMS}: ds.assign({name}=ds.{name}.rename({more[0]}={own!r})), {remedy}"
    elif '"' in description or len(description.splitlines()) > 1:
        msg = f"the attribute description of {name} has quotes or line breaks: change it, {remedy}"
    else:
        return
    raise ValueError(msg)


def _as_field(name: str, variable: xr.Variable, column: str) -> xr.Variable:
    kind, size = variable.dtype.kind, variable.dtype.itemsize
    if kind == "O":
        texts = variable.values
        for at, text in np.ndenumerate(texts):
            if _BREAKS[column].search(text):
                place = ", ".join(f"{dim}={k}" for dim, k in zip(variable.dims, at, strict=True))
                raise ValueError(
                    f"{name} is {text!r} at {place}, and a text in {column} of a VCF has no "
                    f"white space and no {';' if column == 'INFO' else ':'}: replace it, or leave "
                    f"it out, ds.drop_vars({name!r})"
                )
        if column == "FORMAT":
            lists = texts if texts.ndim > 2 else texts[..., None]
            # "" at the end of a list fills it, as -2 does among integers.
            used = np.logical_or.accumulate(lists[..., ::-1] != "", axis=-1)[..., ::-1]
            used[..., :1] = True
            lists[(lists == "") & used] = _MISSING_TEXT
        return variable
    # A boolean is a flag, which one variant has or has not.
    if kind == "b" and (column == "FORMAT" or variable.ndim > 1):
        return _narrowed(name, variable, np.dtype(np.int8))
    if kind in "iu":
        size = min(4, size * (2 if kind == "u" else 1))
        return _narrowed(name, variable, np.dtype(f"i{size}"))
    if kind == "f" and size <= 8:
        native = variable.dtype.newbyteorder("=")
        return _mapped(variable, with_missing, native)
    if kind == "b":
        return variable
    raise TypeError(
        f"{name} is {variable.dtype}, which VCF has not: give numbers, text or booleans, such as "
        f"ds.assign({name}=ds.{name}.astype(str)), or leave it out, ds.drop_vars({name!r})"
    )


def with_missing(numbers: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return numbers whose NaN are missing values of VCF Zarr, which a VCF has as "."."""
    missing, fill = _MISSING[numbers.dtype.itemsize]
    out = numbers.astype(numbers.dtype.newbyteorder("="))
    bits = out.view(f"u{out.dtype.itemsize}")
    bits[np.isnan(out) & (bits != fill)] = missing
    return out


def _narrowed(name: str, variable: xr.Variable, dtype: np.dtype[Any]) -> xr.Variable:
    """Return integers of a type that VCF has; lazy ones are checked when they are computed."""
    return _mapped(variable, partial(_narrow, to=dtype, name=name, dims=variable.dims), dtype)


def _mapped(
    variable: xr.Variable, change: Callable[..., NDArray[Any]], dtype: np.dtype[Any]
) -> xr.Variable:
    data = variable.data
    if isinstance(data, da.Array):
        found = da.map_blocks(change, data, dtype=dtype, meta=np.empty((0,) * data.ndim, dtype))
    else:
        found = change(np.asarray(data))
    return xr.Variable(variable.dims, found, variable.attrs)


def _narrow(
    block: NDArray[Any], *, to: np.dtype[Any], name: str, dims: Any, block_info: Any = None
) -> NDArray[Any]:
    info = np.iinfo(to)
    wrong = np.argwhere((block < info.min) | (block > info.max))
    if wrong.size:
        spans = block_info[0]["array-location"] if block_info else [(0, 0)] * block.ndim
        at = [f"{d}={k + span[0]}" for d, k, span in zip(dims, wrong[0], spans, strict=True)]
        raise ValueError(
            f"{name} is {block[tuple(wrong[0])]} at {', '.join(at)}, and an integer of a VCF has "
            f"{8 * to.itemsize} bits: ds.assign({name}=ds.{name}.astype('float64')), or leave "
            f"it out, ds.drop_vars({name!r})"
        )
    return block.astype(to, copy=False)


def checked_calls(calls: xr.Variable, counts: NDArray[np.int64]) -> xr.Variable:
    """Return calls (variants, samples, ploidy) as int8, or int16 for more than 127 alleles.

    counts: (variants,), alleles of each. Raises ValueError for an allele that is not named, and for
    a call without a first allele; lazy calls are checked when they are computed.
    """
    limits = np.maximum(counts, 2) - 1
    wide = limits.max(initial=0) > np.iinfo(np.int8).max
    data = calls.chunk().data
    along = [
        da.from_array(values, chunks=(data.chunks[axis],))
        for axis, values in (
            (0, limits),
            (0, np.arange(limits.size)),
            (1, np.arange(data.shape[1])),
        )
    ]
    found = da.blockwise(
        _check_calls,
        "vsh",
        data,
        "vsh",
        *(x for array, index in zip(along, "vvs", strict=True) for x in (array, index)),
        dtype=np.dtype(np.int16 if wide else np.int8),
        meta=np.empty((0, 0, 0), np.int8),
        to=np.dtype(np.int16 if wide else np.int8),
    )
    return xr.Variable(calls.dims, found, calls.attrs)


def _check_calls(
    calls: NDArray[Any],
    limits: NDArray[np.int64],
    variants: NDArray[np.int64],
    samples: NDArray[np.int64],
    to: np.dtype[Any],
) -> NDArray[Any]:
    # Most chunks pass this test, which takes two passes.
    if calls.min(initial=0) >= -1 and (calls.max(axis=(1, 2), initial=0) <= limits).all():
        return calls.astype(to, copy=False)
    unknown = calls > limits[:, None, None]
    wrong = np.argwhere(unknown | (calls < -2) | (calls[:, :, :1] == -2))
    if wrong.size:
        v, s, h = wrong[0]
        place = (
            f"{model.CALL_GENOTYPE} is {'/'.join(map(str, calls[v, s]))} at "
            f"variants={variants[v]}, samples={samples[s]}"
        )
        if unknown[v, s, h]:
            raise ValueError(f"{place}, and variant_allele names alleles 0..{limits[v]} there")
        raise ValueError(f"{place}: {EXPECTED_CALL}")
    return calls.astype(to, copy=False)
