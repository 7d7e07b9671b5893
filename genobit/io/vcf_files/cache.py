"""The cache of a file that was read: calls in a Zarr store, labels as numpy arrays beside it.

Calls are written in threads while the file is read. Labels stay in the form in which they were
found, so that a million of them open at once.
"""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec

from genobit.io.vcf_files.scan import n_threads, settle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from genobit.io.vcf_files.scan import Haploid, Shape

CALLS, NAMES = "calls.zarr", "names.json"
CHUNK_BYTES = 16 * 2**20
LEAST_ROWS, MOST_ROWS = 64, 2**16


def chunk_rows(shape: Shape) -> int:
    """Return the variants of a chunk: a power of two, of about 16 MB of calls."""
    rows = CHUNK_BYTES // max(shape.kept * shape.ploidy * shape.dtype.itemsize, 1)
    return 1 << (min(max(rows, LEAST_ROWS), MOST_ROWS).bit_length() - 1)


class _Chunk:
    """Calls of as many variants as a chunk of the store has."""

    def __init__(self, rows: int, shape: Shape) -> None:
        self.calls = np.empty((rows, shape.kept, shape.ploidy), shape.dtype)
        self.phased = np.empty((rows, shape.kept), np.uint8)
        self.first = self.taken = self.filled = 0
        self.short = False


class CallWriter:
    """Write chunks of calls in threads as soon as they are filled."""

    def __init__(self, store: Any, shape: Shape) -> None:
        self._shape, self._rows = shape, chunk_rows(shape)
        self._pool = ThreadPoolExecutor(n_threads())
        self._running: deque[tuple[Future[None], _Chunk]] = deque()
        self._chunk: _Chunk | None = None
        self._free: list[_Chunk] = []
        self._n = 0
        self._short: list[int] = []
        group = zarr.open_group(store, mode="w", zarr_format=3)
        sizes = (self._rows, shape.kept, shape.ploidy)
        self._arrays = [
            group.create_array(
                name,
                shape=sizes[:ndim],
                chunks=sizes[:ndim],
                dtype=dtype,
                compressors=BloscCodec(cname="lz4", clevel=1, shuffle="bitshuffle"),
                fill_value=0,
                dimension_names=("variants", "samples", "ploidy")[:ndim],
                config={"write_empty_chunks": True},
            )
            for name, ndim, dtype in (
                ("call_genotype", 3, shape.dtype),
                ("call_genotype_phased", 2, np.dtype(bool)),
            )
        ]

    def room(self, rows: int) -> Iterator[tuple[_Chunk, int, int]]:
        """Yield chunks for the next rows, the first row in each, and the number of rows."""
        while rows:
            if self._chunk is None:
                self._chunk = self._free.pop() if self._free else _Chunk(self._rows, self._shape)
                self._chunk.first, self._chunk.taken, self._chunk.filled = self._n, 0, 0
                self._chunk.short = self._shape.ploidy == 1
                self._resize(self._n + self._rows)
            chunk = self._chunk
            first, n = chunk.taken, min(rows, self._rows - chunk.taken)
            chunk.taken += n
            self._n += n
            rows -= n
            if chunk.taken == self._rows:
                self._chunk = None
            yield chunk, first, n

    def filled(self, chunk: _Chunk, rows: int, *, short: bool) -> None:
        """Say that rows of a chunk have been read; write the chunk when all of them are.

        ``short`` says that a call has fewer alleles than the chunk has room for.
        """
        chunk.filled += rows
        chunk.short |= short
        if chunk.filled == self._rows:
            self._write(chunk)

    def _write(self, chunk: _Chunk) -> None:
        if chunk.short:
            self._short.append(chunk.first)
        calls, phased = chunk.calls[: chunk.filled], chunk.phased[: chunk.filled].view(bool)
        done = self._pool.submit(self._put, chunk.first, calls, phased)
        self._running.append((done, chunk))
        if len(self._running) > n_threads():
            self._wait()

    def _put(self, first: int, calls: NDArray[Any], phased: NDArray[np.bool_]) -> None:
        for array, values in zip(self._arrays, (calls, phased), strict=True):
            array[first : first + calls.shape[0]] = values

    def _wait(self) -> None:
        done, chunk = self._running.popleft()
        done.result()
        self._free.append(chunk)

    def _resize(self, rows: int) -> None:
        for array in self._arrays:
            array.resize((rows, *array.shape[1:]))

    def finish(self, contigs: NDArray[np.int32], haploid: Haploid) -> None:
        """Write the last chunk, and settle the calls that depend on later ones."""
        if self._chunk is not None:
            self._write(self._chunk)
        self._resize(self._n)
        while self._running:
            self._wait()
        for first in self._short:
            rows = slice(first, min(first + self._rows, self._n))
            calls, phased = (np.asarray(array[rows]) for array in self._arrays)
            settle(calls, phased, contigs[rows], haploid)
            self._put(first, calls, phased)

    def close(self) -> None:
        """Wait for the threads, and start no further writes."""
        self._pool.shutdown(cancel_futures=True)


def write_labels(
    folder: Path, arrays: dict[str, NDArray[Any]], names: dict[str, list[str]]
) -> None:
    """Write labels beside the calls."""
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    (folder / NAMES).write_text(json.dumps(names), encoding="utf-8")


def read_labels(folder: Path) -> tuple[dict[str, NDArray[Any]], dict[str, list[str]]]:
    """Return labels as they were written; arrays are mapped into memory."""
    arrays = {x.stem: np.load(x, mmap_mode="r") for x in sorted(folder.glob("*.npy"))}
    return arrays, json.loads((folder / NAMES).read_text(encoding="utf-8"))
