"""Instructions of the matrix unit of a CPU (Intel AMX), and what its twin needs on any CPU.

A tile register holds 16 rows of 64 bytes. ``multiply_tiles(c, a, b)`` adds 16 x 16 sums of 64
products of signed bytes to tile c, as int32. Row i of tile a holds the 64 bytes of row i of A. Row
q of tile b holds bytes 4q to 4q + 3 of each of the 16 columns of B.

=========================================  ==================================================
``configure(shapes)``                        load the shapes of the tiles, for this thread
``release()``                                return the tile registers to their initial state
``zero_tile(t)``                             set tile t to zero
``load_tile(t, array, i, step)``             tile t = 16 rows from ``array[i]``, ``step`` apart
``stream_tile(t, array, i, step)``           the same, of rows that need not stay in the cache
``store_tile(t, array, i, step)``            write tile t to 16 rows from ``array[i]``
``multiply_tiles(c, a, b)``                  tile c += tile a x tile b
``spread(mask, sign)``                       64 bytes: -1 where mask and sign, 1 where mask, else 0
``choose_octets(bits, a, b)``                byte k of ``a`` where bit k is set, else of ``b``
``add_quads(total, a, b)``                   add products of four adjacent bytes to each int32 lane
=========================================  ==================================================

The tile instructions have literal tile numbers, and they compile only if ``host().tiles``. They
have no twins: `genobit.engine.gemm.matrix_unit` has a twin of the whole product, which uses
``add_quads``.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from genobit.engine.simd import plain_lanes
from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import BOUNDS_CHECKED, COMPILED, instruction
from genobit.engine.simd.vector import (
    Vec,
    address,
    bitcast,
    by_values,
    called,
    loader,
    shuffled,
    splat,
    zeros,
)

TILE_ROWS = 16
TILE_BYTES = 64
"""Bytes in a row of a tile."""

octets = Vec(types.int8, TILE_BYTES)
sums = Vec(types.int32, TILE_ROWS)
load_row = loader(octets)
load_sums = loader(sums)
zero_sums = zeros(sums)
zero_octets = zeros(octets)
as_octets = bitcast(octets)
splat_quad = splat(Vec(types.uint32, TILE_ROWS))

_ARCH_PRCTL, _REQUEST, _TILES = 158, 0x1023, 18
"""Linux: the system call, ARCH_REQ_XCOMP_PERM, and XTILEDATA."""
_BYTE, _ROW = ir.IntType(8), ir.VectorType(ir.IntType(8), TILE_BYTES)
_POINTER = _BYTE.as_pointer()


@functools.cache
def permitted() -> bool:
    """Return whether kernels are compiled for the matrix unit and Linux lets this process use it.

    Linux permits it once a process. Threads and forked children inherit the permission; spawned
    processes ask again.
    """
    if not (COMPILED and host().tiles):
        return False
    if platform.machine() != "x86_64" or sys.platform != "linux":
        return False
    numbers = map(ctypes.c_long, (_ARCH_PRCTL, _REQUEST, _TILES))
    return bool(ctypes.CDLL(None).syscall(*numbers) == 0)


def tile_shapes() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the argument of `configure`: eight tiles of 16 rows of 64 bytes."""
    shapes = np.zeros(64, np.uint8)
    shapes[0] = 1  # the palette
    shapes[16:32].view(np.uint16)[:] = TILE_BYTES
    shapes[48:56] = TILE_ROWS
    return shapes


def _emit(builder: Any, name: str, *arguments: Any) -> None:
    called(builder, f"llvm.x86.{name}", ir.VoidType(), *arguments)


def _number(tile: Any) -> Any:
    return ir.Constant(_BYTE, tile.literal_value)


@intrinsic  # type: ignore[untyped-decorator]
def configure(typing: Any, shapes: Any) -> Any:
    """Load the shapes of the tiles; `release` follows the last tile."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = ir.Constant(ir.IntType(64), 0)
        place = address(context, builder, shapes, arguments[0], start, _ROW)
        _emit(builder, "ldtilecfg", builder.bitcast(place, _POINTER))
        return context.get_dummy_value()

    return types.void(shapes), generate


@intrinsic  # type: ignore[untyped-decorator]
def release(typing: Any) -> Any:
    """Return the tiles to their initial state, so that Linux need not save them."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit(builder, "tilerelease")
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def zero_tile(typing: Any, tile: Any) -> Any:
    """Set a tile to zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit(builder, "tilezero", _number(tile))
        return context.get_dummy_value()

    return types.void(tile), generate


def _move(name: str) -> Any:
    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def move(typing: Any, tile: Any, array: Any, index: Any, step: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _, value, first, apart = arguments
            place = address(context, builder, array, value, first, _ROW)
            if BOUNDS_CHECKED:
                last = builder.add(first, builder.mul(apart, apart.type(TILE_ROWS - 1)))
                address(context, builder, array, value, last, _ROW)
            stride = builder.mul(apart, apart.type(array.dtype.bitwidth // 8))
            _emit(builder, name, _number(tile), builder.bitcast(place, _POINTER), stride)
            return context.get_dummy_value()

        return types.void(tile, array, types.intp, types.intp), generate

    return move


load_tile, stream_tile = _move("tileloadd64"), _move("tileloaddt164")
store_tile = _move("tilestored64")


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def multiply_tiles(typing: Any, c: Any, a: Any, b: Any) -> Any:
    """Add the product of tiles a and b, of signed bytes, to tile c."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit(builder, "tdpbssd", *map(_number, (c, a, b)))
        return context.get_dummy_value()

    return types.void(c, a, b), generate


@instruction(plain_lanes.spread)
def spread(typing: Any, mask: Any, sign: Any) -> Any:
    """Return 64 bytes from two words: -1 where mask and sign, 1 where only mask, else 0."""
    flags = ir.VectorType(ir.IntType(1), TILE_BYTES)

    def lower(builder: Any, mask: Any, sign: Any) -> Any:
        ones = builder.zext(builder.bitcast(mask, flags), octets.vector)
        minus = builder.sext(builder.bitcast(builder.and_(mask, sign), flags), octets.vector)
        return builder.or_(ones, minus)

    return octets(types.uint64, types.uint64), by_values(lower)


@instruction(plain_lanes.choose_octets)
def choose_octets(typing: Any, bits: Any, a: Any, b: Any) -> Any:
    """Return byte k of ``a`` where bit k of the word is set, else of ``b``."""
    flags = ir.VectorType(ir.IntType(1), TILE_BYTES)

    def lower(builder: Any, bits: Any, a: Any, b: Any) -> Any:
        return builder.select(builder.bitcast(bits, flags), a, b)

    return octets(types.uint64, octets, octets), by_values(lower)


@instruction(plain_lanes.add_quads)
def add_quads(typing: Any, total: Any, a: Any, b: Any) -> Any:
    """Add to each int32 lane the products of its four signed bytes of a and b."""

    def lower(builder: Any, total: Any, a: Any, b: Any) -> Any:
        words = ir.VectorType(ir.IntType(32), TILE_BYTES)
        products = builder.mul(builder.sext(a, words), builder.sext(b, words))
        for k in range(4):
            part = shuffled(builder, products, products, range(k, TILE_BYTES, 4))
            total = builder.add(total, part)
        return total

    return sums(sums, octets, octets), by_values(lower)
