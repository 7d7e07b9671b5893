"""Binary rows as bit planes in chunks, and the nearest neighbours of each row."""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.schedule.checkpoints import Passes
from genobit.engine.schedule.graphs import named_layer
from genobit.engine.schedule.packing import row_chunk
from genobit.engine.schedule.tiles import whole_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.schedule.tiles import Planes

MISSING = -1
"""Missing value of integers and floats; floats also have NaN."""
OTHERS = -(2**62)
"""Number of the first row if neighbours are not the rows themselves."""


def planes_of(values: da.Array, names: tuple[str, str], missing: str) -> list[da.Array]:
    """Return lazy planes of binary values (rows, bits): set bits, and present bits if needed.

    ``values`` are booleans, or numbers 0 and 1 with -1 or NaN for missing. Messages use ``names``,
    the dimensions of rows and bits. "pairwise" adds the plane of present bits, except for booleans
    and unsigned numbers. With "refuse", a missing value raises ValueError when computed.
    """
    bits = values.shape[1]
    values = values.rechunk({0: row_chunk(bits * values.dtype.itemsize), 1: -1})
    number = 2 if missing == "pairwise" and values.dtype.kind in "if" else 1
    stacked = da.map_blocks(
        _packed,
        values,
        number,
        names,
        dtype=np.uint64,
        new_axis=0,
        chunks=((number,), values.chunks[0], (words_for(bits),)),
        meta=np.empty((0, 0, 0), np.uint64),
    )
    return [stacked[k] for k in range(number)]


def _packed(
    values: NDArray[Any], number: int, names: tuple[str, str], block_info: Any = None
) -> NDArray[np.uint64]:
    from genobit.engine.bits.layout import pack_bits

    first = block_info[0]["array-location"][0][0]
    ones = values == 1
    # NaN is the only value that differs from itself.
    absent = (values == MISSING) | (values != values)  # noqa: PLR0124
    _refuse(~(ones | absent | (values == 0)), values, names, first, "expected 0, 1 or missing")
    if number == 1:
        _refuse(absent, values, names, first, "missing='refuse': use missing='pairwise'")
        return pack_bits(ones)[np.newaxis]
    return np.stack([pack_bits(ones), pack_bits(~absent)])


def _refuse(
    wrong: NDArray[np.bool_],
    values: NDArray[Any],
    names: tuple[str, str],
    first: int,
    why: str,
) -> None:
    if wrong.any():
        row, bit = np.argwhere(wrong)[0].tolist()
        msg = (
            f"the value at {names[0]}={first + row}, {names[1]}={bit} is {values[row, bit]}, {why}"
        )
        raise ValueError(msg)


def nearest(
    step: Callable[..., Any],
    a: Planes,
    b: Planes | None,
    start: Callable[[int], Any],
    finish: Callable[[Any], tuple[NDArray[Any], NDArray[Any]]],
    top: int,
    dtype: Any,
) -> list[da.Array]:
    """Return values and int64 numbers of the nearest rows, by a pass over ``b`` per chunk of ``a``.

    ``step(planes of a's chunk, planes of b's chunk, first row of b's chunk, number of a's first row
    among the rows of b, earlier result)`` returns the next result. ``start(rows)`` returns the
    result before the first chunk of ``b``. ``finish(result)`` returns (values, numbers), each
    (rows, top). Without ``b``, rows are compared with themselves. ``dtype`` is the type of the
    values.

    A chunk of ``a`` holds one result at a time. Each worker processes one chunk of ``a`` at a
    time.
    """
    rows = whole_rows(a)
    others = rows if b is None else whole_rows(b)
    inputs = step, start, finish, rows, others
    name, base = named_layer("genobit-nearest", _walks, *inputs, b is None)
    chunks = (rows[0].chunks[0], (top,))
    arrays = []
    for k, of_type in enumerate((dtype, np.int64)):
        part, graph = named_layer("genobit-nearest", _part, name, len(chunks[0]), k, above=base)
        arrays.append(da.Array(graph, part, chunks=chunks, dtype=of_type))
    return arrays


def _walks(
    name: str,
    step: Callable[..., Any],
    start: Callable[[int], Any],
    finish: Callable[[Any], Any],
    rows: list[da.Array],
    others: list[da.Array],
    themselves: bool,  # noqa: FBT001 - an input of a layer
) -> Passes:
    """Return the tasks that pass over the chunks of ``others`` for each chunk of rows.

    The last task of chunk i is (name, i).
    """
    edges = np.concatenate([[0], np.cumsum(others[0].chunks[0])]).tolist()
    layer: dict[Any, Any] = {}
    for i, size in enumerate(rows[0].chunks[0]):
        found: Any = (start, size)
        itself = edges[i] if themselves else OTHERS
        for j, first in enumerate(edges[:-1]):
            blocks = ([(p.name, i, 0) for p in rows], [(p.name, j, 0) for p in others])
            layer[name, i, j] = (step, *blocks, first, itself, found)
            found = (name, i, j)
        layer[name, i] = (finish, found)
    return Passes(layer)


def _part(name: str, walks: str, chunks: int, which: int) -> dict[Any, Any]:
    """Return the tasks that take one of the two results of each chunk."""
    return {(name, i, 0): (getitem, (walks, i), which) for i in range(chunks)}
