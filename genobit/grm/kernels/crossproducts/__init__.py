"""Kernels of M M' of dosages M (samples x variants): six published methods and two of our own.

Schlather (2020), "Efficient calculation of the genomic relationship matrix", bioRxiv
2020.01.12.903146, compares six methods to sum products of genotypes 0, 1, 2 without unpacking them.
Its R package is miraculix. Each method has a module here, written from the published description
with our own bit planes, SIMD values and tables. The module states its coding, its identity and its
operation count. All kernels take `PlaneRows` without missing calls and return the same integers.
May import: the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.transpose import mirror
from genobit.engine.bits.words import count_rows
from genobit.engine.simd.cpu import host
from genobit.engine.spelling import did_you_mean
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

    from genobit.engine.bits.planes import PlaneRows

SLAB = 224
"""Words of a plane coded at a time: 14,336 variants, 3.5 to 7 KiB a sample."""
TILE = 32
"""Samples in a tile; their codes, 112 to 224 KiB, stay in the L2 cache."""


class _Method(NamedTuple):
    """Coding and multiplication of a published method."""

    code_rows: Callable[..., NDArray[Any]]
    """carrier, hom_alt: (rows, words); returns codes (rows, units)."""
    code_columns: Callable[..., NDArray[Any]]
    """Codes of the second factor; only hamming codes the two factors differently."""
    multiply: Callable[..., None]
    """codes: (m, units), (n, units); a diagonal; adds sums of products to counts (m, n)."""


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


def crossproduct(kernel: str, a: PlaneRows, b: PlaneRows | None = None) -> NDArray[np.int64]:
    """Return sums over variants of dosage products, (rows of a, rows of b) int64, exact.

    ``kernel`` is one of `KERNELS`, or "auto" for the engine's ternary product, the fastest here.
    Without ``b``, ``a`` is multiplied by itself. Raises ValueError for an unknown kernel, a kernel
    that this CPU cannot run, or missing calls.
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
    """Raise ValueError for an unknown kernel or one that this CPU has no instruction for."""
    if kernel not in {"auto", *KERNELS}:
        known = ("auto", *KERNELS)
        msg = f"kernel={kernel!r} is not one of {', '.join(map(repr, known))}"
        msg += did_you_mean(kernel, known)
        raise ValueError(msg)
    if kernel == "shuffle" and not host().byte_lanes:
        msg = (
            "kernel='shuffle' needs a CPU with a byte lookup (SSSE3, AVX2, NEON): this CPU has "
            "none, use 'packed' or 'auto'"
        )
        raise ValueError(msg)


def _refuse_missing(rows: PlaneRows) -> None:
    if rows.complete():
        return
    called = count_rows(rows.call_mask())
    k = int((called < rows.bits).argmax())
    msg = (
        f"samples[{k}] of a tile misses {rows.bits - called[k]} of {rows.bits} calls in "
        "plane_called: crossproduct() multiplies dosages as they are and needs all of them; "
        "use ds.genobit.grm(missing=...), which says how missing calls count, or select complete "
        "variants with ds.genobit.isel"
    )
    raise ValueError(msg)


def _by_pairs(method: _Method, a: PlaneRows, b: PlaneRows | None) -> NDArray[np.int64]:
    """Return all products, by slabs of variants and tiles of samples that stay in cache."""
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
            # Without b, a row starts at its diagonal column; with b, every row takes all columns.
            diagonal = -left if b is None else -m
            method.multiply(rows[:bottom], columns[left : left + TILE], diagonal, tile)
    if b is None:
        mirror(counts, 0, 0, counts)
    return counts


def _slab(rows: PlaneRows, words: slice) -> tuple[NDArray[np.uint64], ...]:
    return tuple(np.ascontiguousarray(plane[:, words]) for plane in rows.planes)
