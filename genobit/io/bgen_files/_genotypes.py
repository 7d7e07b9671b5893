"""Inflate the genotypes of one variant of a BGEN file, and say what is wrong with them."""

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

_WINDOW = 1024
"""Bytes that hold the labels of most variants and the first bytes of their genotypes."""
NONE, _ZLIB, _ZSTD = 0, 1, 2


class PloidyError(ValueError):
    """Calls of a variant have more than two copies."""


def stored_bytes(block: bytes, header: Header) -> bytes:
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
    found = inflated_size("zstd", block, size)
    if is_cut("zstd", block) or found != size:
        msg = f"its genotypes decompress to {found} bytes, or are not whole; expected {size:,}"
        raise ValueError(msg)
    from numcodecs.zstd import decompress

    try:
        return bytes(decompress(block))
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
        return int(stored_bytes(file.read(length), header)[7])
    if header.compression == NONE:
        return file.read(8)[7]
    return beginning(file.read(min(length, _WINDOW))[4:], ZLIB, 8)[7]


def fault_of(
    data: bytes, header: Header, fault: int, sample: int, room: NDArray[np.float32]
) -> ValueError:
    """Return the error for a fault of inflated genotypes; see `genobit.io.kernels.bgen_blocks`.

    room: the probabilities, as `read_shares` filled it; ``sample`` has those that are wrong.
    """
    from genobit.io.kernels import bgen_blocks as faults

    n = header.samples
    if fault == faults.SUM:
        _, width, _ = faults.read_shares(np.frombuffer(data, np.uint8), header.layout, n, room)
        said = ", ".join(f"{x:.4g}" for x in room[width * sample : width * (sample + 1)])
        return ValueError(f"the probabilities of samples={sample} do not add up to 1: {said}")
    if fault == faults.COPIES:
        most = max(ploidy & 63 for ploidy in data[8 : 8 + n])
        return PloidyError(f"it has calls of ploidy {most}, and genobit reads ploidy 1 and 2")
    msg = f"its {len(data) - 10 - n:,} bytes of probabilities do not fit its ploidies"
    if fault == faults.OTHER:
        found, alleles = (int.from_bytes(data[at:end], "little") for at, end in ((0, 4), (4, 6)))
        msg = f"its genotypes have {found:,} samples and {alleles} alleles, expected {n:,} and 2"
    elif fault == faults.STATED:
        msg = f"its genotypes state {data[9 + n]} bits and phase {data[8 + n]}"
    return ValueError(msg)
