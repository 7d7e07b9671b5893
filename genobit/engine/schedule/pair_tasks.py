"""Tasks of sums over variants for all pairs of samples, made from their keys.

Every tile has the same leaves, whose sums are added in the same order. A key therefore identifies
the chunks of variants of a leaf and the sums that are added, for any number of tiles.

Tiles that are computed together go through the variants together: a leaf starts only when all tiles
have finished the leaf some places earlier. Without this gate, dask takes one tile after another
through all variants, and holds all their planes for the other tiles.

In one process with enough tiles for all threads, the task of a leaf also adds it to the last sum.
A tile then holds one sum, for any number of leaves. With fewer tiles, several leaves of a tile are
computed at a time, and added by tasks of their own. Both ways add in the same order.

A side is the input that leaves take from one tile of samples: a list of blocks, made by its own
task. A leaf that named its blocks itself would take 9 KB where chunks of variants are small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from math import isqrt
from operator import getitem
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import dask.array as da

from genobit.engine.schedule.computing import in_this_process, threads
from genobit.engine.schedule.dask_private import List, Task, TaskRef
from genobit.engine.schedule.graphs import Grid, Sources, Tasks, full, layer_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genobit.engine.schedule.graphs import Key

AHEAD = 2
"""Leaves by which a tile may be ahead of the slowest one, and the fewest leaf tasks per thread."""
KINDS = {"along": 0, "side": 1, "leaf": 2, "add": 2}
"""Kinds of tasks other than tiles, with the number of tile indices in a key. The group and the
number of the leaf follow in the key."""


@dataclass(frozen=True)
class Chain:
    """Sums of some leaves, added one by one in order.

    All tiles take the same planes and go through the variants together. A tree of additions would
    therefore hold several sums of every level and tile.
    """

    leaves: list[list[int]]
    """Chunks of variants of each leaf."""
    variants: list[list[int]]
    """Number of variants in each chunk of a leaf: one list for all tiles."""

    def __len__(self) -> int:
        """Count leaves and additions."""
        return 2 * len(self.leaves) - 1


class Steps(NamedTuple):
    """Functions that tasks call."""

    leaf: Callable[..., Any]
    add: Callable[..., Any]
    continued: Callable[..., Any]
    finish: Any
    mirrored: Any


@dataclass(eq=False)
class PairTasks(Tasks):
    """Leaves, additions and tiles of a symmetric matrix of samples.

    ``steps`` holds ``leaf(variants, rows, columns, along, after)``, ``add(*sums)``,
    ``continued(sum, *inputs of the leaf)``, ``finish(of rows, of columns, whole, *totals)``
    and ``mirrored(tile)``. ``tiles`` is the number of tiles
    along a side. ``chains`` has one chain for each group of chunks. ``layers`` says whether a tile
    holds several matrices. The other fields are the arrays of
    `genobit.engine.schedule.pair_sums.pair_sums`.
    """

    steps: Steps
    tiles: int
    chains: list[Chain]
    planes: Sources
    along: Sources
    per_sample: Sources
    whole: Sources
    layers: bool

    elsewhere: ClassVar[bool] = False

    def at_once(self) -> int:
        """Return a square number of tiles: nine, or enough that every thread adds in place."""
        return max(3, isqrt(AHEAD * threads() - 1) + 1) ** 2

    @cached_property
    def first(self) -> tuple[int, ...]:
        """Part of a tile's key between the name and the numbers of row and column."""
        return (0,) if self.layers else ()

    @cached_property
    def names(self) -> dict[str, str]:
        """Names of the other kinds of tasks, made once.

        A string for each of a million keys would take 0.1 GiB.
        """
        return {kind: f"{self.name}-{kind}" for kind in KINDS}

    def __getstate__(self) -> dict[str, Any]:
        """Set ``elsewhere``: a pickled layer goes to a cluster, whose scheduler makes the tasks."""
        return {**super().__getstate__(), "elsewhere": True}

    def every_key(self) -> Iterator[Key]:
        """Yield all keys; the key of a tile follows its inputs."""
        for g, chain in enumerate(self.chains):
            for number in range(len(chain.leaves)):
                yield self.names["along"], g, number
                for i in range(self.tiles):
                    yield self.names["side"], i, g, number
        for i in range(self.tiles):
            for j in range(i, self.tiles):
                for g, chain in enumerate(self.chains):
                    yield self._leaf_key(i, j, g, 0)
                    for number in range(1, len(chain.leaves)):
                        yield self._leaf_key(i, j, g, number)
                        yield self._sum_key(i, j, g, number)
                yield (self.name, *self.first, i, j)
                if i < j:
                    yield (self.name, *self.first, j, i)

    def _leaf_key(self, i: int, j: int, g: int, number: int) -> Key:
        return self.names["leaf"], i, j, g, number

    def _sum_key(self, i: int, j: int, g: int, number: int) -> Key:
        """Return the key of the sum up to and including a leaf."""
        return self.names["add" if number else "leaf"], i, j, g, number

    def __len__(self) -> int:
        """Count the tasks."""
        nodes, leaves = sum(map(len, self.chains)), sum(len(c.leaves) for c in self.chains)
        pairs = self.tiles * (self.tiles + 1) // 2
        return pairs * nodes + self.tiles**2 + (self.tiles + 1) * leaves

    def __contains__(self, key: object) -> bool:
        """Return whether there is such a task."""
        if not isinstance(key, tuple) or not key or not isinstance(key[0], str):
            return False
        if key[0] == self.name:
            if len(key) != 3 + len(self.first) or key[1:-2] != self.first:
                return False
            return all(0 <= side < self.tiles for side in key[-2:])
        kind = next((kind for kind, name in self.names.items() if name == key[0]), None)
        if kind is None or len(key) != 3 + KINDS[kind]:
            return False
        *sides, g, number = key[1:]
        if sides != sorted(sides) or not all(0 <= side < self.tiles for side in sides):
            return False
        return 0 <= g < len(self.chains) and (kind == "add") <= number < len(self.chains[g].leaves)

    def task(self, key: Key) -> Task:
        """Return the task of a tile, an addition, a leaf or the input of leaves."""
        if key[0] == self.name:
            return self._tile(key)
        if key[0] == self.names["leaf"]:
            return self._leaf(key)
        *sides, g, number = key[1:]
        if key[0] != self.names["add"]:
            arrays, leaf = self.planes if sides else self.along, self.chains[g].leaves[number]
            return Task(key, list, List(*[self.blocks(arrays, *sides, k) for k in leaf]))
        i, j = sides
        both = self._sum_key(i, j, g, number - 1), self._leaf_key(i, j, g, number)
        return Task(key, self.steps.add, *map(TaskRef, both))

    def needed(self, keys: set[Any]) -> dict[Any, Task]:
        """Return the tasks that some keys need, gated and with few sums as the module says."""
        made = super().needed(keys)
        pairs = sorted({(key[1], key[2]) for key in made if key[0] == self.names["leaf"]})
        # No gates on a cluster, which would send all inputs of a gate to one worker. A cluster has
        # memory enough without them.
        if len(pairs) < 2 or self.elsewhere or not in_this_process():
            return made
        enough = AHEAD * threads()
        self._gate(made, pairs, max(AHEAD, -(-enough // len(pairs))))
        if len(pairs) >= enough:
            for key in [key for key in made if key[0] == self.names["add"]]:
                _, i, j, g, number = key
                before = self._sum_key(i, j, g, number - 1)
                leaf = made.pop(self._leaf_key(i, j, g, number))
                made[key] = Task(key, self.steps.continued, TaskRef(before), *leaf.args)
        return made

    def _gate(self, made: dict[Any, Task], pairs: list[tuple[int, int]], ahead: int) -> None:
        """Let leaves wait until the sums of all tiles are at most ``ahead`` leaves behind."""
        places = [(g, n) for g, chain in enumerate(self.chains) for n in range(len(chain.leaves))]
        gate, mark = (layer_name(f"{self.name}-{kind}", pairs) for kind in ("gate", "mark"))
        for k, (g, n) in enumerate(places[ahead:]):
            # A gate that took the sums themselves would hold them until the slowest tile has its.
            for i, j in pairs:
                key = (mark, i, j, k)
                made[key] = Task(key, _passed, TaskRef(self._sum_key(i, j, *places[k])))
            before = [TaskRef((mark, i, j, k)) for i, j in pairs]
            made[gate, k] = Task((gate, k), _passed, *before)
            reference = TaskRef((gate, k))
            for i, j in pairs:
                key = self._leaf_key(i, j, g, n)
                made[key] = Task(key, self.steps.leaf, *made[key].args, reference)

    def _leaf(self, key: Key) -> Task:
        _, i, j, g, number = key
        rows, columns = (TaskRef((self.names["side"], side, g, number)) for side in (i, j))
        along = TaskRef((self.names["along"], g, number))
        variants = self.chains[g].variants[number]
        return Task(key, self.steps.leaf, variants, rows, None if i == j else columns, along)

    def _tile(self, key: Key) -> Task:
        i, j = key[-2:]
        if i > j:
            return Task(key, self.steps.mirrored, TaskRef((*key[:-2], j, i)))
        tops = [self._sum_key(i, j, g, len(c.leaves) - 1) for g, c in enumerate(self.chains)]
        sides = self.blocks(self.per_sample, i), self.blocks(self.per_sample, j)
        # dask would make a list a task of its own.
        totals = map(TaskRef, tops)
        return Task(key, self.steps.finish, *sides, self.blocks(self.whole), *totals)


def _passed(*_: object) -> None:
    """Do nothing: the task is a gate that leaves wait for."""


def _matrix(_: Grid, i: int, j: int, *, tiles: str, which: int) -> tuple[Any, ...]:
    """Return one of the matrices of a tile."""
    return getitem, TaskRef((tiles, 0, i, j)), which


def layer_of(tiles: da.Array, which: int) -> da.Array:
    """Return ``tiles[which]`` of an array (matrices, rows, columns) with all matrices in one chunk.

    A slice by dask takes 15 s and 4 GiB for a million tiles.
    """
    make = partial(_matrix, tiles=tiles.name, which=which)
    layer = Grid([tiles], "genobit-layer", full(*tiles.numblocks[1:]), make)
    return da.Array(layer.graph(), layer.name, chunks=tiles.chunks[1:], dtype=tiles.dtype)
