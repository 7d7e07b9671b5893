"""Random numbers of searches: SplitMix64 (Steele, Lea and Flood 2014), with one word of state.

Each replicate has its own stream. Results therefore depend on the seed alone, not on threads or on
the machine that runs a replicate.
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
    """Mix a word so that each output bit depends on all input bits."""
    z = (word ^ (word >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@njit
def next_word(stream: NDArray[np.uint64]) -> np.uint64:
    """Return the next 64 bits of a stream; stream: (1,) uint64."""
    stream[0] += _STEP
    return mixed(stream[0])


@njit
def below(stream: NDArray[np.uint64], count: int) -> np.int64:
    """Return a random integer in [0, count), for ``count`` below 2**32."""
    high = next_word(stream) >> np.uint64(32)
    return np.int64((high * np.uint64(count)) >> np.uint64(32))


@njit
def shuffle(stream: NDArray[np.uint64], values: NDArray[np.int64]) -> None:
    """Shuffle values in place (Fisher and Yates)."""
    for last in range(values.size - 1, 0, -1):
        other = below(stream, last + 1)
        values[last], values[other] = values[other], values[last]
