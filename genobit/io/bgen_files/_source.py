"""Read calls and dosages of a BGEN file lazily, a range of variants at a time."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from genobit.engine.schedule.graphs import layer_name
from genobit.io._chunks import Rows, row_chunks, stamp_of
from genobit.io.bgen_files._genotypes import NONE, PloidyError, fault_of, stored_bytes
from genobit.io.bgen_files._header import Header, parse_variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    import dask.array as da
    from numpy.typing import NDArray

# Bytes of int8 calls in a chunk, and its variants. These are a power of two up to the default of a
# packed chunk, so that packing need not copy parts of chunks.
_CHUNK_BYTES = 16 * 2**20
_LEAST_ROWS, _MOST_ROWS = 64, 2048
_GROUP_BYTES = 2**20
"""Bytes of inflated genotypes that a call of a kernel reads, while they are in the cache."""
STRIDE = 64
"""Variants from one known offset to the next. Tasks of a cluster carry the offsets."""


@dataclass(frozen=True, eq=False)
class BgenFile:
    """A validated BGEN file and how to read it, reopened for each read.

    ``path`` is absolute. No file is held open, so the object can be pickled to a process or machine
    that sees the same path.
    """

    path: str
    stamp: tuple[int, int]
    """Size in bytes and time of modification when it was opened."""
    layout: int
    compression: int
    n_variants: int
    """Variants that are not dropped."""
    n_samples: int
    every_offset: NDArray[np.int64]
    """Offset of each `STRIDE`-th of these variants."""
    dropped: NDArray[np.int64]
    """Offsets of the variants that are passed over, ascending."""
    swap: bool
    """Whether allele 1 is the first allele of the file."""
    threshold: float

    def calls(self, chunks: int | Literal["auto"] = "auto") -> da.Array:
        """Return alleles and flags as `call_variant` fills them: lazy int8 (variants, columns).

        `alleles_of` and `flagged` take them apart, so that all come from one pass over the file.
        """
        return self._lazy(chunks, "calls", self._calls, self._columns, np.int8)

    def dosages(self, chunks: int | Literal["auto"] = "auto") -> da.Array:
        """Return the dosages of allele 1: lazy float32 (variants, samples), NaN missing."""
        return self._lazy(chunks, "dosages", self._dosages, self.n_samples, np.float32)

    @property
    def _columns(self) -> int:
        """Columns of a row of calls: even, so that pairs of alleles of each row are aligned."""
        return 3 * self.n_samples + self.n_samples % 2

    def _lazy(
        self, chunks: int | Literal["auto"], kind: str, read: Any, columns: int, dtype: Any
    ) -> da.Array:
        """Return lazy rows; "auto" makes chunks of up to 2,048 variants, of about 16 MB."""
        rows = min(max(_CHUNK_BYTES // (2 * self.n_samples), _LEAST_ROWS), _MOST_ROWS)
        sizes = row_chunks(self.n_variants, chunks, 1 << (rows.bit_length() - 1))
        found = Rows(read, (self.n_variants, columns), np.dtype(dtype))
        return found.lazy(sizes, layer_name(f"bgen-{kind}", self, sizes))

    def _calls(self, first: int, stop: int) -> NDArray[np.int8]:
        out = np.empty((stop - first, self._columns), np.int8)
        self.read(first, stop, out, np.empty((0, 0), np.float32))
        return out

    def _dosages(self, first: int, stop: int) -> NDArray[np.float32]:
        out = np.empty((stop - first, self.n_samples), np.float32)
        self.read(first, stop, np.empty((0, 0), np.int8), out)
        return out

    def read(
        self, first: int, stop: int, calls: NDArray[np.int8], dosages: NDArray[np.float32]
    ) -> None:
        """Fill the rows of a range of variants, as `read_variants` does.

        Raises OSError if the file has changed since it was opened, and ValueError for damaged
        genotypes.
        """
        from genobit.io.kernels.bgen import read_variants

        if stamp_of(self.path) != self.stamp:
            raise OSError(f"{self.path} was changed while in use. Open it again.")
        room, header, done = np.empty(4 * self.n_samples, np.float32), self.header, 0
        data, places = self._blocks(first, stop)
        for parts, error in _groups(data, places, header):
            edges = np.cumsum([0, *map(len, parts)])
            octets = np.frombuffer(b"".join(parts), np.uint8)
            rows = slice(done, done + len(parts))
            k, fault, sample = read_variants(
                octets, edges, self.layout, self.swap, self.threshold, room,
                calls[rows], dosages[rows],
            )  # fmt: skip
            wrong = error if k < 0 else fault_of(parts[k], header, fault, sample, room)
            done += len(parts) if k < 0 else k
            if wrong is not None:
                start, _, after = places[done].tolist()
                raise self._fault(first + done, data[start:after], wrong) from error
        if done < stop - first:
            msg = f"{self.path}: variants={first + done} is not there. Copy the file again."
            raise ValueError(msg)

    def _fault(self, k: int, variant: bytes, error: Exception) -> ValueError:
        (_, name, *_), *_ = parse_variant(variant, self.header)
        remedy = "Copy the file again."
        if isinstance(error, PloidyError):
            remedy = "Leave such variants out with multiallelic='drop'."
        return ValueError(f"{self.path}: variants={k} ({name}) cannot be read: {error}. {remedy}")

    def _blocks(self, first: int, stop: int) -> tuple[bytes, NDArray[np.int64]]:
        """Return bytes with a range of variants, and where each, its genotypes and the next begin.

        There are fewer places than variants if the file ends too early.
        """
        from genobit.io.kernels.bgen_blocks import find_blocks

        left, right = first // STRIDE, -(-stop // STRIDE)
        begin = int(self.every_offset[left])
        end = int(self.every_offset[right]) if right < self.every_offset.size else self.stamp[0]
        with Path(self.path).open("rb") as file:
            file.seek(begin)
            data = file.read(end - begin)
        dropped = self.dropped[(self.dropped >= begin) & (self.dropped < end)] - begin
        rows = stop - left * STRIDE
        found = np.empty((rows + dropped.size, 3), np.int64)
        bare = self.layout == 1 and self.compression == NONE
        octets = np.frombuffer(data, np.uint8)
        whole = find_blocks(octets, self.layout, 6 * self.n_samples if bare else 0, found)
        places = found[:whole][~np.isin(found[:whole, 0], dropped)][:rows]
        return data, places[first - left * STRIDE :]

    @property
    def header(self) -> Header:
        """The numbers of the file that decoding needs."""
        return Header(0, self.n_variants, self.n_samples, self.layout, self.compression, None)


def _groups(
    data: bytes, places: NDArray[np.int64], header: Header
) -> Iterator[tuple[list[bytes], ValueError | None]]:
    """Yield inflated genotypes in groups, which one call of a kernel reads.

    The first genotypes that cannot be inflated end the last group, which has their error.
    """
    parts: list[bytes] = []
    size = 0
    # Lists of numbers, since Python's garbage collector would visit a list of each variant.
    for middle, after in zip(places[:, 1].tolist(), places[:, 2].tolist(), strict=True):
        try:
            found = stored_bytes(data[middle:after], header)
        except (ValueError, struct.error) as error:
            yield parts, ValueError(str(error))
            return
        parts.append(found)
        size += len(found)
        if size >= _GROUP_BYTES:
            yield parts, None
            parts, size = [], 0
    yield parts, None


def alleles_of(decoded: Any, samples: int) -> da.Array:
    """Return the alleles (variants, samples, 2) of decoded calls."""
    chunks = (decoded.chunks[0], (samples,), (2,))
    return decoded.map_blocks(_alleles, samples, dtype=np.int8, chunks=chunks, new_axis=2)


def _alleles(block: NDArray[np.int8], samples: int) -> NDArray[np.int8]:
    return block[:, : 2 * samples].reshape(block.shape[0], samples, 2)


def flagged(decoded: Any, samples: int, flag: int) -> da.Array:
    """Return which calls (variants, samples) of decoded calls have a flag."""
    chunks = (decoded.chunks[0], (samples,))
    return decoded.map_blocks(_flagged, samples, flag, dtype=np.bool_, chunks=chunks)


def _flagged(block: NDArray[np.int8], samples: int, flag: int) -> NDArray[np.bool_]:
    return block[:, 2 * samples : 3 * samples] == flag
