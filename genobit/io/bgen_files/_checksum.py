"""Compare genotypes of zlib blocks with the checksum of the block, which the decoder ignores."""

from __future__ import annotations

import struct
import zlib
from typing import IO, TYPE_CHECKING, Any

from genobit.io.bgen_files._header import Header, parse_variant
from genobit.io.kernels.bgen_checksum import stored_checksum

if TYPE_CHECKING:
    from bgen.reader import BgenVar
    from numpy.typing import NDArray


class Checksums:
    """The checksums (Adler-32) of the zlib blocks of an open BGEN file.

    Checksums of diploid samples with 8 or 16 bits follow from the probabilities. Other
    blocks are decompressed once more, and so are blocks whose checksum differs. This takes as long
    as decoding.
    """

    def __init__(self, file: IO[bytes], header: Header) -> None:
        self.file, self.header = file, header
        self.sizes = [1, 2]
        """Bytes of a number; first the size that fitted last."""

    def require(self, variant: BgenVar, probabilities: NDArray[Any]) -> None:
        """Raise an error unless the genotypes of a variant have the checksum of their block."""
        end = variant.next_variant_offset
        self.file.seek(end - 4)
        stored = int.from_bytes(self.file.read(4), "big")
        if self.header.layout == 2 and probabilities.shape[1] > 2:
            for size in self.sizes:
                if stored_checksum(probabilities, size) == stored:
                    if size != self.sizes[0]:
                        self.sizes.reverse()
                    return
        self._decompress(variant.fileoffset, end)

    def _decompress(self, start: int, end: int) -> None:
        self.file.seek(start)
        data = self.file.read(end - start)
        *_, at, _ = parse_variant(data, self.header)
        size = 6 * self.header.samples
        if self.header.layout == 2:
            (size,) = struct.unpack_from("<I", data, at)
            at += 4
        # One byte more than the size, so that a longer block does not fill the memory.
        block = zlib.decompressobj()
        found = len(block.decompress(data[at:], size + 1))
        if not block.eof or found != size:
            msg = (
                f"its genotypes decompress to {found:,} bytes, or are not whole; expected {size:,}"
            )
            raise ValueError(msg)
