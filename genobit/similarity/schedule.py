"""Binary rows in chunks as bit planes, and the nearest of all rows for each.

May import: kernels, when a task runs.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.engine.bits.layout import words_for
from genobit.engine.schedule.names import named_layer
from genobit.engine.schedule.packing import row_chunk
from genobit.engine.schedule.tiles import whole_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.engine.schedule.tiles import Planes

MISSING = -1
"""Of whole numbers; of real ones NaN too."""
OTHERS = -(2**62)
"""Number of the first row where neighbours are not the rows themselves."""


def planes_of(values: da.Array, names: tuple[str, str], missing: str) -> list[da.Array]:
    """Planes of binary values (rows, bits), lazily: those set, and those present where needed.

    Parameters
    ----------
    values
        Booleans or numbers: 0, 1, and for a missing one -1 or NaN.
    names
        Dimensions of rows and bits, for messages.
    missing
        "pairwise" makes the second plane, except of booleans and unsigned numbers; "refuse" has
        none and makes a missing value an error.
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
    from genobit.engine.pairwise.similarity import packed

    first = block_info[0]["array-location"][0][0]
    ones = values == 1
    # NaN is the one value that is not itself.
    absent = (values == MISSING) | (values != values)  # noqa: PLR0124
    _refuse(~(ones | absent | (values == 0)), values, names, first, "expected 0, 1 or missing")
    if number == 1:
        _refuse(absent, values, names, first, "missing='refuse': use missing='pairwise'")
        return packed(ones)[np.newaxis]
    return np.stack([packed(ones), packed(~absent)])


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
    """What a walk over all chunks of ``b``, in order, finds for the rows of each chunk of ``a``.

    One result a chunk of ``a`` is held, and so many chunks of ``a`` are under way as there are
    workers.

    Parameters
    ----------
    step
        ``step(planes of a's chunk, planes of b's chunk, first row of b's chunk, number of the
        first row of a's chunk among those of b, what was found before)``.
    a, b
        Planes of the rows, and of those they are compared with: themselves if none.
    start
        What was found before there was anything, for a number of rows.
    finish
        Turns what was found last into (values, numbers), each (rows, top).
    top, dtype
        Columns of the results, and of which type the values are.

    Returns
    -------
        Values, and int64 numbers of rows.
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
) -> dict[Any, Any]:
    """A walk over the chunks of ``others`` for each chunk of rows; its last task is (name, i)."""
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
    return layer


def _part(name: str, walks: str, chunks: int, which: int) -> dict[Any, Any]:
    """One of what each walk found."""
    return {(name, i, 0): (getitem, (walks, i), which) for i in range(chunks)}
