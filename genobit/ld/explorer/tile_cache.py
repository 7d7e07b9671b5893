"""LRU cache of LD tiles, from which the matrix of a stretch of variants is assembled.

A thinned stretch takes the variants at multiples of its step along the whole contig. Tiles begin at
multiples of `EDGE` of these variants. A pan computes only the tiles that come into view, and a
stretch that was seen before needs no computation.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    Compute = Callable[[range, range | None], np.ndarray]
    Known = dict[tuple[int, int], np.ndarray]

#: Variants on a side of a tile. Small tiles waste little at the border of an unaligned stretch. In
#: large tiles, the cost of the pairs exceeds the fixed cost of a tile.
EDGE = 128
#: Bytes of tiles to keep: about 30 stretches of 2,000 variants.
KEPT = 2**28


class TileCache:
    """LRU cache of LD tiles, by level and place of rows and columns.

    Keeps at most `limit` bytes, but always all tiles of the last stretch.
    """

    def __init__(self, limit: int = KEPT) -> None:
        self._limit = limit
        self._kept: OrderedDict[Hashable, np.ndarray] = OrderedDict()
        self.nbytes = 0

    def square(
        self, level: Hashable, places: range, count: int, compute: Compute
    ) -> tuple[np.ndarray, int]:
        """Assemble the matrix (places, places) of a stretch; returns it and the tiles computed.

        The key `level` holds everything else that the values depend on. There are `count` places
        in all. `compute(rows, columns)` returns symmetric float32 values; columns None means all
        pairs of the rows.

        Examples
        --------
        >>> tiles = TileCache()
        >>> def compute(rows, columns):
        ...     return np.multiply.outer(rows, rows if columns is None else columns).astype("f4")
        >>> tiles.square("r2", range(2, 4), 300, compute)
        (array([[4., 6.],
               [6., 9.]], dtype=float32), 1)
        >>> tiles.square("r2", range(7, 8), 300, compute)
        (array([[49.]], dtype=float32), 0)
        """
        inside = range(places.start // EDGE, (places.stop - 1) // EDGE + 1)
        wanted = [(i, j) for i in inside for j in range(i, inside.stop)]
        known = {at: self._kept[level, at] for at in wanted if (level, at) in self._kept}
        fresh = len(wanted) - len(known)
        if fresh:
            _fill(known, inside, count, compute)
        for at in wanted:
            self._keep((level, at), known[at])
        self._forget(len(wanted))
        return _assembled(known, wanted, places), fresh

    def _keep(self, key: Hashable, tile: np.ndarray) -> None:
        if key not in self._kept:
            self._kept[key] = tile
            self.nbytes += tile.nbytes
        self._kept.move_to_end(key)

    def _forget(self, needed: int) -> None:
        while self.nbytes > self._limit and len(self._kept) > needed:
            _, tile = self._kept.popitem(last=False)
            self.nbytes -= tile.nbytes


def _fill(known: Known, inside: range, count: int, compute: Compute) -> None:
    """Compute the missing tiles of a stretch in one or two matrix products."""
    new = [t for t in inside if (t, t) not in known]
    span = range(new[0], new[-1] + 1) if new else range(0)
    # A square costs half as much as a rectangle of the same size.
    if 2 * len(span) >= len(inside):
        _cut(known, compute(_places(inside, count), None), inside, inside)
        return
    if span:
        block = compute(_places(inside, count), _places(span, count))
        _cut(known, block, inside, span)
    missing = [(i, j) for i in inside for j in range(i, inside.stop) if (i, j) not in known]
    if missing:  # both ends are cached, but not their pairs
        firsts, seconds = zip(*missing, strict=True)
        rows = range(min(firsts), max(firsts) + 1)
        columns = range(min(seconds), max(seconds) + 1)
        block = compute(_places(rows, count), _places(columns, count))
        _cut(known, block, rows, columns)


def _places(tiles: range, count: int) -> range:
    return range(tiles.start * EDGE, min(tiles.stop * EDGE, count))


def _cut(known: Known, block: np.ndarray, rows: range, columns: range) -> None:
    """Cut the tiles that are not known yet out of a block."""
    for i, j in ((i, j) for i in rows for j in columns):
        at = (min(i, j), max(i, j))
        if at in known:
            continue
        row, column = (i - rows.start) * EDGE, (j - columns.start) * EDGE
        tile = block[row : row + EDGE, column : column + EDGE]
        # Copy, because a view would keep the whole block in memory.
        known[at] = (tile if i <= j else tile.T).copy()


def _assembled(known: Known, wanted: list[tuple[int, int]], places: range) -> np.ndarray:
    matrix = np.empty((len(places), len(places)), "f4")

    def part(tile: int) -> tuple[slice, slice]:
        """Return the part of the matrix that a tile fills, and the part of the tile."""
        start = max(tile * EDGE, places.start)
        stop = min((tile + 1) * EDGE, places.stop)
        origin = tile * EDGE
        return (
            slice(start - places.start, stop - places.start),
            slice(start - origin, stop - origin),
        )

    for i, j in wanted:
        rows, row_part = part(i)
        columns, column_part = part(j)
        values = known[i, j][row_part, column_part]
        matrix[rows, columns] = values
        if i != j:
            matrix[columns, rows] = values.T
    return matrix
