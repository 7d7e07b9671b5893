"""Prepare measurements and genotypes for rank correlation: chunks, ranks, missing values."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.bits.layout import CALLED, unpack_bits
from genobit.engine.options import get_options
from genobit.engine.schedule.tiles import ordered
from genobit.kendall.matrix import Variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.kendall.kernels.tiles import TileSpec

TILE_BYTES = 2**25
"""Most bytes of the output arrays of one tile: 32 MiB, because several tiles are in flight."""
MOST_OBSERVATIONS = 2**31
Names = tuple[str, str]
"""Dimension of the variables and dimension of the observations, for error messages."""


def edge(variables: int, wanted: TileSpec) -> int:
    """Return the number of variables per chunk, limited by `get_options` and `TILE_BYTES`."""
    bytes_a_pair = sum(np.dtype(dtype).itemsize for dtype in wanted.dtypes())
    most = min(get_options().edge, math.isqrt(TILE_BYTES // bytes_a_pair))
    # Balance the chunks, so that all tiles have about the same size.
    return max(1, -(-variables // max(1, -(-variables // most))))


def of_values(
    operands: Sequence[da.Array | NDArray[Any]],
    names: Sequence[Names],
    missing: str,
    wanted: TileSpec,
) -> list[Variables]:
    """Return lazy ranks of each operand, one task per chunk; each chunk is ranked once.

    operands: rows and, if they differ, columns, each (variables, observations).

    ``missing`` is a key of `MISSING`; "dropna" drops observations that any variable of either
    operand misses. Raises ValueError for refused missing values, for ties with exact p-values, and
    if no observation is left. The message names the first variable. Missing values in memory are
    refused at once; all other checks run on compute.
    """
    refuse = missing == "refuse" or (missing == "pairwise" and _rule(wanted) == "permutation")
    for values, dims in zip(operands, names, strict=True):
        # Check arrays in memory at once, as a lazy chunk reports only its own first missing value.
        if refuse and isinstance(values, np.ndarray) and values.dtype.kind == "f":
            _refuse_missing(np.isnan(values), dims, 0, missing)
    arrays = [_in_chunks(values, edge(values.shape[0], wanted)) for values in operands]
    keep = None
    if missing == "dropna" and any(array.dtype.kind == "f" for array in arrays):
        floats = [array for array in arrays if array.dtype.kind == "f"]
        keep = ~da.stack([da.isnan(array).any(axis=0) for array in floats]).any(axis=0)
    return [
        Variables([_ranks(array, keep, dims, missing, wanted)])
        for array, dims in zip(arrays, names, strict=True)
    ]


def _in_chunks(values: da.Array | NDArray[Any], rows: int) -> da.Array:
    if isinstance(values, da.Array):
        return values.rechunk((rows, -1))
    return da.from_array(values, chunks=(rows, -1))


def _ranks(
    values: da.Array, keep: da.Array | None, names: Names, missing: str, wanted: TileSpec
) -> da.Array:
    from genobit.kendall.kernels.ranks import WIDE

    observations = values.shape[1]
    if observations >= MOST_OBSERVATIONS:
        msg = (
            f"{observations:,} {names[1]} are more than {MOST_OBSERVATIONS - 1:,}, the most that "
            f"32-bit ranks allow: select some, .isel({names[1]}=slice({MOST_OBSERVATIONS - 1}))"
        )
        raise ValueError(msg)
    dtype = np.uint16 if observations < WIDE else np.uint32
    return da.map_blocks(
        partial(_ranked, names=names, missing=missing, rule=_rule(wanted)),
        values,
        *([] if keep is None else [keep]),
        # The number of kept observations is unknown until the values are computed.
        chunks=(values.chunks[0], (observations if keep is None else np.nan,)),
        dtype=dtype,
        meta=np.empty((0, 0), dtype),
        name=None,
    )


def _rule(wanted: TileSpec) -> str:
    return wanted.rule if "pvalue" in wanted.outputs else "none"


def _ranked(
    values: NDArray[Any],
    keep: NDArray[np.bool_] | None = None,
    *,
    names: Names,
    missing: str,
    rule: str,
    block_info: Any = None,
) -> NDArray[Any]:
    from genobit.kendall.kernels import ranks as dense

    first = block_info[0]["array-location"][0][0]
    if keep is not None:
        _refuse_none_left(keep, keep.size, names[1], "variable")
        values = values[:, keep]
    ranks = dense.ranked(values)
    if missing == "refuse" or rule == "permutation":
        _refuse_missing(ranks == dense.missing(ranks), names, first, missing)
    if rule == "exact":
        _refuse_ties(ranks, names, first)
    return ranks


def _refuse_missing(absent: NDArray[np.bool_], names: Names, first: int, missing: str) -> None:
    """Raise ValueError for the first missing value, if any; row 0 is variable ``first``."""
    if not absent.any():
        return
    row, k = np.argwhere(absent)[0].tolist()
    where = f"the value at {names[0]}={first + row}, {names[1]}={k} is missing"
    if missing == "refuse":
        msg = f"{where} and missing='refuse': use missing='pairwise' or missing='dropna'"
    else:
        msg = (
            f"{where}, and permutations need all values, because each order would remove "
            "others from a pair: use missing='dropna'"
        )
    raise ValueError(msg)


def _refuse_none_left(keep: NDArray[Any], n: int, dim: str, of: str) -> None:
    """Raise ValueError if "dropna" keeps none of n observations; ``of`` names the missing part."""
    if keep.size and not keep.any():
        msg = (
            f"missing='dropna' leaves none of the {n} {dim}: each of them misses a {of}; use "
            f"missing='pairwise', or leave out {of}s that miss many"
        )
        raise ValueError(msg)


def _refuse_ties(ranks: NDArray[Any], names: Names, first: int) -> None:
    from genobit.kendall.kernels.ranks import ties

    tied = np.flatnonzero(ties(ranks).pairs)
    if tied.size:
        msg = (
            f"{names[0]}={first + int(tied[0])} has equal values, and pvalue='exact' needs "
            "variables without ties: use pvalue=True, which is exact where possible, or "
            "pvalue='asymptotic'"
        )
        raise ValueError(msg)


def of_planes(
    operands: Sequence[Mapping[str, da.Array]],
    names: Sequence[Names],
    layout: Layout,
    missing: str,
    wanted: TileSpec,
) -> list[Variables]:
    """Return bit planes of dosages unchanged for genotype tables, or as ranks for other kernels.

    operands: rows and, if they differ, columns, each a mapping of planes (variants, words). All
    have the same ``layout``. Raises ValueError as `of_values` does.
    """
    if wanted.kernel not in {"auto", "table"} or _rule(wanted) in {"permutation", "exact"}:
        values = [dosages(planes, layout) for planes in operands]
        return of_values(values, names, missing, wanted)
    chunked = [
        {name: _in_chunks(plane, edge(plane.shape[0], wanted)) for name, plane in planes.items()}
        for planes in operands
    ]
    with_called = [planes for planes in chunked if CALLED in planes]
    if missing == "refuse":
        for planes, dims in zip(chunked, names, strict=True):
            if CALLED in planes:
                check = partial(_all_called, names=dims, bits=layout.bits)
                planes[CALLED] = _same_blocks(check, planes[CALLED])
    elif missing == "dropna" and with_called:
        keep = [
            da.reduction(
                planes[CALLED], _common, _common, axis=0, dtype=np.uint64, concatenate=True
            )
            for planes in with_called
        ]
        both = keep[0] if len(keep) == 1 else keep[0] & keep[1]
        chunked = [_only(planes, both, names[0][1], layout.bits) for planes in chunked]
    return [Variables(ordered(planes, layout), layout) for planes in chunked]


def _same_blocks(function: Any, *arrays: da.Array) -> da.Array:
    return da.map_blocks(function, *arrays, dtype=np.uint64, meta=np.empty((0, 0), np.uint64))


def _common(called: NDArray[np.uint64], axis: Any = None, keepdims: Any = None) -> Any:
    """Return the observations that all rows have, as one row of bits."""
    return np.bitwise_and.reduce(called, axis=axis[0], keepdims=keepdims)


def _only(
    planes: Mapping[str, da.Array], keep: da.Array, dim: str, bits: int
) -> dict[str, da.Array]:
    """Return the planes with every observation masked that any variant misses."""
    checked = da.map_blocks(partial(_some_left, dim=dim, bits=bits), keep, dtype=np.uint64)
    out = {name: _same_blocks(np.bitwise_and, plane, checked) for name, plane in planes.items()}
    if CALLED not in out:
        out[CALLED] = _same_blocks(_repeated, next(iter(planes.values())), checked)
    return out


def _repeated(plane: NDArray[np.uint64], keep: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(np.broadcast_to(keep, plane.shape))


def _some_left(keep: NDArray[np.uint64], *, dim: str, bits: int) -> NDArray[np.uint64]:
    _refuse_none_left(keep, bits, dim, "variant")
    return keep


def _all_called(
    called: NDArray[np.uint64], *, names: Names, bits: int, block_info: Any = None
) -> NDArray[np.uint64]:
    from genobit.engine.bits.words import count_rows

    lacking = np.flatnonzero(count_rows(called) < bits)
    if lacking.size:
        row = int(lacking[0])
        first = block_info[0]["array-location"][0][0]
        _refuse_missing(unpack_bits(called[row : row + 1], bits) == 0, names, first + row, "refuse")
    return called


def dosages(planes: Mapping[str, da.Array], layout: Layout) -> da.Array:
    """Return the dosages as float32 (variants, samples), NaN where a call is missing."""
    arrays = ordered(planes, layout)
    return da.map_blocks(
        partial(_dosage_block, bits=layout.bits),
        *arrays,
        chunks=(arrays[0].chunks[0], (layout.bits,)),
        dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
    )


def _dosage_block(
    carrier: NDArray[np.uint64],
    hom_alt: NDArray[np.uint64],
    called: NDArray[np.uint64] | None = None,
    *,
    bits: int,
) -> NDArray[np.float32]:
    dosage = unpack_bits(carrier, bits).astype(np.float32) + unpack_bits(hom_alt, bits)
    if called is not None:
        dosage[unpack_bits(called, bits) == 0] = np.nan
    return dosage
