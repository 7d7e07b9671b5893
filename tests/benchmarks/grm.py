"""Relationship matrices: the product of the paper's size, and files to finished matrices."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import numpy as np

import genobit as gb
from genobit.engine.bits.planes import PlaneRows
from genobit.engine.gemm import weighted
from genobit.engine.gemm.dequantise import dequantised
from genobit.engine.gemm.products import products
from genobit.engine.schedule.by_samples import variant_chunk

from .filesets import lose_calls, random_bed
from .measure import Row, command, median, one_thread, rates, ratio, seconds
from .published import Peer, popcount_limit, published

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

GIGA = 1e9
SAMPLES = 1000
MIRACULIX = 2.66
"""Seconds there of miraculix's 2-bit AVX2 kernel: M M' of 1,000 samples x 500,000 variants."""
PLINK2 = 10.1
"""Seconds there of plink2's --make-rel, built for AVX2 in 2026, from the file of that size."""


def _planes(variants: int, missing: float = 0.0) -> PlaneRows:
    """Random dosages of the samples, packed."""
    generator = np.random.default_rng(0)
    words = -(-variants // 64)
    draw = [generator.integers(0, 2**64, (SAMPLES, words), dtype=np.uint64) for _ in range(2)]
    called = np.full((SAMPLES, words), ~np.uint64(0))
    for _ in range(7 if missing else 0):
        # Seven draws in a row leave one bit in 128.
        called &= generator.integers(0, 2**64, called.shape, dtype=np.uint64)
    called = ~called if missing else called
    called[:, -1] &= np.uint64((1 << (variants % 64 or 64)) - 1)
    carrier = draw[0] & called
    planes = carrier, carrier & draw[1]
    return PlaneRows(
        haplotypes=False, bits=variants, planes=planes, called=called if missing else None
    )


def _chunks(rows: PlaneRows) -> list[PlaneRows]:
    """Rows cut into chunks of variants, as the package holds them."""
    words = variant_chunk(SAMPLES) // 64
    parts = []
    for start in range(0, rows.planes[0].shape[1], words):
        cut = slice(start, start + words)
        planes = tuple(np.ascontiguousarray(plane[:, cut]) for plane in rows.planes)
        bits = min(64 * words, rows.bits - 64 * start)
        parts.append(PlaneRows(haplotypes=False, bits=bits, planes=planes, called=None))
    return parts


def _count(chunks: list[PlaneRows], out: NDArray[np.int32]) -> None:
    for rows in chunks:
        for block in products("ternary", rows.ternary(), upper=True):
            out[block.rows, block.columns] += block.counts


def _dosages(rows: PlaneRows, dtype: Any) -> NDArray[Any]:
    values = np.tile(np.array([0, 0, 1, 2], np.float32), (rows.bits, 1))
    return dequantised(rows, values).astype(dtype, copy=False)


def crossproducts(*, quick: bool) -> Iterator[Row]:
    """M M' of packed planes, against BLAS on a matrix of floats, and published figures."""
    variants = 50_000 if quick else 500_000
    rows = _planes(variants)
    chunks, out = _chunks(rows), np.zeros((SAMPLES, SAMPLES), np.int32)
    work = SAMPLES * (SAMPLES + 1) / 2 * variants
    for dtype, wanted in ((np.float32, 9), (np.float64, 18)):
        matrix = _dosages(rows, dtype)
        calls = {
            "ours": (lambda: _count(chunks, out), work),
            "blas": (lambda m=matrix: m @ m.T, work),
        }
        with one_thread():
            found = rates(calls, 3)
        seconds = work / statistics.median(found["blas"])
        what = f"M M' of planes, {SAMPLES:,} samples x {variants:,} variants"
        ours = work / statistics.median(found["ours"])
        at = f"numpy {np.dtype(dtype).name} BLAS, dequantised before ({seconds:.2f} s)"
        yield Row("grm", what, ours, "s", at, ratio(found["ours"], found["blas"]), wanted)
        del matrix, calls
    if not quick:
        limit = popcount_limit()
        peer = Peer("miraculix, 2-bit kernel", MIRACULIX, "s")
        yield from published("grm", what, ours, limit, peer, 5)


def weights(*, quick: bool) -> Iterator[Row]:
    """Sums with a weight for each variant, one call in 128 missing: ways to do them."""
    variants = 4_096 if quick else 32_768
    rows = _planes(variants, missing=1 / 128)
    values = np.zeros((variants, 4), np.float32)
    values[:, 1:] = np.random.default_rng(0).normal(size=(variants, 3))
    out, slices = np.zeros((SAMPLES, SAMPLES)), np.zeros((SAMPLES, SAMPLES), np.int32)

    def by_blas() -> None:
        for start in range(0, variants, 2048):
            block = dequantised(rows, values[start : start + 2048], first=start // 64)
            np.add(out, block @ block.T, out=out)

    work = SAMPLES * (SAMPLES + 1) / 2 * variants
    calls = {
        "tables of sums": (lambda: weighted.add_products(rows, None, values, out), work),
        "dequantised blocks through BLAS": (by_blas, work),
        "one slice of bit-sliced weights": (lambda: _count([rows], slices), work),
    }
    with one_thread():
        found = rates(calls, 5)
    for name, measured in found.items():
        rate = statistics.median(measured) / GIGA
        share = ratio(measured, found["dequantised blocks through BLAS"])
        what = f"weighted products, {SAMPLES:,} x {variants:,}, {name}"
        yield Row("grm", what, rate, "G products/s", "dequantised blocks through BLAS", share)


def relationships(*, quick: bool) -> Iterator[Row]:
    """From the .bed file to the finished matrix in memory, against plink2."""
    limit = popcount_limit()
    for variants in (20_000,) if quick else (50_000, 500_000):
        with tempfile.TemporaryDirectory() as folder, one_thread():
            prefix = random_bed(Path(folder), variants, SAMPLES)
            for method, calls in (("vanraden1", "no call missing"), ("gcta", "1% missing")):
                if method == "gcta":
                    lose_calls(prefix.with_suffix(".bed"))

                def run(method: str = method, prefix: Path = prefix) -> None:
                    gb.open_plink(prefix).genobit.grm(method, compute=True)

                with dask.config.set(scheduler="synchronous"):
                    ours = median(run, 3)
                what = f'open_plink -> grm("{method}"), {SAMPLES:,} x {variants:,}, {calls}'
                if variants == 500_000 and method == "vanraden1":
                    peer = Peer("plink2 --make-rel", PLINK2, "s")
                    yield from published("grm", what, ours, limit, peer, 12)
                yield from _plink2(what, ours, prefix, 12 if method == "vanraden1" else 2)


def _plink2(what: str, ours: float, prefix: Path, wanted: float) -> Iterator[Row]:
    program = shutil.which("plink2")
    if program is None:
        return
    options = ("--threads", 1, "--memory", 4000, "--out", prefix)
    theirs = seconds(command(program, "--bfile", prefix, "--make-rel", "square", "bin4", *options))
    at = f"the plink2 that is installed, --make-rel square bin4 ({theirs:.2f} s)"
    yield Row("grm", what, ours, "s", at, theirs / ours, wanted)
