"""Calls that were read go to the cache or into memory, and labels beside them.

Calls are packed and written in threads while the file is read. Labels stay in the form in which
they were found, so that a million of them open at once.
"""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.guards.damage import named_failure
from genobit.io.vcf_files.parts import Filling
from genobit.io.vcf_files.scan import n_threads, new_pool, settled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from numpy.typing import NDArray

    from genobit.io.vcf_files.parts import Folder, Memory, Part
    from genobit.io.vcf_files.scan import Haploid, Shape

CALLS, ARRAYS, NAMES = "calls", "arrays", "names.json"
CHUNK_BYTES = 16 * 2**20
LEAST_ROWS, MOST_ROWS = 64, 2**16


def chunk_rows(shape: Shape) -> int:
    """Return the records of a part: a power of two, of about 16 MB of calls."""
    rows = CHUNK_BYTES // max(shape.kept * shape.ploidy * shape.dtype.itemsize, 1)
    return 1 << (min(max(rows, LEAST_ROWS), MOST_ROWS).bit_length() - 1)


class _Chunk(Filling):
    """A part, and how much of it is read."""

    def __init__(self, rows: int, shape: Shape) -> None:
        super().__init__(rows, shape.kept, shape.ploidy, shape.dtype)
        self.first = self.taken = self.filled = 0
        self.short = False


class CallWriter:
    """Write parts in threads as soon as they are filled."""

    def __init__(self, store: Folder | Memory, shape: Shape) -> None:
        self.rows = chunk_rows(shape)
        self._store, self._shape = store, shape
        self._pool = new_pool()
        self._running: deque[Future[None]] = deque()
        self._chunk: _Chunk | None = None
        self._n = 0
        self._short: list[int] = []
        self._other: set[int] = set()

    def room(self, rows: int) -> Iterator[tuple[_Chunk, int, int]]:
        """Yield chunks for the next rows, the first row in each, and the number of rows."""
        while rows:
            if self._chunk is None:
                self._chunk = _Chunk(self.rows, self._shape)
                self._chunk.first, self._chunk.short = self._n, self._shape.ploidy == 1
            chunk = self._chunk
            first, n = chunk.taken, min(rows, self.rows - chunk.taken)
            chunk.taken += n
            self._n += n
            rows -= n
            if chunk.taken == self.rows:
                self._chunk = None
            yield chunk, first, n

    def filled(self, chunk: _Chunk, rows: int, *, short: bool) -> None:
        """Say that rows of a chunk have been read; write the chunk when all of them are.

        ``short`` says that a call has fewer alleles than the chunk has room for.
        """
        chunk.filled += rows
        chunk.short |= short
        if chunk.filled == self.rows:
            self._write(chunk)

    def _write(self, chunk: _Chunk) -> None:
        if chunk.short:
            self._short.append(chunk.first)
        self._running.append(self._pool.submit(self._put, chunk.first, chunk.part(chunk.filled)))
        if len(self._running) > n_threads():
            self._running.popleft().result()

    def _put(self, first: int, part: Part) -> None:
        k = first // self.rows
        self._store.put(k, part)
        (self._other.add if part.rows.size else self._other.discard)(k)

    def finish(self, contigs: NDArray[np.int32], haploid: Haploid) -> bool:
        """Write the last part, and settle the calls that depend on later ones.

        Returns whether all calls are plain; see `CallFile`.
        """
        if self._chunk is not None:
            self._write(self._chunk)
        while self._running:
            self._running.popleft().result()
        for first in self._short:
            part = self._store.get(first // self.rows)
            if part is not None:
                rows = slice(first, min(first + self.rows, self._n))
                self._put(first, settled(part, contigs[rows], haploid))
        return not self._other

    def close(self) -> None:
        """Wait for the threads, and start no further writes."""
        self._pool.shutdown(cancel_futures=True)


def write_labels(folder: Path, arrays: dict[str, NDArray[Any]], names: dict[str, Any]) -> None:
    """Write labels beside the calls."""
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    (folder / NAMES).write_text(json.dumps({**names, ARRAYS: [*arrays]}), encoding="utf-8")


def read_labels(folder: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return labels as they were written; arrays are mapped into memory."""
    with named_failure(folder, "Remove it, and open the file again."):
        names = json.loads((folder / NAMES).read_text(encoding="utf-8"))
        arrays = {x: np.load(folder / f"{x}.npy", mmap_mode="r") for x in names.pop(ARRAYS)}
    return arrays, names
