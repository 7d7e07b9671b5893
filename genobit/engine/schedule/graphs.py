"""Graphs whose tasks are made when they are asked for.

A matrix of a million tiles has a million tasks, and a dictionary of those takes 20 s and half a GB
before anything is asked of it. A `Tasks` knows its keys by arithmetic: a slice makes the tasks of
its own tiles alone, and what goes to a cluster is a description of some hundred bytes.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import InitVar, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dask._task_spec import List, Task, TaskRef
from dask.highlevelgraph import HighLevelGraph, Layer, MaterializedLayer

from genobit.engine.schedule.names import layer_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    import dask.array as da

Key = tuple[Any, ...]


@dataclass(eq=False)
class Tasks(Layer):
    """A layer of a graph that makes the task of a key from the key.

    A subclass is a dataclass. Its fields are all that its tasks are made of; arrays are there by
    their names. The name of the layer is made of every field, so that none can be left out of it.

    Parameters
    ----------
    inputs
        Arrays whose blocks tasks take.
    """

    prefix: ClassVar[str]
    """What the name begins with. Keys begin with the name, or with the name and a hyphen."""
    has_legacy_tasks: ClassVar[bool] = False
    """Known without making any."""
    inputs: InitVar[Sequence[da.Array]]

    def __post_init__(self, inputs: Sequence[da.Array]) -> None:
        """Name the layer."""
        super().__init__()
        self.name = layer_name(self.prefix, *(getattr(self, field) for field in self._fields()))
        self._inputs = inputs

    @classmethod
    def _fields(cls) -> list[str]:
        return [field.name for field in fields(cls)]

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
        """Without what follows from the fields, and the arrays, which have graphs of their own."""
        kept = [*self._fields(), "name", "annotations", "collection_annotations"]
        return {name: self.__dict__[name] for name in kept}

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
