"""Calls of some records in two bits each, in memory or in a folder.

Most calls have the alleles 0 and 1. Rows with other calls are held as they are: those of several
alternate alleles, and those of lower ploidy.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numcodecs
import numpy as np

from genobit.data.guards.damage import named_failure
from genobit.engine.bits.layout import unpack_bits, words_for
from genobit.engine.bits.pack import pair_haplotypes
from genobit.engine.bits.planes import all_called
from genobit.io.inflate import codec
from genobit.io.kernels.vcf_rows import Rows, keep_rows
from genobit.io.kernels.vcf_text import ENTRIES, LACKING, OTHERS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_CODEC = numcodecs.Blosc("lz4", clevel=1, shuffle=numcodecs.Blosc.NOSHUFFLE)


@dataclass(frozen=True)
class Part:
    """Calls of some records."""

    bits: NDArray[np.uint64]
    """Allele 1; and which alleles are called, if any is missing: (1 or 2, records, words)."""
    phase: NDArray[np.uint64]
    """Phased calls: (records, words), or one row if all records have the same."""
    rows: NDArray[np.int64]
    """Records that have other calls."""
    others: NDArray[Any]
    """Calls of these records: (records, samples, ploidy)."""

    @classmethod
    def of(cls, calls: NDArray[Any], phased: NDArray[np.bool_]) -> Part:
        """Pack calls (records, samples, ploidy) and which are phased (records, samples)."""
        n, samples, ploidy = calls.shape
        filling = Filling(n, samples, ploidy, calls.dtype)
        filling.put(0, calls, phased)
        return filling.part(n)

    def calls(self, first: int, stop: int) -> NDArray[Any]:
        """Return calls of records first:stop: (records, samples, ploidy)."""
        _, samples, ploidy = self.others.shape
        calls = unpack_bits(self.bits[0, first:stop], samples * ploidy).view(np.int8)
        if len(self.bits) == 2:
            calls += unpack_bits(self.bits[1, first:stop], samples * ploidy).view(np.int8)
            calls -= 1
        shaped = calls.reshape(-1, samples, ploidy).astype(self.others.dtype, copy=False)
        a, b = np.searchsorted(self.rows, (first, stop))
        shaped[self.rows[a:b] - first] = self.others[a:b]
        return shaped

    def phased(self, first: int, stop: int) -> NDArray[np.bool_]:
        """Return which calls of records first:stop are phased: (records, samples)."""
        alike = len(self.phase) == 1
        rows = self.phase if alike else self.phase[first:stop]
        phased = unpack_bits(rows, self.others.shape[1]).view(np.bool_)
        return np.repeat(phased, stop - first, axis=0) if alike else phased

    def dosages(self, first: int, stop: int) -> NDArray[np.uint64]:
        """Return carrier, hom_alt and called of diploid records first:stop without other calls."""
        alt = self.bits[0, first:stop]
        if len(self.bits) == 2:
            called = self.bits[1, first:stop]
        else:
            row = all_called(2 * self.others.shape[1])
            called = np.repeat(row[None], stop - first, axis=0)
        planes = np.empty((3, stop - first, words_for(self.others.shape[1])), np.uint64)
        pair_haplotypes(alt, called, planes)
        return planes

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(array.nbytes for array in self._arrays())

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.bits, self.phase, self.rows, self.others

    def to_bytes(self) -> bytes:
        """Return the part as bytes of a file."""
        blocks, said = [], []
        for array in self._arrays():
            blocks.append(_CODEC.encode(np.ascontiguousarray(array)) if array.size else b"")
            said.append((array.dtype.str, array.shape, len(blocks[-1])))
        data = b"".join(blocks)
        return json.dumps([codec.crc32(data), said]).encode() + b"\n" + data

    @classmethod
    def from_bytes(cls, data: bytes) -> Part:
        """Return the part that `to_bytes` wrote; ValueError if it is damaged."""
        at = data.index(b"\n") + 1
        crc, said = json.loads(data[:at])
        # Blosc reads behind the end of data that were cut.
        if codec.crc32(memoryview(data)[at:]) != crc:
            msg = "its checksum is wrong"
            raise ValueError(msg)
        arrays = []
        for dtype, shape, size in said:
            raw = _CODEC.decode(data[at : at + size]) if size else b""
            arrays.append(np.frombuffer(raw, dtype).reshape(shape))
            at += size
        return cls(*arrays)


class Filling:
    """A part that is filled, in any order."""

    def __init__(self, rows: int, samples: int, ploidy: int, dtype: np.dtype[Any]) -> None:
        words = words_for(samples * ploidy)
        # Two arrays, so that the part can let go of one without a copy of the other.
        self.alt, self.called = (np.empty((rows, words), np.uint64) for _ in range(2))
        self.phase = np.empty((rows, words_for(samples)), np.uint64)
        self._shape, self._dtype = (samples, ploidy), np.dtype(dtype)
        self._others = [(np.zeros(0, np.int64), np.zeros((0, samples, ploidy), dtype))]
        self._complete = True

    def put(self, first: int, calls: NDArray[Any], phased: NDArray[np.bool_]) -> None:
        """Pack the calls of the records from ``first`` on."""
        n, samples, ploidy = calls.shape
        rows, report = self.room(first, n, n, samples, None), np.zeros(ENTRIES, np.int64)
        rows.calls[:, : samples * ploidy] = calls.reshape(n, -1)
        rows.phased[:, :samples] = phased
        keep_rows(rows, n, n, ploidy, report)
        self.kept(first, rows, report)

    def room(
        self, first: int, n: int, at_once: int, samples: int, chosen: NDArray[np.intp] | None
    ) -> Rows:
        """Return room for n records of a file from ``first`` on, ``at_once`` read at a time.

        The file has so many ``samples``, of which the part has the chosen, or all.
        """
        (kept, ploidy), dtype = self._shape, self._dtype

        def row(size: int, dtype: Any) -> NDArray[Any]:
            return np.zeros((at_once, 64 * words_for(size)), dtype)

        calls, phased = row(samples * ploidy, dtype), row(samples, np.int8)
        picked, marks = calls, phased
        if chosen is not None:
            picked, marks = row(kept * ploidy, dtype), row(kept, np.int8)
        here = slice(first, first + n)
        return Rows(
            calls,
            phased,
            np.zeros(0, np.intp) if chosen is None else chosen,
            picked,
            marks,
            picked if dtype == np.int8 else row(kept * ploidy, np.int8),
            self.alt[here],
            self.called[here],
            self.phase[here],
            np.empty(n, np.int64),
            np.empty((n, kept * ploidy), dtype),
        )

    def kept(
        self, first: int, rows: Rows, report: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Hold what is not plain of records that were packed, and return it.

        These are the records of ``rows`` with other calls, and their calls.
        """
        n = int(report[OTHERS])
        which, others = rows.which[:n].copy(), rows.others[:n].copy().reshape(n, *self._shape)
        self._others.append((which + first, others))
        if report[LACKING]:
            self._complete = False
        return which, others

    def part(self, rows: int) -> Part:
        """Return the part of the first records, all of which have been put."""
        planes = [self.alt] if self._complete else [self.alt, self.called]
        whole = self._complete and rows == len(self.alt)
        phase = self.phase[:rows]
        alike = (phase == phase[0]).all()
        others = sorted(self._others, key=lambda some: some[0][:1].tolist())
        return Part(
            self.alt[None] if whole else np.stack([plane[:rows] for plane in planes]),
            phase[: 1 if alike else rows].copy(),
            np.concatenate([found for found, _ in others]),
            np.concatenate([calls for _, calls in others]),
        )


@dataclass(frozen=True)
class Folder:
    """Parts in files of a folder."""

    path: Path

    def put(self, k: int, part: Part) -> None:
        """Write a part."""
        self._file(k).write_bytes(part.to_bytes())

    def get(self, k: int) -> Part:
        """Read a part."""
        file = self._file(k)
        with named_failure(file, f"Remove {self.path.parent}, and open the file again."):
            return _of_file(file, file.stat().st_mtime_ns)

    def rows(self, k: int, first: int, stop: int) -> tuple[Part, int]:
        """Return a part of which records first:stop are wanted, and its first record."""
        del first, stop
        return self.get(k), 0

    def _file(self, k: int) -> Path:
        return self.path / f"{k}.part"


@lru_cache(maxsize=4)
def _of_file(file: Path, stamp: int) -> Part:
    """Return the part of a file; tasks of some records in turn need the same."""
    del stamp
    return Part.from_bytes(file.read_bytes())


class Memory:
    """Parts that are held as long as they fit; a copy on another machine holds none."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._parts: dict[int, Part] = {}
        self._size = 0
        self._lock = Lock()

    def put(self, k: int, part: Part) -> None:
        """Hold a part, if it fits, in place of the one before."""
        with self._lock:
            before = self._parts.pop(k, None)
            self._size -= before.nbytes if before else 0
            if self._size + part.nbytes <= self.limit:
                self._parts[k] = part
                self._size += part.nbytes

    def get(self, k: int) -> Part | None:
        """Return a part, or None."""
        return self._parts.get(k)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the parts behind: a machine that computes reads those it needs."""
        return Memory, (self.limit,)
