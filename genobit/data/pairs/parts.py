"""Parts of a table of pairs, each computed on demand as a pandas or pyarrow table."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from dask.delayed import Delayed

from genobit.data.labels import by_value, text
from genobit.engine.files import disk_full_named
from genobit.engine.schedule.batches import in_groups
from genobit.engine.schedule.checkpoints import TEMPORARY, digest, digest_of_chunks
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.graphs import at_a_time, named_layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import dask.array as da
    import pandas as pd
    from dask.highlevelgraph import HighLevelGraph
    from numpy.typing import NDArray

FINISHED = ".genobit"
"""Folder of the checkpoint and unfinished files. Parquet readers skip names with a leading dot."""


class Columns(NamedTuple):
    """Columns of some pairs."""

    labels: dict[str, tuple[NDArray[Any], NDArray[np.int64]]]
    """Labels of rows, and the index of each pair among them, by name."""
    values: dict[str, NDArray[Any]]
    """Values of the pairs, by name."""


class Parts(ABC):
    """Parts of a table of pairs, numbered in order."""

    count: int
    """Number of parts."""
    empty: pd.DataFrame
    """A table without rows: the columns and their dtypes."""
    tasks: int = 0
    """Number of dask tasks that compute the table."""

    @abstractmethod
    def frames(self, numbers: Sequence[int]) -> Iterator[pd.DataFrame]:
        """Compute some parts, and yield them in this order."""

    @abstractmethod
    def question(self) -> dict[str, Any]:
        """Return what decides the table, as JSON, to match an interrupted run with its repeat."""

    def check(self, *, in_memory: bool) -> None:  # noqa: B027 - most tables have no such limit
        """Raise an error if computing the whole table would exceed a limit of time or memory."""

    def write(self, numbers: Sequence[int], paths: Sequence[Path]) -> list[int]:
        """Compute some parts and write each as a Parquet file; return their numbers of pairs."""
        frames = zip(self.frames(numbers), paths, strict=True)
        return [
            write_file(Columns({}, {str(k): x.to_numpy() for k, x in frame.items()}), path)
            for frame, path in frames
        ]


class GraphParts(Parts):
    """Parts that are one dask task each, whose result is a `Columns`.

    ``keys`` are the keys of the tasks in ``graph``. ``none`` has the columns without rows.
    ``question`` is called when a table is written.
    """

    def __init__(
        self,
        keys: list[Any],
        graph: HighLevelGraph,
        none: Columns,
        question: Callable[[], dict[str, Any]],
    ) -> None:
        self.keys, self._graph, self._question = keys, graph, question
        self.count, self._none, self.tasks = len(keys), none, len(graph)

    @cached_property
    def empty(self) -> pd.DataFrame:
        """A table without rows: the columns and their dtypes."""
        return as_frame(self._none)

    def frames(self, numbers: Sequence[int]) -> Iterator[pd.DataFrame]:
        """Compute some parts, and yield them in this order."""
        return map(as_frame, in_groups([self.keys[k] for k in numbers], self._graph))

    def write(self, numbers: Sequence[int], paths: Sequence[Path]) -> list[int]:
        """Write some parts in the tasks that compute them, on a cluster by its workers."""
        files = [(self.keys[k], path.absolute()) for k, path in zip(numbers, paths, strict=True)]
        name, whole = named_layer("genobit-write", _writes, files, above=self._graph)
        tasks = [Delayed((name, k), whole, layer=name) for k in range(len(files))]
        size = at_a_time(self._graph, max(1, len(tasks)))
        parts = [tasks[k : k + size] for k in range(0, len(tasks), size)]
        return [pairs for part in parts for pairs in compute(*part)]

    def question(self) -> dict[str, Any]:
        """Return what decides the table."""
        return self._question()


def _writes(name: str, files: list[tuple[Any, Path]]) -> dict[Any, Any]:
    return {(name, k): (write_file, key, path) for k, (key, path) in enumerate(files)}


def write_file(columns: Columns, path: Path) -> int:
    """Write pairs to a Parquet file, whole or not at all; return their number."""
    import pyarrow.parquet as pq

    table = as_arrow(columns)

    with (
        disk_full_named(path),
        tempfile.NamedTemporaryFile(
            dir=path.parent / FINISHED, suffix=TEMPORARY, delete=False
        ) as unfinished,
    ):
        pq.write_table(table, unfinished)
    Path(unfinished.name).replace(path)
    return int(table.num_rows)


def as_frame(columns: Columns) -> pd.DataFrame:
    """Return a pandas DataFrame of pairs."""
    import pandas as pd

    labels = {name: of[places] for name, (of, places) in columns.labels.items()}
    return pd.DataFrame(labels | columns.values)


def as_arrow(columns: Columns) -> Any:
    """Return a pyarrow Table of pairs; labels that are not numbers become text.

    Going through pandas would take 0.6 ms more per table, even without rows.
    """
    import pyarrow as pa

    labels = {name: _taken(of, places) for name, (of, places) in columns.labels.items()}
    # A part without rows has no text that would tell the type of its column.
    kinds = {
        name: pa.large_string() if of.dtype == object else None
        for name, of in columns.values.items()
    }
    values = {name: pa.array(of, kinds[name]) for name, of in columns.values.items()}
    return pa.table(labels | values)


def _taken(labels: NDArray[Any], places: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    if labels.dtype.kind in "biuf":
        # pyarrow refuses numbers of the other byte order, which netCDF 3 has.
        return pa.array(labels[places].astype(labels.dtype.newbyteorder("="), copy=False))
    # Convert each label to text once, however many pairs it has.
    used, at = np.unique(places, return_inverse=True)
    # large_string, because a column of 7 million ids of 300 letters exceeds 32-bit offsets.
    return pa.array(text(labels[used], missing=None), pa.large_string()).take(pa.array(at))


def identity(
    arrays: Sequence[da.Array], labels: Mapping[str, NDArray[Any]], asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what decides a table, as JSON: planes or ranks, labels and options.

    arrays: (rows, words) each. All are computed, a chunk at a time. ``asked`` has the options;
    arrays among them become digests.
    """
    options = {k: digest([x]) if isinstance(x, np.ndarray) else x for k, x in asked.items()}
    return {
        **options,
        "chunks": digest([np.array(arrays[0].chunks[0])]),
        "labels": {name: digest([by_value(values, name)]) for name, values in labels.items()},
        "values": digest_of_chunks(arrays),
    }
