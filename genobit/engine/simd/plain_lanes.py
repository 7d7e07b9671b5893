"""Registers without compilation: what `simd` and the instructions of kernels do, by numpy.

May import: numpy and the standard library.

Each instruction has such a twin, which runs in its place without compilation and which tests
compare it with. A register is a value: ``a += b`` makes another. Loads and stores past the ends of
an array are an `IndexError`.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray


class _Lanes:
    """Numbers of one type, which no operation changes: it makes new ones."""

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
    """Lanes of unsigned integers, which wrap; a sign is what an instruction makes of them."""

    __slots__ = ()
    __and__, __or__, __xor__ = map(_by_lane, (operator.and_, operator.or_, operator.xor))
    __add__, __sub__ = map(_by_lane, (operator.add, operator.sub))


class FloatRegister(_Lanes):
    """Lanes of float32, each operation rounded once."""

    __slots__ = ()
    __add__, __sub__ = map(_by_lane, (operator.add, operator.sub))
    __mul__, __truediv__ = map(_by_lane, (operator.mul, operator.truediv))


def octets_at(array: Any, index: int, dtype: DTypeLike, count: int) -> NDArray[Any]:
    """The memory from ``array[index]`` on as ``count`` numbers of a type, without a copy."""
    kind = np.dtype(dtype)
    start = int(index) * array.itemsize
    if start < 0 or start + count * kind.itemsize > array.nbytes:
        msg = f"{count} of {kind} from element {index} are not within {array.size} of {array.dtype}"
        raise IndexError(msg)
    return np.frombuffer(array, kind, count, start)


def word(value: Any) -> np.uint64:
    """A whole number as numba hands it over for a word: its low 64 bits."""
    return np.uint64(int(value) & 0xFFFF_FFFF_FFFF_FFFF)


def loader(bits: int, count: int) -> Callable[[Any, int], Register]:
    """What loads that many lanes of so many bits from ``array[index]``."""
    kind = np.dtype(f"u{bits // 8}")
    return lambda array, index: Register(octets_at(array, index, kind, count).copy())


def store(array: Any, index: int, value: _Lanes) -> None:
    """All lanes to ``array[index]`` and what follows."""
    octets_at(array, index, value.lanes.dtype, value.lanes.size)[:] = value.lanes


def zero(bits: int, count: int) -> Callable[[], Register]:
    """What makes that many lanes of so many bits, all zero."""
    return lambda: Register(np.zeros(count, f"u{bits // 8}"))


def borrowed(array: Any) -> Any:
    """The array itself, as long as it has one dimension and no gaps."""
    if array.ndim != 1 or not array.flags.c_contiguous:
        msg = f"borrowed() takes arrays of one dimension without gaps, not of {array.shape}"
        raise TypeError(msg)
    return array


def wrapped(array: Any, value: Any) -> Any:
    """The low bits of a number, as many as an element of the array has."""
    return word(value).astype(array.dtype)


def load_octets(array: Any, index: int) -> np.uint64:
    """Eight bytes as a word."""
    return np.uint64(octets_at(array, index, np.uint64, 1)[0])


def next_16(value: Any) -> np.uint64:
    """``value >> 16``."""
    return word(value) >> np.uint64(16)


def bytes_of_bits(count: int) -> Callable[[Any], Register]:
    """What makes a register of so many bytes of as many bits."""
    bits = np.arange(count, dtype=np.uint64)

    def twin(value: Any) -> Register:
        return Register((word(value) >> bits & np.uint64(1)).astype(np.uint8) * np.uint8(255))

    return twin


def broadcast(count: int) -> Callable[[Any], Register]:
    """What puts a word into so many lanes."""
    return lambda value: Register(np.full(count, word(value)))


def andnot(a: Register, b: Register) -> Register:
    """``a & ~b``."""
    return a & Register(~b.lanes)


def popcount(a: Any) -> Any:
    """Bits set in each lane, or in a word."""
    if isinstance(a, Register):
        return Register(np.bitwise_count(a.lanes).astype(a.lanes.dtype))
    return np.uint64(word(a).bit_count())


def load_table(count: int) -> Callable[[Any, Any, int], Register]:
    """What repeats 16 bytes over a register of so many."""

    def twin(tables: Any, offsets: Any, index: int) -> Register:
        offset = int(octets_at(offsets, index, np.uint8, 1)[0])
        return Register(np.tile(octets_at(tables, offset, np.uint8, 16), count // 16))

    return twin


def lookup(table: Register, index: Register) -> Register:
    """Each 16 bytes look up in the 16 of their own place."""
    if index.lanes.size and index.lanes.max() > 15:
        msg = (
            f"byte {int(np.argmax(index.lanes > 15))} of a lookup is {index.lanes.max()}, not 0..15"
        )
        raise IndexError(msg)
    first = np.arange(index.lanes.size) // 16 * 16
    return Register(table.lanes[first + index.lanes])


def sum_words(a: Register) -> int:
    """The sum of all lanes of words."""
    return int(a.lanes.sum(dtype=np.uint64).view(np.int64))


def add_words(array: Any, index: int, value: Register) -> None:
    """Added to whole numbers as wide as the array's, which wrap."""
    kind = f"u{array.itemsize}"
    octets_at(array, index, kind, value.lanes.size)[:] += value.lanes.astype(kind)


def write_words(array: Any, index: int, value: Register) -> None:
    """The low bits of each, as wide as the array's numbers."""
    kind = f"u{array.itemsize}"
    octets_at(array, index, kind, value.lanes.size)[:] = value.lanes.astype(kind)


def add_bytes(array: Any, index: int, value: Register) -> None:
    """The even bytes to the first half of as many numbers of 16 bits, the odd to the second."""
    into = octets_at(array, index, np.uint16, value.lanes.size)
    into += np.concatenate([value.lanes[::2], value.lanes[1::2]])
