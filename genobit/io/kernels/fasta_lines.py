"""Lines of the records of a FASTA file, a block of the file after the other.

Where all lines of a record but the last are of one width and end in the same way, the place of each
symbol in the file is arithmetic, as in the index of ``samtools faidx``. So these are counted, and
the first line that is not so is a fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMN, RETURN, WIDTH, ENDING, LENGTH, LAST, FIRST, LINES, FAULT = range(9)
"""What is known of a record: symbols of the line so far; whether its last byte was a carriage
return; symbols and end, in bytes, of the first line; symbols of whole lines; whether a line was the
last that there may be; where the first symbol stands. Then of the file: lines so far, and a fault.
"""
OF_RECORD = LINES
"""How many of these are of the record."""
UNEQUAL, FOREIGN = 1, 2
"""Faults: a line after one that was shorter, or longer than the first; a byte that is no symbol."""
_LINE_FEED, _CARRIAGE_RETURN, _NAME, _BLANK, _DELETE = 10, 13, ord(">"), 32, 127


@njit
def read_lines(
    block: NDArray[np.uint8],
    start: int,
    base: int,
    state: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    """Go through lines of symbols up to a line of a name, the end of the block or a fault.

    Parameters
    ----------
    block
        Bytes of the file, which stand from ``base`` on.
    start
        Where to begin in the block.
    base
        Place of the block in the file.
    state
        What is known so far, goes on from block to block.
    counts
        How often each byte was a symbol, added to, (256,).

    Returns
    -------
        Where it stopped in the block.
    """
    k = start
    while k < block.size:
        byte, column = block[k], state[COLUMN]
        if byte == _LINE_FEED:
            _end_line(state)
        elif byte == _CARRIAGE_RETURN and state[RETURN] == 0:
            state[RETURN] = 1
        elif byte == _NAME and column == 0 and state[RETURN] == 0:
            return k
        elif byte <= _BLANK or byte >= _DELETE or state[RETURN] == 1:
            state[FAULT] = FOREIGN
            return k
        elif state[LAST] == 1 or (state[WIDTH] > 0 and column == state[WIDTH]):
            state[FAULT] = UNEQUAL
            return k
        else:
            if column == 0 and state[LENGTH] == 0:
                state[FIRST] = base + k
            room = block.size - k
            if state[WIDTH] > 0:
                room = min(room, state[WIDTH] - column)
            run = _count_run(block[k : k + room], counts)
            state[COLUMN] = column + run
            k += run
            continue
        k += 1
    return block.size


@njit
def _count_run(block: NDArray[np.uint8], counts: NDArray[np.int64]) -> int:
    """Count symbols up to the first byte that is none: how many."""
    for k in range(block.size):
        byte = block[k]
        if byte <= _BLANK or byte >= _DELETE:
            return k
        counts[byte] += 1
    return block.size


@njit
def _end_line(state: NDArray[np.int64]) -> None:
    column, ending = state[COLUMN], 1 + state[RETURN]
    if state[LENGTH] == 0 and column > 0:
        state[WIDTH], state[ENDING] = column, ending
    elif state[LENGTH] > 0 and (column < state[WIDTH] or ending != state[ENDING]):
        state[LAST] = 1
    state[LENGTH] += column
    state[COLUMN] = state[RETURN] = 0
    state[LINES] += 1
