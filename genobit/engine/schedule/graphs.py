"""Graph layers that make each task on demand.

A matrix of a million tiles has a million tasks. A dictionary of them takes 20 s and half a GB
before any result is computed. A `Tasks` layer computes its keys by arithmetic. A slice then makes
only the tasks of its own tiles, and a cluster receives a description of some hundred bytes.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import InitVar, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from dask.highlevelgraph import HighLevelGraph, Layer, MaterializedLayer

from genobit.engine.schedule.computing import in_this_process
from genobit.engine.schedule.dask_private import List, Task, TaskRef
from genobit.engine.schedule.names import layer_name, with_layer

if TYPE_CHECKING:
    import dask.array as da
    from numpy.typing import NDArray

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
