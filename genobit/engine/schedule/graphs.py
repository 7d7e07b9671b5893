"""Graph layers that make each task on demand, and names of layers by all that decides a result.

A matrix of a million tiles has a million tasks. A dictionary of them takes 20 s and half a GB
before any result is computed. A `Tasks` layer computes its keys by arithmetic. A slice then makes
only the tasks of its own tiles, and a cluster receives a description of some hundred bytes.

dask treats two tasks with one name as the same task. On a cluster the second caller gets the result
of the first. Only `layer_name` makes such a name. `named_layer` and `Tasks` call it with all inputs
of their tasks, so that none can be forgotten.
"""

from __future__ import annotations

import dataclasses
import sys
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import InitVar, dataclass, fields
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph, Layer, MaterializedLayer

from genobit.engine.schedule.computing import in_this_process
from genobit.engine.schedule.dask_private import List, Task, TaskRef

if TYPE_CHECKING:
    from collections.abc import Mapping

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


Key = tuple[Any, ...]
Sources = tuple[tuple[str, int], ...]
"""Names and numbers of dimensions of arrays."""


def sources(arrays: Sequence[da.Array]) -> Sources:
    """Return the name and the number of dimensions of each array."""
    return tuple((array.name, array.ndim) for array in arrays)


@dataclass(eq=False)
class Tasks(Layer):
    """A graph layer that makes the task of a key from the key.

    A subclass is a dataclass. Its fields are all inputs of its tasks, with arrays given by name.
    The name of the layer depends on every field, so that none can be left out. ``inputs`` are the
    arrays whose blocks the tasks take.
    """

    has_legacy_tasks: ClassVar[bool] = False
    """Set here so that dask need not make a task to find out."""
    costly: ClassVar[bool] = True
    """Whether tasks take long, as products do; views and rows of a file do not."""
    inputs: InitVar[Sequence[da.Array]]
    prefix: str
    """First part of the name. Keys begin with the name, or with the name and a hyphen."""

    def __post_init__(self, inputs: Sequence[da.Array]) -> None:
        """Name the layer."""
        super().__init__()
        self.name = layer_name(*(getattr(self, field) for field in self._fields()))
        self._inputs = inputs

    @classmethod
    def _fields(cls) -> list[str]:
        return [field.name for field in fields(cls)]

    @abstractmethod
    def task(self, key: Key) -> Task:
        """Return the task of a key."""

    def at_once(self) -> int:
        """Return how many results to ask for at a time; each takes memory until it is computed."""
        return sys.maxsize

    @abstractmethod
    def every_key(self) -> Iterator[Key]:
        """Yield all keys, in the order in which they are best computed."""

    @abstractmethod
    def __len__(self) -> int:
        """Count the tasks."""

    @abstractmethod
    def __contains__(self, key: object) -> bool:
        """Return whether there is such a task."""

    def __iter__(self) -> Iterator[Key]:
        """Yield all keys."""
        return self.every_key()

    def __getitem__(self, key: Key) -> Task:
        """Return the task of a key."""
        if key not in self:
            raise KeyError(key)
        return self.task(key)

    def is_materialized(self) -> bool:
        """Return False: tasks are made on demand."""
        return False

    def get_output_keys(self) -> AbstractSet[Any]:
        """Return all keys that other layers may name."""
        return set(self.every_key())

    def cull(self, keys: set[Any], all_hlg_keys: Collection[Any]) -> tuple[Layer, dict[Any, Any]]:
        """Return a layer of the tasks that some keys need, and the dependencies of each task.

        Each set of dependencies is separate.
        """
        del all_hlg_keys
        made = self.needed(keys)
        layer = MaterializedLayer(made, annotations=self.annotations)
        return layer, {key: task.dependencies for key, task in made.items()}

    def needed(self, keys: set[Any]) -> dict[Any, Task]:
        """Return the tasks that some keys need."""
        made: dict[Any, Task] = {}
        left = [key for key in keys if key in self]
        while left:
            key = left.pop()
            if key in made:
                continue
            task = made[key] = self.task(key)
            left += [other for other in task.dependencies if other not in made and other in self]
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return fields and names: the rest is derived, and arrays have their own graphs."""
        kept = [*self._fields(), "name", "annotations", "collection_annotations"]
        return {name: self.__dict__[name] for name in kept}

    @cached_property
    def _blocks(self) -> dict[Any, List]:
        return {}

    def blocks(self, arrays: Sources, *place: int) -> List:
        """Return the block of each array at ``place``, as a list that all tasks share.

        The remaining axes have one chunk.
        """
        shared = place, arrays
        found = self._blocks.get(shared)
        if found is None:
            refs = [TaskRef((name, *place, *(0,) * (n - len(place)))) for name, n in arrays]
            found = self._blocks[shared] = List(*refs)
        return found

    def graph(self, above: HighLevelGraph | None = None) -> HighLevelGraph:
        """Return the graph of the layer and all its inputs, or of the layer and ``above``."""
        if above is not None:
            return with_layer(above, self.name, self)
        return HighLevelGraph.from_collections(self.name, self, dependencies=self._inputs)


@dataclass(eq=False)
class Grid(Tasks):
    """Tasks with the keys (name, row, column), for a range of columns in each row.

    ``make(layer, row, column)`` returns the function of a task and its arguments. Bind all other
    inputs to it with `functools.partial`, so that the name depends on them.
    """

    columns: NDArray[np.int64]
    """First column of each row and the one after its last: (rows, 2)."""
    make: Callable[..., tuple[Any, ...]]

    @cached_property
    def _ranges(self) -> list[range]:
        return [range(*ends) for ends in self.columns.tolist()]

    def every_key(self) -> Iterator[Key]:
        """Yield all keys, row by row."""
        return ((self.name, i, j) for i, columns in enumerate(self._ranges) for j in columns)

    def __len__(self) -> int:
        """Count the tasks."""
        return sum(map(len, self._ranges))

    def __contains__(self, key: object) -> bool:
        """Return whether the row has such a column."""
        if not (isinstance(key, tuple) and len(key) == 3 and key[0] == self.name):
            return False
        return 0 <= key[1] < len(self._ranges) and key[2] in self._ranges[key[1]]

    def task(self, key: Key) -> Task:
        """Return the task of a row and a column."""
        return Task(key, *self.make(self, *key[1:]))


def at_a_time(graph: HighLevelGraph, most: int) -> int:
    """Return how many results of a graph to ask for at a time: ``most``, or fewer that fit.

    A cluster has the memory of all its workers, and starts tasks as they fit.
    """
    if not in_this_process():
        return most
    layers = [layer for layer in graph.layers.values() if isinstance(layer, Tasks)]
    return min([most, *(layer.at_once() for layer in layers)])


def full(rows: int, columns: int) -> NDArray[np.int64]:
    """Return the ``columns`` of a `Grid` that is a matrix."""
    return np.full((rows, 2), (0, columns))


def upper(side: int) -> NDArray[np.int64]:
    """Return the ``columns`` of a `Grid` on and above the diagonal of a square matrix."""
    return np.stack([np.arange(side), np.full(side, side)], axis=1)
