"""M M' of dosages M (samples x variants) by the multiplications that have been published, and ours.

Schlather (2020), "Efficient calculation of the genomic relationship matrix", bioRxiv
2020.01.12.903146, with the R package miraculix, compares six ways to add up products of genotypes
0, 1, 2 without unpacking them. Each is a module here, written from its description with our own
bit planes, SIMD values and tables, and states its coding, its identity and its operations. They
give the same integers; `Rows` without missing calls go in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.engine.bits.words import count_rows
from genobit.engine.simd.cpu import host
from genobit.grm.kernels.crossproducts import (
    hamming,
    multiply,
    packed,
    popcount,
    shuffle,
    threebit,
    twobit,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from genobit.engine.bits.planes import Rows

SLAB = 224
"""Words of a plane that are coded at a time: 14,336 variants, 3.5 to 7 KiB a sample."""
TILE = 32
"""Samples whose codes, 112 to 224 KiB, stay in the second-level cache while others meet them."""


class _Method(NamedTuple):
    """How a published method codes genotypes and multiplies two samples."""

    code_rows: Callable[..., NDArray[Any]]
    """carrier, hom_alt (rows, words) -> codes (rows, units)."""
    code_columns: Callable[..., NDArray[Any]]
    """The same of the other factor; hamming codes the two differently."""
    multiply: Callable[..., None]
    """Codes (m, units), (n, units), a diagonal, counts (m, n) += products summed over units."""


_METHODS = {
    "multiply": _Method(multiply.code, multiply.code, multiply.multiply),
    "hamming": _Method(hamming.code_rows, hamming.code_columns, hamming.multiply),
    "threebit": _Method(threebit.code, threebit.code, threebit.multiply),
    "twobit": _Method(twobit.code, twobit.code, twobit.multiply),
    "shuffle": _Method(shuffle.code, shuffle.code, shuffle.multiply),
    "packed": _Method(packed.code, packed.code, packed.multiply),
}
PUBLISHED = tuple(_METHODS)
KERNELS = (*PUBLISHED, "popcount")


def crossproduct(kernel: str, a: Rows, b: Rows | None = None) -> NDArray[np.int64]:
    """Sums over variants of products of dosages, for every row of a with every row of b.

    Parameters
    ----------
    kernel
        One of `KERNELS`, or "auto": the ternary product of the engine, the fastest here.
    a, b
        Samples (rows) of the same variants (bits); without ``b``, ``a`` with itself.

    Returns
    -------
        int64 (rows of a, rows of b), exact.

    Raises
    ------
    ValueError
        For an unknown kernel, one this CPU cannot run, or missing calls.
    """
    check_kernel(kernel)
    for rows in (a,) if b is None else (a, b):
        _refuse_missing(rows)
    if kernel == "auto":
        return popcount.by_ternary(a, b)
    if kernel == "popcount":
        return popcount.by_and(a, b)
    return _by_pairs(_METHODS[kernel], a, b)


def check_kernel(kernel: str) -> None:
    """Refuse a kernel that does not exist, or that this CPU has no instruction for.

    Raises
    ------
    ValueError
        For either.
    """
    if kernel not in {"auto", *KERNELS}:
        msg = f"kernel={kernel!r} is not one of 'auto', {', '.join(map(repr, KERNELS))}"
        raise ValueError(msg)
    if kernel == "shuffle" and not host().byte_lanes:
        msg = (
            "kernel='shuffle' needs a CPU with a byte lookup (SSSE3, AVX2, NEON): this CPU has "
            "none, use 'packed' or 'auto'"
        )
        raise ValueError(msg)


def _refuse_missing(rows: Rows) -> None:
    if rows.complete():
        return
    called = count_rows(rows.every())
    k = int((called < rows.bits).argmax())
    msg = (
        f"samples[{k}] of a tile misses {rows.bits - called[k]} of {rows.bits} calls in "
        "plane_called: crossproduct() multiplies dosages as they are and needs all of them; "
        "use ds.genobit.grm(missing=...), which says how missing calls count, or select complete "
        "variants with ds.genobit.isel"
    )
    raise ValueError(msg)


def _by_pairs(method: _Method, a: Rows, b: Rows | None) -> NDArray[np.int64]:
    """Slabs of variants; of each, tiles of samples that stay in cache."""
    other = a if b is None else b
    m, n = a.planes[0].shape[0], other.planes[0].shape[0]
    counts = np.zeros((m, n), np.int64)
    for start in range(0, a.planes[0].shape[1], SLAB):
        words = slice(start, start + SLAB)
        rows = method.code_rows(*_slab(a, words))
        columns = method.code_columns(*_slab(other, words))
        for left in range(0, n, TILE):
            bottom = m if b is not None else min(m, left + TILE)
            tile = counts[:bottom, left : left + TILE]
            # On and above the diagonal row == left + column, or everything.
            diagonal = -left if b is None else -m
            method.multiply(rows[:bottom], columns[left : left + TILE], diagonal, tile)
    if b is None:
        mirror(counts, 0, 0, counts)
    return counts


def _slab(rows: Rows, words: slice) -> tuple[NDArray[np.uint64], ...]:
    return tuple(np.ascontiguousarray(plane[:, words]) for plane in rows.planes)
