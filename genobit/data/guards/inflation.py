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
_ZSTD_MAGICS = (_ZSTD_MAGIC, *(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60)))
"""Magic numbers of a frame, and of the sixteen kinds of frame without data."""
_ZSTD_BLOCK = 2**17
"""Most bytes in a compressed Zstandard block (RFC 8878, section 3.1.1.2.4)."""
_RUN, _COMPRESSED = 1, 2


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
            return _zstd_size(data)[0]
        if name in _STREAMS:
            return _counted(_STREAMS[name](data), most)
    except (zlib.error, lzma.LZMAError, EOFError, OSError, IndexError):
        return None
    return None


def is_cut(codec: str, data: bytes) -> bool:
    """Return whether a decoder would read past the end of the data, or wait there for ever.

    Blosc does not check its size. Zstandard of numcodecs does not return for some cut frames.
    """
    name = codec.removeprefix("numcodecs.")
    if name == "zstd":
        return _zstd_size(data)[1]
    if name != "blosc":
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


def _zstd_size(data: bytes) -> tuple[int | None, bool]:
    """Return the most bytes in all frames, and whether the last one is cut.

    The size is None for data that are no frame. The decoder appends the frames.
    """
    total, at = None, 0
    while at < len(data):
        start = data[at : at + 4]
        if not any(magic.startswith(start) for magic in _ZSTD_MAGICS):
            break
        if _ZSTD_MAGIC.startswith(start):
            size, end = _zstd_frame(data, at)
        else:
            size, end = 0, at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
        total = size + (total or 0)
        if end > len(data):
            return total, True
        at = end
    return total, False


def _zstd_frame(data: bytes, at: int) -> tuple[int, int]:
    """Return the size that the frame at ``at`` declares or can hold, and where it ends."""
    if at + 5 > len(data):
        return 0, at + 5
    descriptor = data[at + 4]
    kind, single, checksum = descriptor >> 6, descriptor >> 5 & 1, descriptor >> 2 & 1
    at += 5 + (not single) + (0, 1, 2, 4)[descriptor & 3]
    width = (1 if single else 0, 2, 4, 8)[kind]
    declared = int.from_bytes(data[at : at + width], "little") + (256 if width == 2 else 0)
    at += width
    size, last = 0, 0
    while not last:
        header = int.from_bytes(data[at : at + 3], "little")
        last, block, length = header & 1, header >> 1 & 3, header >> 3
        at += 3 + (1 if block == _RUN else length)
        if at > len(data):
            break
        size += _ZSTD_BLOCK if block == _COMPRESSED else length
    return declared if width else size, at + (4 if checksum else 0)
