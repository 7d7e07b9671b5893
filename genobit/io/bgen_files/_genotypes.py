"""Decode the genotypes of one variant of a BGEN file from its stored bytes."""

from __future__ import annotations

import struct
from typing import IO, TYPE_CHECKING

import numpy as np

from genobit.data.guards.inflation import inflated_size, is_cut
from genobit.io.bgen_files._header import Header, parse_variant
from genobit.io.inflate import ZLIB, beginning, inflate

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_HEAD = struct.Struct("<IHBB")
_MOST_BITS = 32
_WINDOW = 1024
"""Bytes that hold the labels of most variants and the first bytes of their genotypes."""
NONE, _ZLIB, _ZSTD = 0, 1, 2


class PloidyError(ValueError):
    """Calls of a variant have more than two copies."""


def stored_bytes(block: memoryview, header: Header) -> bytes | memoryview:
    """Return the inflated genotypes of a variant; raise ValueError if they are damaged."""
    if header.compression == NONE:
        return block
    if header.layout == 1:
        size = 6 * header.samples
    else:
        (size,) = struct.unpack_from("<I", block)
        block = block[4:]
    if header.compression == _ZLIB:
        return inflate(block, ZLIB, size)
    data = bytes(block)
    found = inflated_size("zstd", data, size)
    if is_cut("zstd", data) or found != size:
        msg = f"its genotypes decompress to {found} bytes, or are not whole; expected {size:,}"
        raise ValueError(msg)
    from numcodecs.zstd import decompress

    try:
        return bytes(decompress(data))
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def ploidies(path: Path, header: Header, offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the most copies of a call of each variant, from the first bytes of its genotypes."""
    if header.layout == 1:
        return np.full(offsets.size, 2, np.uint8)
    found = np.empty(offsets.size, np.uint8)
    with path.open("rb", buffering=0) as file:
        for k, offset in enumerate(offsets.tolist()):
            try:
                found[k] = _ploidy(file, offset, header)
            except (ValueError, struct.error, IndexError) as error:
                msg = f"{path}: the variant at byte {offset:,} cannot be read: {error}. "
                raise ValueError(msg + "Copy the file again.") from error
    return found


def _ploidy(file: IO[bytes], offset: int, header: Header) -> int:
    """Return the most copies of a call of the variant at an offset."""
    size = _WINDOW
    while True:
        file.seek(offset)
        data = file.read(size)
        try:
            *_, at, length = parse_variant(data, header)
        except struct.error:
            if len(data) < size:
                raise
            size *= 8
        else:
            break
    file.seek(offset + at)
    if header.compression == _ZSTD:
        return int(stored_bytes(memoryview(file.read(length)), header)[7])
    if header.compression == NONE:
        return file.read(8)[7]
    return beginning(file.read(min(length, _WINDOW))[4:], ZLIB, 8)[7]


def probabilities(
    data: bytes | memoryview, header: Header, room: NDArray[np.float32]
) -> tuple[NDArray[np.float32], bool]:
    """Return the probabilities of inflated genotypes, and whether they are phased.

    room: (4 * samples,), which holds the probabilities: (samples, 2 to 4), in the columns that
    `genobit.io.kernels.bgen` describes. Raises ValueError if the bytes are damaged.
    """
    from genobit.io.kernels.bgen_blocks import DAMAGED, shares, three_shares

    n, octets = header.samples, np.frombuffer(data, np.uint8)
    if header.layout == 1:
        three_shares(octets, room[: 3 * n])
        return room[: 3 * n].reshape(n, 3), False
    samples, alleles, _, ploidy = _HEAD.unpack_from(data)
    if samples != n or alleles != 2 or len(data) < 10 + n:
        msg = f"its genotypes have {samples:,} samples and {alleles} alleles, expected {n:,} and 2"
        raise ValueError(msg)
    phased, bits = data[8 + n], data[9 + n]
    ploidies = octets[8 : 8 + n]
    if phased > 1 or not 1 <= bits <= _MOST_BITS:
        msg = f"its genotypes state {bits} bits and phase {phased}"
        raise ValueError(msg)
    width = 2 if ploidy < 2 else 4 if phased else 3
    found = room[: width * n].reshape(n, width)
    most = shares(ploidies, octets[10 + n :], bits, phased == 1, found)
    if most > 2:
        msg = f"it has calls of ploidy {most}, and genobit reads ploidy 1 and 2"
        raise PloidyError(msg)
    if most == DAMAGED:
        msg = f"its {len(data) - 10 - n:,} bytes of probabilities do not fit its ploidies"
        raise ValueError(msg)
    return found, phased == 1
