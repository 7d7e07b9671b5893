"""Find the blocks of BGZF in bytes of a file.

Format: https://samtools.github.io/hts-specs/SAMv1.pdf, section 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIXED, _TRAILER = 12, 8
"""Bytes of a block's header before the extra fields, and after the compressed data."""


@njit
def find_blocks(
    data: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[int, int, bool]:
    """Fill start and inflated size of each whole block; return their number, the end, and a fault.

    starts, sizes: (blocks,). The fault is true if the bytes at the end are no block.
    """
    n, at = 0, 0
    while n < starts.size and at + _FIXED + 6 + _TRAILER <= data.size:
        if data[at] != 31 or data[at + 1] != 139 or data[at + 2] != 8 or data[at + 3] != 4:
            return n, at, True
        first = at + _FIXED
        last = first + data[at + 10] + 256 * data[at + 11]
        if last > data.size:
            break
        length = 0
        while first + 6 <= last:
            extra = data[first + 2] + 256 * data[first + 3]
            if data[first] == 66 and data[first + 1] == 67 and extra == 2:
                length = data[first + 4] + 256 * data[first + 5] + 1
            first += 4 + extra
        if length < last - at + _TRAILER:
            return n, at, True
        end = at + length
        if end > data.size:
            break
        size = np.int64(0)
        for k in range(4):
            size += np.int64(data[end - 4 + k]) << (8 * k)
        if size > 65536:
            return n, at, True
        starts[n], sizes[n] = at, size
        n += 1
        at = end
    return n, at, False
