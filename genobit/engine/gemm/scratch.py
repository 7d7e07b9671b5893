"""Memory that blocks of the same work use one after the other, and what they have in common.

Fresh memory of a few megabytes comes in pages that the system clears when they are first touched:
a seventh of a search of combinations of four.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from genobit.engine.gemm.products import aligned

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")


class Scratch:
    """Arrays by name, each in memory that the last array of that name had, if it is enough.

    For one thread.
    """

    def __init__(self) -> None:
        self._memory: dict[str, NDArray[np.uint8]] = {}
        self._kept: dict[str, tuple[object, NDArray[Any], Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array that holds anything; earlier ones of the name are of no use any more."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        memory = self._memory.get(name)
        if memory is None or memory.size < size:
            memory = self._memory[name] = aligned((size,), np.uint8)
        return memory[:size].view(dtype).reshape(shape)

    def kept(self, name: str, owner: object, numbers: NDArray[Any], make: Callable[[], T]) -> T:
        """What was made last under the name, if of the same object and equal numbers, or anew."""
        last = self._kept.get(name)
        if last is None or last[0] is not owner or not np.array_equal(last[1], numbers):
            last = self._kept[name] = owner, numbers, make()
        return last[2]  # type: ignore[no-any-return]
