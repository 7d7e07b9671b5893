"""Scan the fields of a table that white space separates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.engine.simd.jit import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TAB, _LINE_FEED, _BLANK, _QUOTE, _DELETE = 9, 10, 32, 34, 127


@njit
def scan_fields(data: NDArray[np.uint8], width: int) -> tuple[int, int, int]:
    """Return the first line with fewer than ``width`` fields, its fields, and the separator.

    Empty lines are no rows, and -1 stands for no line. The separator is the one byte that stands
    between all fields, and 0 if there is none, or if a byte is a quotation mark or no ASCII text.
    """
    row, fields, separator, gap = 0, 0, -1, 1
    for k in range(data.size + 1):
        byte = data[k] if k < data.size else _LINE_FEED
        if byte == _LINE_FEED:
            if 0 < fields < width:
                return row, fields, 0
            # A blank at the end of a line is a field to a reader of one separator.
            separator = 0 if gap and fields else separator
            row += fields > 0
            fields, gap = 0, 1
        elif byte in (_BLANK, _TAB):
            if separator < 0:
                separator = byte
            if gap or byte != separator:
                separator = 0
            gap = 1
        else:
            if byte <= _BLANK or byte == _QUOTE or byte >= _DELETE:
                separator = 0
            fields += gap
            gap = 0
    return -1, 0, max(separator, 0)
