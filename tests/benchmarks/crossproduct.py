"""M M' by the published multiplications, as Schlather (2020) tabulates them, and bit transposes."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.bits.words import transpose_bits
from genobit.engine.simd.jit import njit
from genobit.grm.kernels.crossproducts import KERNELS, check_kernel, crossproduct

from .measure import Row, median, one_thread, rates, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

GIGA = 1e9
PAPER_SPEEDUP = 48
"""Times as fast as R's crossprod, one core: Schlather 2020, the AVX2 shuffle on an i7-8550U."""
PAPER_SECONDS = 7
"""Of the same for 1,000 samples x 500,000 variants."""


@njit
def _crossprod(m: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """M M' as R's crossprod does it with the BLAS that comes with R: a sum of products a pair."""
    for i in range(m.shape[0]):
        for j in range(i, m.shape[0]):
            total = 0.0
            for k in range(m.shape[1]):
                total += m[i, k] * m[j, k]
            out[i, j] = out[j, i] = total


def _dosages(samples: int, variants: int) -> NDArray[np.int8]:
    generator = np.random.default_rng(0)
    return generator.integers(0, 3, (samples, variants), dtype=np.int8)


def _rows(dosages: NDArray[np.int8]) -> PlaneRows:
    """Planes of samples, without a missing call."""
    words = -(-dosages.shape[1] // 64)
    planes = []
    for bits in (dosages >= 1, dosages == 2):
        octets = np.zeros((len(bits), 8 * words), np.uint8)
        packed = np.packbits(bits, axis=1, bitorder="little")
        octets[:, : packed.shape[1]] = packed
        planes.append(octets.view(np.uint64))
    return PlaneRows(False, dosages.shape[1], (planes[0], planes[1]), None)


def _kernels() -> Iterator[str]:
    for kernel in (*KERNELS, "auto"):
        try:
            check_kernel(kernel)
        except ValueError:
            continue
        yield kernel


def multiplications(*, quick: bool) -> Iterator[Row]:
    """Each multiplication against float64, without BLAS and with it, from planes to M M'."""
    samples, variants = (400, 8000) if quick else (1000, 20_000)
    dosages = _dosages(samples, variants)
    rows, m = _rows(dosages), dosages.astype(np.float64)
    few = m[: samples // 5].copy()
    out = np.empty((len(few), len(few)))

    def work(n: int) -> float:
        return n * (n + 1) / 2 * variants

    calls: dict[str, Any] = {
        k: (lambda k=k: crossproduct(k, rows), work(samples)) for k in _kernels()
    }
    calls["BLAS"] = (lambda: m @ m.T, work(samples))
    calls["loops"] = (lambda: _crossprod(few, out), work(len(few)))
    with one_thread():
        found = rates(calls, 3 if quick else 5)
    own = {name: work(samples) / statistics.median(rate) for name, rate in found.items()}
    for kernel in _kernels():
        what = f'crossproduct("{kernel}"), {samples:,} x {variants:,}'
        for name, peer in (
            ("loops", "float64 without BLAS, R's crossprod"),
            ("BLAS", "float64 BLAS, numpy M @ M.T"),
        ):
            at = f"{peer} ({own[name]:.2f} s)"
            yield Row("multiply", what, own[kernel], "s", at, ratio(found[kernel], found[name]))
    best = "shuffle" if "shuffle" in own else "packed"
    gain = ratio(found[best], found["loops"])
    at = f"the 2020 paper's {PAPER_SPEEDUP} times R's crossprod, AVX2 shuffle, one core of its time"
    yield Row("paper", f"{best} over float64 without BLAS", gain, "times", at, gain / PAPER_SPEEDUP)
    if not quick:
        yield from _paper_size(best)


def _paper_size(published: str) -> Iterator[Row]:
    """1,000 samples x 500,000 variants, as in the paper."""
    rows = _rows(_dosages(1000, 500_000))
    for kernel in (published, "auto"):
        taken = median(lambda kernel=kernel: crossproduct(kernel, rows), 3)
        what = f'crossproduct("{kernel}"), 1,000 x 500,000'
        at = f"the 2020 paper's {PAPER_SECONDS} s, AVX2 shuffle, one core of its time"
        yield Row("paper", what, taken, "s", at, PAPER_SECONDS / taken)


def transposes(*, quick: bool) -> Iterator[Row]:
    """Bit transposes against a memory copy of the same bytes; both return a new array."""
    generator = np.random.default_rng(0)
    for n, bits in ((2048, 1000), (10_000, 10_000), (64, 500_000)):
        words = generator.integers(0, 2**64, (n, -(-bits // 64)), dtype=np.uint64)
        calls: dict[str, Any] = {
            "copy": (words.copy, words.nbytes),
            "transpose": (lambda words=words, bits=bits: transpose_bits(words, bits), words.nbytes),
        }
        found = rates(calls, 11 if quick else 31)
        rate, copied = (statistics.median(found[name]) / GIGA for name in ("transpose", "copy"))
        what = f"bit transpose, {n:,} x {bits:,}"
        at = f"a memory copy ({copied:.1f} GB/s)"
        share = ratio(found["transpose"], found["copy"])
        yield Row("packing", what, rate, "GB/s", at, share, 0.3)
