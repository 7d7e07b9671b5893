"""Names of the layers of dask graphs, made of everything that decides a result.

dask takes two tasks of one name for the same task: on a cluster the second caller gets the result
of the first. `layer_name` is the only place that makes such a name. `named_layer` and
`genobit.engine.schedule.graphs.Tasks` call it with all that their tasks are made of, so that no input can be
forgotten.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_SPELLED = (bytes, int, float, np.generic, type(None))
"""Types of labels that their ``repr`` tells apart."""


def layer_name(prefix: str, *inputs: Any) -> str:
    """Return a name that is the same for the same inputs in every process.

    Arrays count by their values, dask arrays by their names, functions by their names and bound
    arguments. With an object that cannot be pickled, such as a lock, the name is a new one.

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
    make: Callable[..., dict[Any, Any]],
    *inputs: Any,
    above: HighLevelGraph | None = None,
) -> tuple[str, HighLevelGraph]:
    """Return the name and the graph of the layer ``make(name, *inputs)``.

    Parameters
    ----------
    prefix
        What the name begins with.
    make
        A function without a closure, so that the tasks depend on the named inputs alone.
    inputs
        All that the tasks are made of. dask arrays may be in lists, tuples and dictionaries.
    above
        The graph that the tasks take keys of, where these are not of ``inputs``' arrays.

    Raises
    ------
    TypeError
        If ``make`` has a closure.
    """
    if getattr(make, "__closure__", None):
        msg = f"{make} has a closure, which its layer's name would leave out: pass it as an input"
        raise TypeError(msg)
    name = layer_name(prefix, make, *inputs)
    layer = make(name, *inputs)
    if above is None:
        graph = HighLevelGraph.from_collections(name, layer, dependencies=list(_arrays(inputs)))
    else:
        layers: dict[str, Any] = {**above.layers, name: layer}
        graph = HighLevelGraph(layers, {**above.dependencies, name: set(above.layers)})
    return name, graph


def _arrays(x: Any) -> Iterator[da.Array]:
    """Find the dask arrays in nested containers."""
    if isinstance(x, da.Array):
        yield x
    elif isinstance(x, list | tuple):
        for part in x:
            yield from _arrays(part)
    elif isinstance(x, dict):
        yield from _arrays(list(x.values()))


def _spelled(x: Any) -> Any:
    """Replace what dask's tokens would confuse, or make at random, by what tells it apart."""
    if isinstance(x, np.ndarray):
        return _values(x)
    if hasattr(x, "py_func"):
        # A compiled function: numba gives each a number at random.
        return x.py_func
    parts = _parts(x)
    return x if parts is None else [type(x).__qualname__, *map(_spelled, parts)]


def _parts(x: Any) -> list[Any] | None:
    """The parts of a container, in its order; None of anything else."""
    if isinstance(x, list | tuple):
        return list(x)
    if isinstance(x, dict):
        # The order of labels is that of the columns of a table.
        return list(x.items())
    if isinstance(x, partial):
        return [x.func, x.args, x.keywords]
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return [getattr(x, field.name) for field in dataclasses.fields(x)]
    return None


def _values(array: NDArray[Any]) -> tuple[Any, ...]:
    """An array as its type, shape and a flat array of its bytes."""
    what = str(array.dtype), array.shape
    if array.dtype.kind in "OT":
        return (*what, *_texts(array.ravel().tolist()))
    # dask would name a file that is mapped by its bytes alone, without type and shape.
    return (*what, np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def _texts(labels: list[Any]) -> list[NDArray[np.uint8]]:
    """Labels as texts that can be taken apart: dask names "a-b", "c" and "a", "b-c" alike."""
    if set(map(type, labels)) == {str}:
        return [_joined(labels)]
    texts = [label if isinstance(label, str) else _text(label) for label in labels]
    return [_joined(texts), _joined([type(label).__qualname__ for label in labels])]


def _joined(texts: list[str]) -> NDArray[np.uint8]:
    """The bytes of texts with NUL between them, or of their lengths and them if one holds NUL."""
    text = "\0".join(texts)
    if text.count("\0") >= max(len(texts), 1):
        text = "\0\0".join([",".join(str(len(part)) for part in texts), text])
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


def _text(label: Any) -> str:
    """A label that is no text: by its ``repr`` where that is its value, else by dask's token."""
    if isinstance(label, _SPELLED):
        return repr(label)
    return str(tokenize(_spelled(label)))
