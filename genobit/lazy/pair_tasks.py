"""Tasks of sums over variants for all pairs of samples, made from their keys.

Every tile has the same leaves and the same tree above them, so that a key says which chunks of
variants a leaf takes and which sums a node adds, whatever the number of tiles.
"""

from __future__ import annotations

import itertools
from operator import getitem
from typing import TYPE_CHECKING, Any

import dask.array as da
from dask._task_spec import List, Task, TaskRef

from genobit.lazy.graphs import Tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from genobit.lazy.graphs import Key


class Tree:
    """The additions of the sums of some leaves, level by level."""

    def __init__(self, leaves: Sequence[Sequence[int]], fan_in: int) -> None:
        self.leaves = [list(leaf) for leaf in leaves]
        self.fan_in = fan_in
        self.levels = [len(self.leaves)]
        while self.levels[-1] > 1:
            self.levels.append(-(-self.levels[-1] // fan_in))

    def __len__(self) -> int:
        """Count leaves and additions."""
        return sum(self.levels)

    def nodes(self) -> Iterator[tuple[int, int]]:
        """Level and number of all, the leaves first."""
        for level, count in enumerate(self.levels):
            for number in range(count):
                yield level, number

    def below(self, level: int, number: int) -> range:
        """The nodes of the level below that a node adds."""
        first = number * self.fan_in
        return range(first, min(first + self.fan_in, self.levels[level - 1]))

    @property
    def top(self) -> tuple[int, int]:
        """The node that adds all."""
        return len(self.levels) - 1, 0


class Steps:
    """The functions that tasks call."""

    def __init__(
        self, leaf: Callable[..., Any], add: Callable[..., Any], finish: Any, mirrored: Any
    ) -> None:
        self.leaf, self.add, self.finish, self.mirrored = leaf, add, finish, mirrored


class PairTasks(Tasks):
    """Leaves, additions and tiles of a symmetric matrix of samples.

    Parameters
    ----------
    name
        Of the layer.
    steps
        ``leaf(variants, rows, columns, along)``, ``add(sums)``, ``finish(totals, of rows, of
        columns, whole)`` and ``mirrored(tile)``.
    tiles
        Number of tiles along a side.
    trees
        Of each group of chunks of variants.
    planes, along, per_sample, whole
        Arrays as for `genobit.lazy.pair_sums.pair_sums`.
    variants
        Of each chunk.
    layers
        Whether a tile is of several matrices.
    """

    def __init__(
        self,
        name: str,
        steps: Steps,
        tiles: int,
        trees: Sequence[Tree],
        arrays: Sequence[Sequence[da.Array]],
        variants: Sequence[int],
        *,
        layers: bool,
    ) -> None:
        super().__init__(name, list(itertools.chain(*arrays)))
        self.steps, self.tiles, self.trees = steps, tiles, trees
        self.planes, self.along, self.per_sample, self.whole = (
            tuple((array.name, array.ndim) for array in group) for group in arrays
        )
        self.variants = variants
        self.prefix = (0,) if layers else ()

    def every_key(self) -> Iterator[Key]:
        """Of a tile after what it needs."""
        for i in range(self.tiles):
            for j in range(i, self.tiles):
                for g, tree in enumerate(self.trees):
                    for level, number in tree.nodes():
                        yield self._node(i, j, g, level, number)
                yield (self.name, *self.prefix, i, j)
                if i < j:
                    yield (self.name, *self.prefix, j, i)

    def _node(self, i: int, j: int, g: int, level: int, number: int) -> Key:
        if level:
            return f"{self.name}-add", i, j, g, level, number
        return f"{self.name}-leaf", i, j, g, number

    def __len__(self) -> int:
        """Count the tasks."""
        nodes = sum(map(len, self.trees))
        return self.tiles * (self.tiles + 1) // 2 * nodes + self.tiles**2

    def __contains__(self, key: object) -> bool:
        """Say whether there is such a task."""
        if not isinstance(key, tuple) or not key or not isinstance(key[0], str):
            return False
        if key[0] == self.name:
            if len(key) != 3 + len(self.prefix) or key[1:-2] != self.prefix:
                return False
            return all(0 <= side < self.tiles for side in key[-2:])
        kind = key[0].removeprefix(self.name)
        if (kind, len(key)) not in {("-leaf", 5), ("-add", 6)}:
            return False
        i, j, g, level, number = key[1:] if kind == "-add" else (*key[1:4], 0, key[4])
        if not (0 <= i <= j < self.tiles and 0 <= g < len(self.trees)):
            return False
        levels = self.trees[g].levels
        return (level > 0) == (kind == "-add") and level < len(levels) and number < levels[level]

    def task(self, key: Key) -> Task:
        """Make a tile, an addition or a leaf."""
        if key[0] == self.name:
            return self._tile(key)
        if key[0] == f"{self.name}-leaf":
            return self._leaf(key)
        _, i, j, g, level, number = key
        below = self.trees[g].below(level, number)
        refs = [TaskRef(self._node(i, j, g, level - 1, n)) for n in below]
        return Task(key, self.steps.add, List(*refs))

    def _leaf(self, key: Key) -> Task:
        _, i, j, g, number = key
        leaf = self.trees[g].leaves[number]
        rows = self._side(i, g, number)
        columns = None if i == j else self._side(j, g, number)
        along = self._shared(("along", g, number), lambda: [self._at(self.along, k) for k in leaf])
        return Task(key, self.steps.leaf, [self.variants[k] for k in leaf], rows, columns, along)

    def _side(self, i: int, g: int, number: int) -> List:
        """The planes of a tile in the chunks of a leaf, one list for all leaves of the tile."""
        leaf = self.trees[g].leaves[number]
        return self._shared((i, g, number), lambda: [self._at(self.planes, i, k) for k in leaf])

    def _shared(self, name: tuple[Any, ...], parts: Callable[[], list[List]]) -> List:
        if name not in self._blocks:
            self._blocks[name] = List(*parts())
        return self._blocks[name]

    def _tile(self, key: Key) -> Task:
        i, j = key[-2:]
        if i > j:
            return Task(key, self.steps.mirrored, TaskRef((*key[:-2], j, i)))
        tops = [self._node(i, j, g, *tree.top) for g, tree in enumerate(self.trees)]
        totals = List(*map(TaskRef, tops))
        sides = self._at(self.per_sample, i), self._at(self.per_sample, j)
        return Task(key, self.steps.finish, totals, *sides, self._at(self.whole))

    def _at(self, arrays: tuple[tuple[str, int], ...], *place: int) -> List:
        """Blocks of arrays, at 0 along the axes that no place is given of."""
        shared = place, arrays
        if shared not in self._blocks:
            refs = [TaskRef((name, *place, *(0,) * (n - len(place)))) for name, n in arrays]
            self._blocks[shared] = List(*refs)
        return self._blocks[shared]


class _Layer(Tasks):
    """One of the matrices that each tile is of."""

    def __init__(self, tiles: da.Array, which: int) -> None:
        super().__init__(f"{tiles.name}-{which}", [tiles])
        self.tiles, self.which, self.side = tiles.name, which, tiles.numblocks[1]

    def every_key(self) -> Iterator[Key]:
        return ((self.name, *at) for at in itertools.product(range(self.side), repeat=2))

    def __len__(self) -> int:
        return self.side**2

    def __contains__(self, key: object) -> bool:
        if not (isinstance(key, tuple) and len(key) == 3 and key[0] == self.name):
            return False
        return all(0 <= at < self.side for at in key[1:])

    def task(self, key: Key) -> Task:
        return Task(key, getitem, TaskRef((self.tiles, 0, *key[1:])), self.which)


def layer_of(tiles: da.Array, which: int) -> da.Array:
    """``tiles[which]`` of an array (matrices, rows, columns) whose matrices stand in one chunk.

    A slice by dask takes 15 s and 4 GiB for a million tiles.
    """
    layer = _Layer(tiles, which)
    return da.Array(layer.graph(), layer.name, chunks=tiles.chunks[1:], dtype=tiles.dtype)
