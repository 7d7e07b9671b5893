"""Reusable memory for successive blocks, and a cache of values that they share.

Fresh memory of a few megabytes comes in pages that the system clears at first use. That took a
seventh of the time of an epistasis search of order 4.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from genobit.engine.simd.registers import aligned

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")


class Scratch:
    """Arrays by name; a new array reuses the memory of the last one if it fits. Not thread-safe."""

    def __init__(self) -> None:
        self._memory: dict[str, NDArray[np.uint8]] = {}
        self._kept: dict[str, tuple[object, NDArray[Any], Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialised array; it invalidates earlier arrays of the same name."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        memory = self._memory.get(name)
        if memory is None or memory.size < size:
            memory = self._memory[name] = aligned((size,), np.uint8)
        return memory[:size].view(dtype).reshape(shape)

    def kept(self, name: str, owner: object, numbers: NDArray[Any], make: Callable[[], T]) -> T:
        """Return the cached value for ``name`` if owner and numbers are unchanged, else make it."""
        last = self._kept.get(name)
        if last is None or last[0] is not owner or not np.array_equal(last[1], numbers):
            last = self._kept[name] = owner, numbers, make()
        return last[2]
