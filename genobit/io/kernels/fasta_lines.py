"""Scan the lines of FASTA records, one block of the file after another.

All lines of a record but the last must have one width and one ending. The place of each symbol then
follows by arithmetic, as in the index of ``samtools faidx``. The scan measures width and ending,
and reports the first line that deviates as a fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMN, RETURN, WIDTH, ENDING, LENGTH, LAST, FIRST, LINES, FAULT = range(9)
"""Indices into the state. For a record: symbols in the current line; whether its last byte was a
carriage return; symbols of the first line; bytes of its line ending; symbols in complete lines;
whether no further line may follow; place of the first symbol. For the file: complete lines, and
the fault."""
OF_RECORD = LINES
"""Number of state entries that describe a record."""
UNEQUAL, FOREIGN = 1, 2
"""Faults: a line after a shorter one, or longer than the first; a byte that is not a symbol."""
_LINE_FEED, _CARRIAGE_RETURN, _NAME, _BLANK, _DELETE = 10, 13, ord(">"), 32, 127


@njit
def read_lines(
    block: NDArray[np.uint8],
    start: int,
    base: int,
    state: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    """Scan symbols from ``start`` up to a name line, the end of the block or a fault; return where.

    block: bytes of the file from place ``base`` on; state: (9,), continued from block to block;
    counts: (256,), to which the number of each symbol is added.
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
    """Count symbols up to the first byte that is not a symbol; return how many there were."""
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
