"""The tiles of an upper triangle as jobs: one whole number each.

Of a matrix of ``width`` x ``width`` tiles those on and above the diagonal are numbered row by row.
The tile in row y and column x, x >= y, is job

    J = y (2 width - y + 1) / 2 + x - y

and from J its row is found by an integer square root, counted from the last job: the last r + 1
rows hold (r + 1)(r + 2) / 2 tiles. Everything is exact for numbers of any size, so that a scheduler
hands out ranges of whole numbers, and a worker that is told its range finds its tiles alone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def jobs(width: int) -> int:
    """Count the tiles on and above the diagonal of ``width`` x ``width``.

    Examples
    --------
    >>> jobs(3)
    6
    """
    if width < 0:
        msg = f"width={width} of a triangle is negative: it is a number of tiles"
        raise ValueError(msg)
    return width * (width + 1) // 2


def tile_of(job: int, width: int) -> tuple[int, int]:
    """Return row and column of the tile with a number.

    Raises
    ------
    IndexError
        For a number that no tile has.

    Examples
    --------
    >>> [tile_of(job, 3) for job in range(6)]
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    """
    last = jobs(width) - 1
    if not 0 <= job <= last:
        msg = f"job {job} is outside the {last + 1} tiles of a triangle {width} wide"
        raise IndexError(msg)
    y = width - 1 - (math.isqrt(8 * (last - job) + 1) - 1) // 2
    return y, job - y * (2 * width - y + 1) // 2 + y


def tiles_of(part: range, width: int) -> Iterator[tuple[int, int]]:
    """Rows and columns of a range of jobs, in order.

    Examples
    --------
    >>> list(tiles_of(range(1, 4), 3))
    [(0, 1), (0, 2), (1, 1)]
    """
    if not part:
        return
    y, x = tile_of(part.start, width)
    for _ in part:
        yield y, x
        x += 1
        if x == width:
            y += 1
            x = y


def shares(total: int, workers: int) -> list[range]:
    """Cut jobs into a range for each worker, of sizes that differ by at most one.

    Examples
    --------
    >>> shares(7, 3)
    [range(0, 3), range(3, 5), range(5, 7)]
    """
    if workers < 1:
        msg = f"workers={workers}: jobs are shared among one worker or more"
        raise ValueError(msg)
    size, more = divmod(total, workers)
    edges = [worker * size + min(worker, more) for worker in range(workers + 1)]
    return [range(edges[k], edges[k + 1]) for k in range(workers)]


def passes(part: range, size: int) -> Iterator[range]:
    """Cut a range of jobs into passes of at most ``size``.

    Examples
    --------
    >>> list(passes(range(3, 8), 2))
    [range(3, 5), range(5, 7), range(7, 8)]
    """
    if size < 1:
        msg = f"size={size}: a pass holds one job or more"
        raise ValueError(msg)
    for start in range(part.start, part.stop, size):
        yield range(start, min(start + size, part.stop))
