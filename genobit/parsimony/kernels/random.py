"""Random numbers of searches: SplitMix64 (Steele, Lea and Flood 2014), one word of state.

A stream belongs to a replicate and is handed on, so results depend on the seed alone, not on
threads or on where a replicate runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@njit
def mixed(word: np.uint64) -> np.uint64:
    """A word whose bits all depend on all bits."""
    z = (word ^ (word >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@njit
def next_word(stream: NDArray[np.uint64]) -> np.uint64:
    """The next 64 bits of a stream, state (1,)."""
    stream[0] += _STEP
    return mixed(stream[0])


@njit
def below(stream: NDArray[np.uint64], count: int) -> np.int64:
    """A whole number below ``count``, less than 2^32."""
    high = next_word(stream) >> np.uint64(32)
    return np.int64((high * np.uint64(count)) >> np.uint64(32))


@njit
def shuffle(stream: NDArray[np.uint64], values: NDArray[np.int64]) -> None:
    """Put values in random order (Fisher and Yates)."""
    for last in range(values.size - 1, 0, -1):
        other = below(stream, last + 1)
        values[last], values[other] = values[other], values[last]
