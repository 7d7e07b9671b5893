"""Graphs of a million tiles: known by arithmetic, made where they are asked for."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest

from genobit.engine.schedule import tiles
from genobit.engine.schedule.graphs import Grid, Tasks, named_layer
from genobit.engine.schedule.pair_sums import SampleChunks, pair_sums
from genobit.engine.schedule.pair_tasks import layer_of

MILLION = 1000
"""Tiles along a side."""


def counted(*_: Any) -> np.ndarray:
    return np.zeros((1, 1))


def twice(*_: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((1, 1)), np.ones((1, 1))


def planes(rows: int, words: int = 2) -> list[da.Array]:
    return [da.zeros((rows, words), chunks=(1, words), dtype=np.uint64) for _ in range(2)]


def reach(rows: int, window: int = 3) -> np.ndarray:
    return np.minimum(np.arange(rows) + window, rows - 1)


def samples(rows: int, chunks: int) -> SampleChunks:
    """Tiles of one sample, chunks of 64 variants."""
    zeros = da.zeros((rows, chunks), chunks=1, dtype=np.uint64)
    along = da.zeros(64 * chunks, chunks=64, dtype=np.int64)
    return SampleChunks((zeros, zeros), (64,) * chunks, along, along)


def tasks_of(graph: Any) -> Tasks:
    (found,) = (layer for layer in graph.layers.values() if isinstance(layer, Tasks))
    return found


def graphs(rows: int) -> dict[str, Tasks]:
    """Every kind, of so many chunks."""
    several = tiles.squares(twice, planes(rows), None, [float, float])[1].dask
    of_pairs = pair_sums(counted, counted, samples(rows, 9), groups=[range(5), range(5, 9)])
    layers = layer_of(pair_sums(counted, counted, samples(rows, 3), layers=2), 1).dask
    return {
        "triangle": tasks_of(tiles.square(counted, planes(rows), None, float).dask),
        "rectangle": tasks_of(tiles.square(counted, planes(rows), planes(rows + 1), float).dask),
        "parts": next(x for x in reversed(several.layers.values()) if isinstance(x, Tasks)),
        "band": tasks_of(tiles.band(counted, planes(rows), reach(rows), 3, float).dask),
        "pairs": tasks_of(tiles.band_tiles(counted, planes(rows), reach(rows), {})[1]),
        "samples": tasks_of(of_pairs.dask),
        "one of two": next(x for x in reversed(layers.layers.values()) if isinstance(x, Tasks)),
    }


@pytest.mark.parametrize("kind", list(graphs(2)))
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_keys__are_those_that_have_tasks(kind: str, rows: int) -> None:
    layer = graphs(rows)[kind]
    keys = list(layer)
    assert len(keys) == len(set(keys)) == len(layer)
    for key in keys:
        task = layer[key]
        assert task.key == key
        own = [other for other in task.dependencies if str(other[0]).startswith(layer.name)]
        assert all(other in layer for other in own)
    outside = [("other", 0, 0), (layer.name, rows + 1, rows + 1), (layer.name,), None]
    assert not any(key in layer for key in outside)
    with pytest.raises(KeyError):
        layer[(layer.name, -1, 0)]


@pytest.mark.parametrize("kind", list(graphs(2)))
def test_what_goes_to_a_scheduler__does_not_grow_with_the_tiles(kind: str) -> None:
    sizes = [len(pickle.dumps(graphs(rows)[kind])) for rows in (4, 40)]
    # A number or two for each chunk of rows, and nothing for a tile.
    assert sizes[1] - sizes[0] < 36 * 100
    again = pickle.loads(pickle.dumps(graphs(4)[kind]))
    assert {key: again[key].dependencies for key in again} == {
        key: task.dependencies for key, task in graphs(4)[kind].items()
    }


def test_a_slice__makes_its_own_tasks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    genuine = Grid.task

    def noted(self: Any, key: Any) -> Any:
        made.append(key)
        return genuine(self, key)

    monkeypatch.setattr(Grid, "task", noted)
    matrix = tiles.square(counted, planes(MILLION), None, float)
    assert matrix.npartitions == MILLION**2
    assert matrix[700, 300].compute() == 0
    # The tile and its transpose.
    assert len(set(made)) == 2


CLIENT = """
import sys
from tests.engine.schedule import test_graphs as t
from tests.helpers.memory import peak_gib
from genobit.engine.schedule import tiles
from genobit.engine.schedule.pair_sums import pair_sums

def ready(rows, columns):
    if sys.argv[1] == "ld":
        array = tiles.square(t.counted, t.planes(rows), None, float)
    else:
        array = pair_sums(t.counted, t.counted, t.samples(rows, columns))
    return array.__dask_optimize__(array.__dask_graph__(), array.__dask_keys__())

# What is imported on the way is not the tasks'.
ready(2, 2)
before = peak_gib()
tasks = ready(*((320, 1) if sys.argv[1] == "ld" else (200, 12)))
print(len(tasks), peak_gib() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("what", "most"), [("ld", 100_000), ("grm", 50_000)])
def test_tasks_that_are_ready_to_run__take_less_than_2_kib_each(what: str, most: int) -> None:
    """So that a million takes less than 2 GiB; docs/internals/scale.md has the million itself."""
    command = [sys.executable, "-c", CLIENT, what]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    tasks, gib = done.stdout.split()
    assert int(tasks) > most
    assert float(gib) * 2**20 / int(tasks) < 2


@pytest.mark.parametrize("kind", list(graphs(2)))
def test_layers__hold_nothing_that_their_name_leaves_out(kind: str) -> None:
    """Fields are named; what else a layer has follows from them, or is dask's."""
    layer = graphs(2)[kind]
    list(layer.values())
    computed = {
        name
        for parent in type(layer).__mro__
        for name, member in vars(parent).items()
        if isinstance(member, cached_property)
    }
    of_dask = {"name", "annotations", "collection_annotations", "_inputs"}
    fields = {field.name for field in dataclasses.fields(layer)}
    assert set(vars(layer)) <= fields | computed | of_dask
    again = {field: getattr(layer, field) for field in fields}
    assert type(layer)((), **again).name == layer.name


def test_a_layer_with_a_closure__is_refused() -> None:
    hidden = 3

    def make(name: str, rows: int) -> dict[Any, Any]:
        return {(name, k): hidden for k in range(rows)}

    with pytest.raises(TypeError, match="has a closure"):
        named_layer("genobit-x", make, 2)
