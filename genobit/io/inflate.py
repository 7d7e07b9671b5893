"""Inflate compressed blocks of known size, with ISA-L where it is installed, else with zlib."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np
    from numpy.typing import NDArray

codec: ModuleType
try:
    from isal import isal_zlib as codec
except ImportError:  # no wheel for this machine
    codec = zlib
# Private to isal, whose public file objects copy the data in and out.
_Members: Any = getattr(codec, "_GzipReader", None)

_SMALL = 400
"""Bytes up to which zlib takes less time: ISA-L begins a block 0.7 us later (AMD EPYC)."""
ZLIB, RAW, GZIP = 15, -15, 31
"""Values of ``wbits``: a zlib stream, raw deflate, and a member of a gzip file."""


def inflate(data: bytes | memoryview, wbits: int, size: int) -> bytes:
    """Return the ``size`` bytes that one compressed block inflates to.

    ``wbits`` is `ZLIB` or `GZIP`. Raises ValueError if the block is damaged or cut, if it
    inflates to another size, or if bytes follow it. A block that is too large is not inflated on.
    """
    stream = (zlib if size <= _SMALL else codec).decompressobj(wbits)
    try:
        # One byte more, so that a block that is too large shows.
        found = stream.decompress(data, size + 1)
    except (zlib.error, codec.error) as error:
        raise ValueError(f"compressed data are damaged: {error}") from error
    if len(found) != size:
        more = "more than" if len(found) > size else f"{len(found):,} instead of"
        raise ValueError(f"compressed data inflate to {more} {size:,} bytes")
    if not stream.eof:
        raise ValueError("compressed data end before their end mark or checksum")
    if stream.unused_data:
        raise ValueError(f"{len(stream.unused_data):,} bytes follow the compressed data")
    return found


def inflate_members(data: memoryview, out: NDArray[np.uint8]) -> bool:
    """Inflate gzip members, one after another, into ``out``; return whether they fill it.

    False says that a member is damaged, or that ISA-L is missing. The lock of Python is released
    once for all members: that of `inflate` changes hands at each block.
    """
    if _Members is None:
        return False
    try:
        reader = _Members(data, 2**16)
        # The second call reads the checksum of the last member.
        return bool(reader.readinto(out) == out.size and not reader.readinto(bytearray(1)))
    except (OSError, EOFError, codec.error):
        return False


def beginning(data: bytes | memoryview, wbits: int, size: int) -> bytes:
    """Return the first ``size`` bytes of a block, of which ``data`` is the beginning."""
    try:
        found: bytes = codec.decompressobj(wbits).decompress(data, size)
    except codec.error as error:
        raise ValueError(f"compressed data are damaged: {error}") from error
    if len(found) < size:
        raise ValueError(f"compressed data inflate to {len(found):,} instead of {size:,} bytes")
    return found
