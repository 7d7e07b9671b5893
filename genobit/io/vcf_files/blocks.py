"""Inflate the blocks of a file, in any container, into pieces of text.

A *place* is a number of inflated bytes since the first block that was read. `Blocks` finds the
blocks of a range of places again, so that a task inflates these and no others.

- BGZF (bgzip) consists of small gzip members. Each says its own length, and is inflated alone.
- A plain file is cut into parts of equal size.
- Other gzip files can be read only from the start.
"""

from __future__ import annotations

import warnings
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.options import require_fits
from genobit.io.inflate import GZIP, codec, inflate, inflate_members
from genobit.io.kernels.bgzf import find_blocks
from genobit.io.kernels.vcf_text import PADDING
from genobit.io.vcf_files.source import Held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from genobit.io.vcf_files.source import Source

    Part = tuple[bytes | memoryview, int, NDArray[np.int64], NDArray[np.int64]]

PLAIN, BGZF, STREAM = "plain", "bgzf", "gzip"
PIECE = 4 * 2**20
"""Inflated bytes of a piece: it stays in the cache of the last level while it is read."""
_READ, _BLOCK = 2 * 2**20, 2**16
"""Bytes that are read at once; and the most of a block of BGZF, which is read first."""
_MAGIC = b"\x1f\x8b"
_END_SIZE = 28
"""Bytes of the empty block at the end of BGZF, by which a file that was cut is found."""


@dataclass(frozen=True)
class Text:
    """Inflated bytes ``data[first:stop]``, with room in front for a record that was cut before."""

    data: NDArray[np.uint8]
    first: int
    stop: int
    place: int
    """Place of ``data[first]``."""
    read: int
    """Bytes of the file up to the end of this text."""


@dataclass
class Blocks:
    """The blocks that were read: where each lies in the file, and its place."""

    place: int = 0
    """Place after the last block."""
    _parts: list[NDArray[np.int64]] = field(default_factory=list)

    def add(
        self, starts: NDArray[np.int64], stops: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> int:
        """Add blocks by their bytes in the file and inflated sizes; return the first's place."""
        place = self.place
        self._parts.append(np.stack([starts, stops, sizes, place + np.cumsum(sizes) - sizes]))
        self.place += int(sizes.sum())
        return place

    def table(self) -> NDArray[np.int64]:
        """Return starts and stops in the file, inflated sizes, and places: (4, blocks)."""
        return np.concatenate([np.zeros((4, 0), np.int64), *self._parts], axis=1)


def kind_of(source: Source) -> str:
    """Return how a file is compressed."""
    head = source.read(0, 18)
    if not head.startswith(_MAGIC):
        return PLAIN
    return BGZF if head[3:4] == b"\x04" and head[12:14] == b"BC" else STREAM


def texts(
    source: Source,
    kind: str,
    blocks: Blocks,
    submit: Callable[..., Future[NDArray[np.uint8]]],
    *,
    start: int = 0,
    stop: int | None = None,
    reserve: int = 0,
    ahead: int = 1,
) -> Iterator[Text]:
    """Yield the inflated text of the blocks from byte ``start`` up to the block at byte ``stop``.

    ``submit`` runs up to ``ahead`` pieces while the caller reads earlier ones. Each piece has
    ``reserve`` bytes of room in front. The blocks are added to ``blocks``.
    """
    if kind == STREAM:
        yield from _stream(source, reserve)
        return
    parts = _bgzf_parts(source, start, stop) if kind == BGZF else _plain_parts(source, start)
    waiting: deque[Callable[[], Text]] = deque()
    for raw, base, starts, sizes in parts:
        stops = np.append(starts[1:], len(raw))
        place = blocks.add(base + starts, base + stops, sizes)
        data = submit(_filled, source.name, kind, raw, base, starts, stops, sizes, reserve)
        last = reserve + int(sizes.sum())
        waiting.append(partial(_text, data, reserve, last, place, base + len(raw)))
        if len(waiting) > ahead:
            yield waiting.popleft()()
    while waiting:
        yield waiting.popleft()()


def text_at(
    source: Source, kind: str, table: NDArray[np.int64], first: int, stop: int
) -> NDArray[np.uint8]:
    """Return the text from one place up to another, a byte for a line end, and `PADDING` bytes."""
    starts, stops, sizes, places = table
    k = int(np.searchsorted(places, first, "right")) - 1
    last = int(np.searchsorted(places, stop, "left"))
    data = np.empty(int(sizes[k:last].sum()) + 1 + PADDING, np.uint8)
    data[-1 - PADDING :] = 0
    # Blocks follow each other in the file, except where an index leaves some out.
    gaps = np.flatnonzero(starts[k + 1 : last] != stops[k : last - 1]) + k + 1
    for a, b in pairwise([k, *gaps.tolist(), last]):
        base = int(starts[a])
        raw = source.read(base, int(stops[b - 1]))
        here = data[int(places[a] - places[k]) :]
        _fill(here, source.name, kind, raw, base, starts[a:b] - base, stops[a:b] - base, sizes[a:b])
    return data[first - int(places[k]) :]


def held_in_memory(source: Source, what: str) -> Held:
    """Return a gzip file as inflated bytes; ValueError with ``what`` if they are too many."""
    data = bytearray()
    for part in _stream(source, 0):
        data += part.data[part.first : part.stop].tobytes()
        require_fits(what, len(data))
    return Held(source.name, len(data), source.stamp, bytes(data))


def _text(data: Future[NDArray[np.uint8]], first: int, stop: int, place: int, read: int) -> Text:
    return Text(data.result(), first, stop, place, read)


def _bgzf_parts(source: Source, start: int, stop: int | None) -> Iterator[Part]:
    """Yield bytes of whole blocks, their place in the file, and each block's start and size."""
    at, size, step = start, 1, _BLOCK
    starts, sizes = (
        np.zeros(_READ // _END_SIZE + 1, np.int64),
        np.zeros(_READ // _END_SIZE + 1, np.int64),
    )
    while stop is None or at <= stop:
        # A server sends no more than the blocks that are wanted, or twice what was read before.
        # A block that is cut is read again: joining its halves would copy all of them.
        last = at + step if stop is None else min(at + step, stop + _BLOCK)
        raw = memoryview(source.read(at, last))
        step = min(2 * step, _READ)
        n, end, bad = find_blocks(np.frombuffer(raw, np.uint8), starts, sizes)
        if bad or (raw and not n):
            raise ValueError(_damaged(source.name, at + end, cut=not bad))
        if not raw:
            break
        if stop is not None:
            n = int(np.searchsorted(at + starts[:n], stop, "right"))
        for first, last in _grouped(sizes[:n]):
            a = int(starts[first])
            b = int(starts[last]) if last < n else end
            if stop is not None and last == n:
                b = _block_end(raw, int(starts[n - 1]))
            yield raw[a:b], at + a, starts[first:last] - a, sizes[first:last].copy()
        size = int(sizes[n - 1]) if n else size
        at += end
    if stop is None and size != 0:
        msg = (
            f"{source.name} has no end mark of bgzip: it may be cut. If it is whole, run "
            "'bcftools view -Oz FILE -o NEW'."
        )
        warnings.warn(msg, UserWarning, stacklevel=2)


def _block_end(raw: memoryview, start: int) -> int:
    """Return the end of a block that begins at ``start``; its length is the first extra field."""
    starts, sizes = np.zeros(1, np.int64), np.zeros(1, np.int64)
    _, end, _ = find_blocks(np.frombuffer(raw, np.uint8)[start:], starts, sizes)
    return start + end


def _grouped(sizes: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of blocks of together about `PIECE` bytes."""
    groups = (np.cumsum(sizes) - 1) // PIECE
    edges = [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), sizes.size]
    yield from ((a, b) for a, b in pairwise(edges) if a < b)


def _plain_parts(source: Source, start: int) -> Iterator[Part]:
    for at in range(start, source.size, PIECE):
        raw = source.read(at, at + PIECE)
        yield raw, at, np.zeros(1, np.int64), np.array([len(raw)])


def _filled(
    name: str,
    kind: str,
    raw: bytes | memoryview,
    base: int,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    sizes: NDArray[np.int64],
    reserve: int,
) -> NDArray[np.uint8]:
    """Return the inflated blocks of a part, with room before and `PADDING` after."""
    data = np.empty(reserve + int(sizes.sum()) + PADDING, np.uint8)
    data[-PADDING:] = 0
    _fill(data[reserve:], name, kind, raw, base, starts, stops, sizes)
    return data


def _fill(
    data: NDArray[np.uint8],
    name: str,
    kind: str,
    raw: bytes | memoryview,
    base: int,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> None:
    """Inflate blocks one after another; ``starts`` and ``stops`` count from byte ``base``."""
    if len(raw) < int(stops[-1]):
        raise ValueError(_damaged(name, base + len(raw), "it is shorter than before"))
    if kind == PLAIN:
        data[: int(stops[-1])] = np.frombuffer(raw, np.uint8, int(stops[-1]))
        return
    view, at = memoryview(raw), 0
    if inflate_members(view[int(starts[0]) : int(stops[-1])], data[: int(sizes.sum())]):
        return
    for a, b, size in zip(starts.tolist(), stops.tolist(), sizes.tolist(), strict=True):
        try:
            data[at : at + size] = np.frombuffer(inflate(view[a:b], GZIP, size), np.uint8)
        except ValueError as error:
            raise ValueError(_damaged(name, base + a, str(error))) from error
        at += size


def _stream(source: Source, reserve: int) -> Iterator[Text]:
    """Yield the text of a gzip file of any number of members."""
    stream, rest, place, at = codec.decompressobj(GZIP), b"", 0, 0
    begun = True
    while True:
        data = np.empty(reserve + PIECE + PADDING, np.uint8)
        filled = reserve
        while filled < reserve + PIECE:
            if not rest:
                rest = source.read(at, at + _READ)
                at += len(rest)
                if not rest:
                    break
            try:
                part = stream.decompress(rest, reserve + PIECE - filled)
            except codec.error as error:
                raise ValueError(_damaged(source.name, at, str(error))) from error
            data[filled : filled + len(part)] = np.frombuffer(part, np.uint8)
            filled += len(part)
            rest = stream.unused_data if stream.eof else stream.unconsumed_tail
            begun = not stream.eof
            if stream.eof:
                # gzip ignores zeros after the last member.
                rest = rest.lstrip(b"\0") if not begun else rest
                stream = codec.decompressobj(GZIP)
        if filled == reserve:
            break
        data[filled : filled + PADDING] = 0
        yield Text(data, reserve, filled, place, at - len(rest))
        place += filled - reserve
    if begun and at:
        raise ValueError(_damaged(source.name, at, cut=True))


def _damaged(name: str, at: int, reason: str = "", *, cut: bool = False) -> str:
    why = "it ends within a compressed block" if cut else (reason or "there is no block of bgzip")
    return f"{name} is truncated or damaged at byte {at:,}: {why}. Copy it again."
