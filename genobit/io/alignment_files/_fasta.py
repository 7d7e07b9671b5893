"""Read FASTA in parts: an index of records, and lazy access to sites.

One pass finds the start and the line width of each record, as ``samtools faidx`` does. It holds one
block of the file at a time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from genobit.data.coded_text import CodedText
from genobit.data.guards.bounded import TEXT_COST
from genobit.engine.options import require_fits
from genobit.engine.schedule.graphs import layer_name
from genobit.io.alignment_files._rows import (
    CONTROL,
    FOREIGN_GAPS,
    decoded,
    require_gaps,
)
from genobit.io.kernels import fasta_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 2**20
"""Bytes read at a time."""
_RECORD = 400
"""Bytes of memory per record, without the letters of its name."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_REMEDY = "rewrap the file (seqkit seq -w 60), or leave out chunks= to read it in memory"


@dataclass(frozen=True)
class FastaFile:
    """An aligned FASTA file as an array (taxa, sites) of bytes, reopened for each read."""

    path: str
    size: int
    changed: int
    """Modification time of the file, in nanoseconds."""
    records: NDArray[np.int64] = field(repr=False)
    """(taxa, 4): place of the first symbol, symbols per line, bytes per line, number of symbols."""
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint8)
    ndim: ClassVar[int] = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Number of taxa and of sites."""
        return len(self.records), int(self.records[0, 3])

    def __getitem__(self, key: tuple[slice, slice]) -> NDArray[np.uint8]:
        # dask passes one slice per dimension, with a step if it merged a later slice.
        taxa, sites = key
        span = range(*sites.indices(self.shape[1]))
        first, stop = (min(span[0], span[-1]), max(span[0], span[-1]) + 1) if span else (0, 0)
        return self._read(taxa, first, stop)[:, :: sites.step or 1]

    def _places(self, taxa: slice, start: int, stop: int) -> list[list[int]]:
        """Return where the sites start:stop begin and end in the file, for each taxon."""
        first, width, step, _ = self.records[taxa].T
        sites = np.array([[start], [max(start, stop - 1)]])
        begin, last = first + sites // width * step + sites % width
        places: list[list[int]] = np.stack([begin, last + 1], axis=1).tolist()
        return places

    def _read(self, taxa: slice, start: int, stop: int) -> NDArray[np.uint8]:
        """Return the bytes of the sites start:stop; raises OSError if the file has changed."""
        out = np.empty((len(range(*taxa.indices(self.shape[0]))), stop - start), np.uint8)
        with Path(self.path).open("rb") as file:
            now = os.fstat(file.fileno())
            same = (now.st_size, now.st_mtime_ns) == (self.size, self.changed)
            for row, (first, end) in enumerate(self._places(taxa, start, stop) if same else ()):
                file.seek(first)
                symbols = file.read(end - first).translate(None, b"\r\n")
                same = same and len(symbols) == stop - start
                if same:
                    out[row] = np.frombuffer(symbols, np.uint8)
        if not same:
            raise OSError(f"{self.path} was changed while in use: open it again")
        return out

    def first_dot(self, taxon: int) -> int:
        """Return the first site of a taxon with ``.``, or -1."""
        for site in range(0, self.records[taxon, 3], BLOCK):
            stop = min(site + BLOCK, self.records[taxon, 3])
            found = self._read(slice(taxon, taxon + 1), site, stop).tobytes().find(b".")
            if found >= 0:
                return site + found
        return -1


_UPPER = np.arange(256, dtype=np.uint32)
_UPPER[ord("a") : ord("z") + 1] -= ord("a") - ord("A")
_UPPER[[*map(ord, FOREIGN_GAPS)]] = [*map(ord, FOREIGN_GAPS.values())]


class Found(NamedTuple):
    """Result of a scan of a file."""

    text: CodedText
    taxa: list[str]
    counts: dict[str, int]
    """Number of occurrences of each symbol, in upper case."""


def index_fasta(source: Path) -> Found:
    """Index the records of a plain FASTA file, holding one block of it at a time.

    Raises ValueError with the line number for a line that is too wide or follows a shorter one, for
    bytes that are not symbols, and for text before the first name.
    """
    scan = _Scan()
    stat = source.stat()
    with source.open("rb") as file:
        base = 0
        while block := file.read(BLOCK):
            skip = len(_BYTE_ORDER_MARK) if not base and block.startswith(_BYTE_ORDER_MARK) else 0
            scan.block(block, skip, base)
            base += len(block)
    scan.end()
    counts: dict[str, int] = {}
    for byte in np.flatnonzero(scan.counts):
        symbol = chr(_UPPER[byte])
        counts[symbol] = counts.get(symbol, 0) + int(scan.counts[byte])
    records = np.array(scan.records, np.int64).reshape(-1, 4)
    found = FastaFile(str(source.absolute()), stat.st_size, stat.st_mtime_ns, records)
    taxa = _stripped(scan.names)
    if scan.counts[ord(".")]:
        require_gaps(taxa, found.first_dot)
    name = layer_name("fasta", found)
    used = np.flatnonzero(scan.counts).astype(np.uint8)
    return Found(CodedText(found, _UPPER.view("U1"), used, name), taxa, counts)


class _Scan:
    """State of a scan up to some block."""

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self.held = 0
        """Bytes of memory of the names and records."""
        self.records: list[tuple[int, int, int, int]] = []
        self.counts = np.zeros(256, np.int64)
        self.state = np.zeros(9, np.int64)
        self.name: bytearray | None = None
        """Part of a name line read so far; None outside a name line."""

    def block(self, block: bytes, position: int, base: int) -> None:
        """Scan the next block."""
        octets = np.frombuffer(block, np.uint8)
        while position < len(block):
            if self.name is None:
                position = fasta_lines.read_lines(octets, position, base, self.state, self.counts)
                self._check(octets[position : position + 1])
                if position < len(block):
                    self._end_record()
                    self.name = bytearray()
                    position += 1
                continue
            end = block.find(b"\n", position)
            stop = len(block) if end < 0 else end
            self.name += block[position:stop]
            require_fits(f"line {self.state[fasta_lines.LINES] + 1}", len(self.name), TEXT_COST)
            position = stop + 1
            if end >= 0:
                self._begin_record()

    def end(self) -> None:
        """Finish the scan at the end of the file."""
        if self.name is not None:
            self._begin_record()
        self._end_record()

    def _begin_record(self) -> None:
        name, self.name = bytes(self.name or b""), None
        if CONTROL.search(name):
            raise ValueError("this is not a text file")
        self.names.append(name)
        self.held += len(name) + _RECORD
        require_fits(f"an index of {len(self.names):,} taxa", self.held)
        self.state[: fasta_lines.OF_RECORD] = 0
        self.state[fasta_lines.LINES] += 1

    def _end_record(self) -> None:
        first, width, ending, length, column = self.state[
            [fasta_lines.FIRST, fasta_lines.WIDTH, fasta_lines.ENDING, fasta_lines.LENGTH,
             fasta_lines.COLUMN]
        ].tolist()  # fmt: skip
        if self.names:
            self.records.append((first, width or column, width + ending, length + column))

    def _check(self, at: NDArray[np.uint8]) -> None:
        line, fault = self.state[[fasta_lines.LINES, fasta_lines.FAULT]].tolist()
        before = self.state[[fasta_lines.LENGTH, fasta_lines.COLUMN]].any()
        if not self.names and (fault or before):
            raise ValueError(f"line {line + 1} is {at.tobytes()!r}, expected '>' and a name")
        if fault == fasta_lines.UNEQUAL:
            width = int(self.state[fasta_lines.WIDTH])
            raise ValueError(
                f"line {line + 1}: lines of a taxon but the last must have one width and end in "
                f"the same way for chunks=, those of taxon {len(self.names) - 1} have {width} "
                f"symbols: {_REMEDY}"
            )
        if fault and CONTROL.search(at.tobytes()):
            raise ValueError("this is not a text file")
        if fault:
            raise ValueError(
                f"line {line + 1} has {at.tobytes()!r}, which is not a symbol for chunks= (blanks, "
                f"carriage returns alone and letters past ASCII are not): {_REMEDY}"
            )


def _stripped(names: list[bytes]) -> list[str]:
    """Return all names as text; raises ValueError for a carriage return within a name."""
    stripped = [name.strip() for name in names]
    texts = decoded(stripped)
    for taxon, name in enumerate(stripped):
        if len(name.splitlines()) > 1:
            msg = f"the name of taxon {taxon}, {texts[taxon]!r}, contains a line break: {_REMEDY}"
            raise ValueError(msg)
    return texts
