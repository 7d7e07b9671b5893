"""Registers without compilation: numpy twins of the SIMD instructions.

A twin runs in place of its instruction without compilation, and tests compare the two. A register
is a value: ``a += b`` makes another. Loads and stores past the ends of an array raise IndexError.

May import: numpy and the standard library.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray


def _by_lane(operation: Callable[[Any, Any], Any], kinds: str = "iuf") -> Any:
    def operate(a: Register, b: Any) -> Register:
        x, y = a.lanes, getattr(b, "lanes", None)
        if y is None or x.dtype != y.dtype or x.size != y.size or x.dtype.kind not in kinds:
            msg = f"{operation.__name__} is not of {a!r} and {b!r}"
            raise TypeError(msg)
        return Register(operation(x, y))

    return operate


class Register:
    """Immutable lanes of one type. Integers wrap; each operation of floats is rounded once."""

    __slots__ = ("lanes",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, lanes: NDArray[Any]) -> None:
        self.lanes = lanes

    def __repr__(self) -> str:
        """Show type and count."""
        return f"{type(self).__name__}({self.lanes.dtype} x {self.lanes.size})"

    __and__ = _by_lane(operator.and_, "iu")
    __or__ = _by_lane(operator.or_, "iu")
    __xor__ = _by_lane(operator.xor, "iu")
    __add__, __sub__ = map(_by_lane, (operator.add, operator.sub))
    __mul__, __truediv__ = _by_lane(operator.mul, "f"), _by_lane(operator.truediv, "f")
    __eq__, __lt__ = map(_by_lane, (operator.eq, operator.lt))
    __gt__, __ge__ = map(_by_lane, (operator.gt, operator.ge))


def flattened(array: NDArray[Any]) -> NDArray[Any]:
    """View a C-contiguous array in one dimension."""
    return array.reshape(-1)


def octets_at(array: Any, index: int, dtype: DTypeLike, count: int) -> NDArray[Any]:
    """View the memory from ``array[index]`` as ``count`` numbers of ``dtype``, without a copy."""
    kind = np.dtype(dtype)
    start = int(index) * array.itemsize
    if start < 0 or start + count * kind.itemsize > array.nbytes:
        msg = f"{count} of {kind} from element {index} are not within {array.size} of {array.dtype}"
        raise IndexError(msg)
    return np.frombuffer(array, kind, count, start)


def word(value: Any) -> np.uint64:
    """Return an integer as numba passes it for a word: its low 64 bits."""
    return np.uint64(int(value) & 0xFFFF_FFFF_FFFF_FFFF)


def loader(dtype: DTypeLike | None, count: int) -> Callable[[Any, int], Register]:
    """Return a function that loads lanes of a type, or of the array's own, at an index."""

    def twin(array: Any, index: int) -> Register:
        return Register(octets_at(array, index, dtype or array.dtype, count).copy())

    return twin


def store(array: Any, index: int, value: Register) -> None:
    """Store all lanes from ``array[index]``, in the array's type."""
    octets_at(array, index, array.dtype, value.lanes.size)[:] = value.lanes


def add_to(array: Any, index: int, value: Register) -> None:
    """Add the lanes to an array, with wrapping at the array's width."""
    into = octets_at(array, index, array.dtype, value.lanes.size)
    into += value.lanes.astype(array.dtype)


def zeros(dtype: DTypeLike, count: int) -> Callable[[], Register]:
    """Return a function that makes zero lanes."""
    return lambda: Register(np.zeros(count, dtype))


def _full(value: Any, dtype: np.dtype[Any], count: int) -> Register:
    number = value if dtype.kind == "f" else word(value)
    return Register(np.full(count, number).astype(dtype))


def splat(dtype: np.dtype[Any], count: int) -> Callable[[Any], Register]:
    """Return a function that puts a number into each lane."""
    return lambda value: _full(value, dtype, count)


def splat_as(count: int) -> Callable[[Any, Any], Register]:
    """Return a function that puts a number into each lane of an array's type."""
    return lambda array, value: _full(value, array.dtype, count)


def bitcast(dtype: DTypeLike) -> Callable[[Register], Register]:
    """Return a function that views the bits of lanes as another type."""
    return lambda a: Register(a.lanes.view(dtype))


def lanes_of(array: Any, a: Register) -> Register:
    """Return the bits of lanes as the array's type."""
    return Register(a.lanes.view(array.dtype))


def converted(dtype: DTypeLike) -> Callable[[Register], Register]:
    """Return a function that converts lanes to another type."""
    return lambda a: Register(a.lanes.astype(dtype))


def filled(dtype: np.dtype[Any]) -> Callable[[Register], Register]:
    """Return a function that makes lanes of all ones where a mask is set, else of zeros."""
    return lambda mask: Register(dtype.type(0) - mask.lanes.astype(dtype))


def unowned(array: Any) -> Any:
    """Return the array; raise TypeError unless it is one-dimensional and contiguous."""
    if array.ndim != 1 or not array.flags.c_contiguous:
        msg = f"unowned() takes arrays of one dimension without gaps, not of {array.shape}"
        raise TypeError(msg)
    return array


def truncate_to(array: Any, value: Any) -> Any:
    """Return the low bits of a number as an element of the array's type."""
    return word(value).astype(array.dtype)


def load_octets(array: Any, index: int) -> np.uint64:
    """Return eight bytes as a word."""
    return np.uint64(octets_at(array, index, np.uint64, 1)[0])


def next_16(value: Any) -> np.uint64:
    """Return ``value >> 16``."""
    return word(value) >> np.uint64(16)


def bytes_of_bits(count: int) -> Callable[[Any], Register]:
    """Return a function that makes a register of ``count`` bytes from as many bits."""
    bits = np.arange(count, dtype=np.uint64)

    def twin(value: Any) -> Register:
        return Register((word(value) >> bits & np.uint64(1)).astype(np.uint8) * np.uint8(255))

    return twin


def andnot(a: Register, b: Register) -> Register:
    """Return ``a & ~b``."""
    return a & Register(~b.lanes)


def popcount(a: Any) -> Any:
    """Return the number of set bits in each lane, or in a word."""
    if isinstance(a, Register):
        return Register(np.bitwise_count(a.lanes).astype(a.lanes.dtype))
    return np.uint64(word(a).bit_count())


def reduce_add(a: Register) -> int:
    """Return the sum of all lanes as an int64."""
    return int(a.lanes.sum(dtype=f"{a.lanes.dtype.kind}8").view(np.int64))


def multiply_add(a: Register, b: Register, c: Register) -> Register:
    """Return ``a * b + c``, rounded twice."""
    return a * b + c


def absolute(a: Register) -> Register:
    """Return the absolute value of each lane."""
    return Register(np.abs(a.lanes))


def bits_of(mask: Register) -> np.uint64:
    """Return a word with the flags of a mask as its bits."""
    return word(sum(1 << k for k in np.flatnonzero(mask.lanes).tolist()))


def choose(bits: int, chosen: Register, other: Register) -> Register:
    """Return lane k of the first register where bit k is set, else of the second."""
    set_ = [int(bits) >> k & 1 for k in range(chosen.lanes.size)]
    return Register(np.where(set_, chosen.lanes, other.lanes))


def load_table(count: int) -> Callable[[Any, Any, int], Register]:
    """Return a function that repeats 16 bytes over a register of ``count`` bytes."""

    def twin(tables: Any, offsets: Any, index: int) -> Register:
        offset = int(octets_at(offsets, index, np.uint8, 1)[0])
        return Register(np.tile(octets_at(tables, offset, np.uint8, 16), count // 16))

    return twin


def lookup(table: Register, index: Register) -> Register:
    """Look up each byte in the 16 table bytes of its own group of 16."""
    if index.lanes.size and index.lanes.max() > 15:
        msg = (
            f"byte {int(np.argmax(index.lanes > 15))} of a lookup is {index.lanes.max()}, not 0..15"
        )
        raise IndexError(msg)
    first = np.arange(index.lanes.size) // 16 * 16
    return Register(table.lanes[first + index.lanes])


def add_bytes(array: Any, index: int, value: Register) -> None:
    """Add bytes to as many 16-bit integers: even bytes to the first half, odd to the second."""
    into = octets_at(array, index, np.uint16, value.lanes.size)
    into += np.concatenate([value.lanes[::2], value.lanes[1::2]])


def multiply_pairs(a: Register, b: Register) -> Register:
    """Return products of the 16-bit lanes of two registers of bytes, neighbours added."""
    x, y = (v.lanes.view(np.int16).astype(np.int32) for v in (a, b))
    return Register((x * y).reshape(-1, 2).sum(axis=1, dtype=np.int32).view(np.uint32))


def spread(mask: Any, sign: Any) -> Register:
    """Return 64 bytes: -1 where mask and sign are set, 1 where only mask is, else 0."""
    bits = np.arange(64, dtype=np.uint64)
    ones, minus = ((word(x) >> bits & np.uint64(1)).astype(np.int8) for x in (mask, sign))
    return Register(ones - np.int8(2) * (ones & minus))


def choose_octets(bits: Any, a: Register, b: Register) -> Register:
    """Return byte k of ``a`` where bit k of the word is set, else of ``b``."""
    chosen = word(bits) >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    return Register(np.where(chosen == 1, a.lanes, b.lanes))


def add_quads(total: Register, a: Register, b: Register) -> Register:
    """Add the products of four adjacent signed bytes to each lane."""
    products = a.lanes.astype(np.int32) * b.lanes
    return Register(total.lanes + products.reshape(-1, 4).sum(axis=1, dtype=np.int32))
