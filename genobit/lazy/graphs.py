"""Graphs whose tasks are made when they are asked for.

A matrix of a million tiles has a million tasks, and a dictionary of those takes 20 s and half a GB
before anything is asked of it. A `Tasks` knows its keys by arithmetic: a slice makes the tasks of
its own tiles alone, and what goes to a cluster is a description of some hundred bytes.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dask._task_spec import List, Task, TaskRef
from dask.highlevelgraph import HighLevelGraph, Layer, MaterializedLayer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    import dask.array as da

Key = tuple[Any, ...]


class Tasks(Layer):
    """A layer of a graph that makes the task of a key from the key.

    Parameters
    ----------
    name
        What its keys begin with; those of other parts of it begin with this and a hyphen.
    inputs
        Arrays whose blocks tasks take.
    """

    has_legacy_tasks = False
    """Known without making any."""

    def __init__(self, name: str, inputs: Sequence[da.Array]) -> None:
        super().__init__()
        self.name = name
        self._inputs = inputs

    @abstractmethod
    def task(self, key: Key) -> Task:
        """Make the task of a key."""

    @abstractmethod
    def every_key(self) -> Iterator[Key]:
        """All keys, in the order in which they are best computed."""

    @abstractmethod
    def __len__(self) -> int:
        """Count the tasks."""

    @abstractmethod
    def __contains__(self, key: object) -> bool:
        """Say whether there is such a task."""

    def __iter__(self) -> Iterator[Key]:
        """All keys."""
        return self.every_key()

    def __getitem__(self, key: Key) -> Task:
        """Make a task."""
        if key not in self:
            raise KeyError(key)
        return self.task(key)

    def is_materialized(self) -> bool:
        """Say that tasks are not there yet."""
        return False

    def get_output_keys(self) -> AbstractSet[Any]:
        """All keys that other layers may name."""
        return set(self.every_key())

    def cull(self, keys: set[Any], all_hlg_keys: Collection[Any]) -> tuple[Layer, dict[Any, Any]]:
        """The tasks that some keys need, and what each of these depends on, its own set."""
        del all_hlg_keys
        made = self.needed(keys)
        layer = MaterializedLayer(made, annotations=self.annotations)
        return layer, {key: task.dependencies for key, task in made.items()}

    def needed(self, keys: set[Any]) -> dict[Any, Task]:
        """The tasks that some keys need, made."""
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
        """Without the blocks named so far, and the arrays, which have graphs of their own."""
        left = {"_blocks", "_inputs"}
        return {name: x for name, x in self.__dict__.items() if name not in left}

    @cached_property
    def _blocks(self) -> dict[Any, List]:
        return {}

    def blocks(self, place: tuple[int, ...], names: tuple[str, ...]) -> List:
        """Blocks of the same place of some arrays: one list that all tasks share."""
        if (place, names) not in self._blocks:
            self._blocks[place, names] = List(*[TaskRef((name, *place)) for name in names])
        return self._blocks[place, names]

    def graph(self) -> HighLevelGraph:
        """The layer and all it needs."""
        return HighLevelGraph.from_collections(self.name, self, dependencies=self._inputs)
