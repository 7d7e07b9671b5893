"""Find the decompressed size of data without inflating them into memory.

A Zarr chunk of 1 MB may inflate to 30 GB. Zarr's codecs allocate the size that a chunk declares and
compare it with the array only afterwards.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PIECE = 2**20
_BLOSC_HEADER = 16
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_BLOCK = 2**17
"""Most bytes in a compressed Zstandard block (RFC 8878, section 3.1.1.2.4)."""
_RAW, _RUN, _COMPRESSED = 0, 1, 2


def inflated_size(codec: str, data: bytes, most: int) -> int | None:
    """Return the bytes that compressed data declare or inflate to; counting stops past ``most``.

    Returns None for data that the codec will refuse and for unknown codecs.
    """
    name = codec.removeprefix("numcodecs.")
    try:
        if name == "blosc":
            return int.from_bytes(data[4:8], "little")
        if name == "lz4":
            return int.from_bytes(data[:4], "little")
        if name == "zstd":
            return _zstd_size(data)
        if name in _STREAMS:
            return _counted(_STREAMS[name](data), most)
    except (zlib.error, lzma.LZMAError, EOFError, OSError, IndexError):
        return None
    return None


def is_cut(codec: str, data: bytes) -> bool:
    """Return whether Blosc would read past the end of the stored data, which it does not check."""
    if codec.removeprefix("numcodecs.") != "blosc":
        return False
    return len(data) < _BLOSC_HEADER or int.from_bytes(data[12:16], "little") > len(data)


INFLATING = ("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd")


def _counted(pieces: Iterator[bytes], most: int) -> int:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            break
    return size


def _zlib_pieces(data: bytes) -> Iterator[bytes]:
    while data:
        stream = zlib.decompressobj(wbits=47)
        while data and not stream.eof:
            yield stream.decompress(data, _PIECE)
            data = stream.unconsumed_tail
        data = stream.unused_data


def _stream_pieces(make: Callable[[], Any], data: bytes) -> Iterator[bytes]:
    while data:
        stream = make()
        yield stream.decompress(data, _PIECE)
        while not stream.eof and not stream.needs_input:
            yield stream.decompress(b"", _PIECE)
        data = stream.unused_data if stream.eof else b""


_STREAMS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "zlib": _zlib_pieces,
    "gzip": _zlib_pieces,
    "bz2": lambda data: _stream_pieces(bz2.BZ2Decompressor, data),
    "lzma": lambda data: _stream_pieces(lzma.LZMADecompressor, data),
}


def _zstd_size(data: bytes) -> int | None:
    """Return the size declared by the first frame, or the most that its blocks can hold."""
    if data[:4] != _ZSTD_MAGIC:
        return None
    descriptor = data[4]
    kind, single = descriptor >> 6, descriptor >> 5 & 1
    at = 5 + (not single) + (0, 1, 2, 4)[descriptor & 3]
    width = (1 if single else 0, 2, 4, 8)[kind]
    if width:
        return int.from_bytes(data[at : at + width], "little") + (256 if width == 2 else 0)
    size, last = 0, 0
    while not last and at + 3 <= len(data):
        header = int.from_bytes(data[at : at + 3], "little")
        last, block, length = header & 1, header >> 1 & 3, header >> 3
        size += _ZSTD_BLOCK if block == _COMPRESSED else length
        at += 3 + (1 if block == _RUN else length)
    # More frames may follow; the decoder appends them.
    more = _zstd_size(data[at:]) if last and at < len(data) else 0
    return size + (more or 0)
