"""Names of layers of dask graphs, derived from every input that decides a result.

dask treats two tasks with one name as the same task. On a cluster the second caller gets the result
of the first. Only `layer_name` makes such a name. `named_layer` and
`genobit.engine.schedule.graphs.Tasks` call it with all inputs of their tasks, so that none can be
forgotten.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

_SPELLED = (bytes, int, float, np.generic, type(None))
"""Types of labels whose ``repr`` identifies the value."""
_FEW = 16
"""Most texts of a list that are hashed one by one: 2,000 names take 1.8 ms, joined 0.1 (Zen 4)."""
SMALL = 512
"""Most bytes of an array that counts as `bytes`: dask hashes 16 bytes in 6 us and an array of them
in 17 us (Ice Lake). From 2 kB on, it hashes the array faster."""


def layer_name(prefix: str, *inputs: Any) -> str:
    """Return a name that is equal for equal inputs in every process.

    Arrays count by value, dask arrays by name, functions by name and bound arguments. An object
    that cannot be pickled, such as a lock, gives a new name each time.

    Examples
    --------
    >>> ids = np.array(["rs1", "rs2"], object)
    >>> layer_name("pairs", ids) == layer_name("pairs", ids.copy())
    True
    >>> layer_name("pairs", ids) == layer_name("pairs", ids[::-1])
    False
    """
    return f"{prefix}-{tokenize(_spelled(inputs))}"


def named_layer(
    prefix: str,
    make: Callable[..., Mapping[Any, Any]],
    *inputs: Any,
    above: HighLevelGraph | None = None,
) -> tuple[str, HighLevelGraph]:
    """Return the name and the graph of the layer ``make(name, *inputs)``.

    Everything that the tasks are made of is in ``inputs``; lists, tuples and dictionaries may
    contain dask arrays. Pass ``above``, the graph of the keys that the tasks use, if these are not
    blocks of ``inputs``. Raises TypeError if ``make`` has a closure, since the name would leave it
    out.
    """
    if getattr(make, "__closure__", None):
        msg = f"{make} has a closure, which its layer's name would leave out: pass it as an input"
        raise TypeError(msg)
    name = layer_name(prefix, make, *inputs)
    layer = make(name, *inputs)
    if above is None:
        graph = HighLevelGraph.from_collections(name, layer, dependencies=list(_arrays(inputs)))
    else:
        graph = with_layer(above, name, layer)
    return name, graph


def with_layer(above: HighLevelGraph, name: str, layer: Any) -> HighLevelGraph:
    """Return a graph with one more layer, whose tasks may use keys of all others."""
    layers: dict[str, Any] = {**above.layers, name: layer}
    return HighLevelGraph(layers, {**above.dependencies, name: set(above.layers)})


def _arrays(x: Any) -> Iterator[da.Array]:
    """Yield the dask arrays in nested containers."""
    if isinstance(x, da.Array):
        yield x
    elif isinstance(x, list | tuple):
        for part in x:
            yield from _arrays(part)
    elif isinstance(x, dict):
        yield from _arrays(list(x.values()))


def _spelled(x: Any) -> Any:
    """Replace inputs that dask's tokens would confuse, or make at random, by identifying parts."""
    if isinstance(x, np.ndarray):
        return _values(x)
    if hasattr(x, "py_func"):
        # numba gives each compiled function a random number.
        return x.py_func
    if isinstance(x, list | tuple) and len(x) > _FEW and set(map(type, x)) == {str}:
        return [type(x).__qualname__, str, _joined(x)]
    parts = _parts(x)
    return x if parts is None else [type(x).__qualname__, *map(_spelled, parts)]


def _parts(x: Any) -> list[Any] | None:
    """Return the parts of a container in order, or None for anything else."""
    if isinstance(x, list | tuple):
        return list(x)
    if isinstance(x, dict):
        # Keep the order: labels become the columns of a table in this order.
        return list(chain.from_iterable(x.items()))
    if isinstance(x, partial):
        return [x.func, len(x.args), *x.args, *chain.from_iterable(x.keywords.items())]
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return [getattr(x, field.name) for field in dataclasses.fields(x)]
    return None


def _values(array: NDArray[Any]) -> tuple[Any, ...]:
    """Return an array as its dtype, shape and bytes."""
    # dask names a memory map by its bytes alone, without type and shape.
    what, *parts = as_bytes(array)
    return (what, *(x.tobytes() if x.nbytes <= SMALL else x for x in parts))


def as_bytes(array: NDArray[Any]) -> tuple[Any, ...]:
    """Return the dtype and shape of an array of any type as text, and its values as bytes."""
    what = f"{array.dtype}{array.shape}"
    if array.dtype.kind in "OT":
        return what, *_texts(array.ravel().tolist())
    return what, np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _texts(labels: list[Any]) -> list[NDArray[np.uint8]]:
    """Return labels as unambiguous bytes.

    dask gives ("a-b", "c") and ("a", "b-c") the same name.
    """
    if set(map(type, labels)) == {str}:
        return [_joined(labels)]
    texts = [label if isinstance(label, str) else _text(label) for label in labels]
    return [_joined(texts), _joined([type(label).__qualname__ for label in labels])]


def _joined(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return the bytes of texts separated by NUL, preceded by their lengths if a text holds NUL."""
    text = "\0".join(texts)
    if text.count("\0") >= max(len(texts), 1):
        text = "\0\0".join([",".join(str(len(part)) for part in texts), text])
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


def _text(label: Any) -> str:
    """Return the ``repr`` of a label of a simple type, or dask's token of any other."""
    if isinstance(label, _SPELLED):
        return repr(label)
    return str(tokenize(_spelled(label)))
