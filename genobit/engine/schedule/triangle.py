"""Tiles of an upper triangle, numbered as jobs.

The tiles on and above the diagonal of ``width`` x ``width`` tiles are numbered row by row. The tile
in row y and column x, x >= y, is job

    J = y (2 width - y + 1) / 2 + x - y

An integer square root finds the row of job J, counted from the last job: the last r + 1 rows hold
(r + 1)(r + 2) / 2 tiles. All arithmetic is exact for integers of any size. A scheduler can
therefore hand out ranges of integers, and each worker finds its own tiles.
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
    """Return row and column of a job's tile. Raises IndexError for a job outside the triangle.

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
    """Yield row and column of each job in a range, in order.

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
    """Split jobs into one range per worker, with sizes that differ by at most one.

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


def batches(part: range, size: int) -> Iterator[range]:
    """Split a range of jobs into batches of at most ``size``.

    Examples
    --------
    >>> list(batches(range(3, 8), 2))
    [range(3, 5), range(5, 7), range(7, 8)]
    """
    if size < 1:
        msg = f"size={size}: a batch holds one job or more"
        raise ValueError(msg)
    for start in range(part.start, part.stop, size):
        yield range(start, min(start + size, part.stop))
