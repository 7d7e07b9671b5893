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


class _Lanes:
    """Immutable lanes of one type."""

    __slots__ = ("lanes",)

    def __init__(self, lanes: NDArray[Any]) -> None:
        self.lanes = lanes

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.lanes.dtype} x {self.lanes.size})"


def _by_lane(operation: Callable[[Any, Any], Any]) -> Any:
    def operate(a: Any, b: Any) -> Any:
        x, y = a.lanes, getattr(b, "lanes", None)
        if y is None or x.dtype != y.dtype or x.size != y.size:
            msg = f"lanes are of two kinds: {a!r} and {b!r}"
            raise TypeError(msg)
        return type(a)(operation(x, y))

    return operate


class Register(_Lanes):
    """Lanes of unsigned integers that wrap; instructions interpret them as signed."""

    __slots__ = ()
    __and__, __or__, __xor__ = map(_by_lane, (operator.and_, operator.or_, operator.xor))
    __add__, __sub__ = map(_by_lane, (operator.add, operator.sub))


class FloatRegister(_Lanes):
    """Lanes of float32; each operation is rounded once."""

    __slots__ = ()
    __add__, __sub__ = map(_by_lane, (operator.add, operator.sub))
    __mul__, __truediv__ = map(_by_lane, (operator.mul, operator.truediv))


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


def loader(bits: int, count: int) -> Callable[[Any, int], Register]:
    """Return a function that loads ``count`` lanes of ``bits`` bits from ``array[index]``."""
    kind = np.dtype(f"u{bits // 8}")
    return lambda array, index: Register(octets_at(array, index, kind, count).copy())


def store(array: Any, index: int, value: _Lanes) -> None:
    """Store all lanes from ``array[index]``."""
    octets_at(array, index, value.lanes.dtype, value.lanes.size)[:] = value.lanes


def zero(bits: int, count: int) -> Callable[[], Register]:
    """Return a function that makes ``count`` zero lanes of ``bits`` bits."""
    return lambda: Register(np.zeros(count, f"u{bits // 8}"))


def borrowed(array: Any) -> Any:
    """Return the array; raise TypeError unless it is one-dimensional and contiguous."""
    if array.ndim != 1 or not array.flags.c_contiguous:
        msg = f"borrowed() takes arrays of one dimension without gaps, not of {array.shape}"
        raise TypeError(msg)
    return array


def wrapped(array: Any, value: Any) -> Any:
    """Return the low bits of a number as an element of the array's type."""
    return word(value).astype(array.dtype)


def load_octets(array: Any, index: int) -> np.uint64:
    """Return eight bytes as a word."""
    return np.uint64(octets_at(array, index, np.uint64, 1)[0])


def next_16(value: Any) -> np.uint64:
    """``value >> 16``."""
    return word(value) >> np.uint64(16)


def bytes_of_bits(count: int) -> Callable[[Any], Register]:
    """Return a function that makes a register of ``count`` bytes from as many bits."""
    bits = np.arange(count, dtype=np.uint64)

    def twin(value: Any) -> Register:
        return Register((word(value) >> bits & np.uint64(1)).astype(np.uint8) * np.uint8(255))

    return twin


def broadcast(count: int) -> Callable[[Any], Register]:
    """Return a function that puts a word into each of ``count`` lanes."""
    return lambda value: Register(np.full(count, word(value)))


def andnot(a: Register, b: Register) -> Register:
    """``a & ~b``."""
    return a & Register(~b.lanes)


def popcount(a: Any) -> Any:
    """Return the number of set bits in each lane, or in a word."""
    if isinstance(a, Register):
        return Register(np.bitwise_count(a.lanes).astype(a.lanes.dtype))
    return np.uint64(word(a).bit_count())


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


def sum_words(a: Register) -> int:
    """Return the sum of all lanes of words."""
    return int(a.lanes.sum(dtype=np.uint64).view(np.int64))


def add_words(array: Any, index: int, value: Register) -> None:
    """Add the lanes to an array, with wrapping at the array's width."""
    kind = f"u{array.itemsize}"
    octets_at(array, index, kind, value.lanes.size)[:] += value.lanes.astype(kind)


def write_words(array: Any, index: int, value: Register) -> None:
    """Write the low bits of each lane to an array, at the array's width."""
    kind = f"u{array.itemsize}"
    octets_at(array, index, kind, value.lanes.size)[:] = value.lanes.astype(kind)


def add_bytes(array: Any, index: int, value: Register) -> None:
    """Add bytes to as many 16-bit integers: even bytes to the first half, odd to the second."""
    into = octets_at(array, index, np.uint16, value.lanes.size)
    into += np.concatenate([value.lanes[::2], value.lanes[1::2]])
