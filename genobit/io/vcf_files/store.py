"""Write calls to a VCF Zarr store while a file is read."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec

from genobit.io.vcf_files.scan import n_threads, settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from genobit.io.vcf_files.scan import Found, Haploid, Shape

CHUNK_BYTES = 16 * 2**20
LEAST_ROWS, MOST_ROWS = 64, 2**16


def chunk_rows(shape: Shape) -> int:
    """Return the variants of a chunk: a power of two, of about 16 MB of calls."""
    rows = CHUNK_BYTES // max(shape.kept * shape.ploidy * shape.dtype.itemsize, 1)
    return 1 << (min(max(rows, LEAST_ROWS), MOST_ROWS).bit_length() - 1)


class _Chunk:
    def __init__(self, number: int, rows: int, shape: Shape) -> None:
        self.number, self.rows, self.filled, self.left = number, rows, 0, rows
        self.calls = np.empty((rows, shape.kept, shape.ploidy), shape.dtype)
        self.phased = np.empty((rows, shape.kept), np.uint8)
        self.short = False


class CallWriter:
    """Chunks of calls, written in threads as soon as they are filled."""

    def __init__(self, group: zarr.Group, shape: Shape) -> None:
        self.shape, self.rows = shape, chunk_rows(shape)
        self.pool = ThreadPoolExecutor(n_threads())
        self.running: deque[Future[None]] = deque()
        self.chunk: _Chunk | None = None
        self.free: list[_Chunk] = []
        self.n = 0
        self.short: list[int] = []
        codec = BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle")
        options = {"overwrite": True, "compressors": codec, "fill_value": 0}
        sizes = (self.rows, shape.kept, shape.ploidy)
        self.calls = group.create_array(
            "call_genotype", shape=sizes, chunks=sizes, dtype=shape.dtype,
            dimension_names=("variants", "samples", "ploidy"), **options,
        )
        self.phased = group.create_array(
            "call_genotype_phased", shape=sizes[:2], chunks=sizes[:2], dtype=bool,
            dimension_names=("variants", "samples"), **options,
        )
